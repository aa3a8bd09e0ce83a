"""
Judge forecasts of another library
==================================

Is a predicted std real, or does it retrace the residuals of the training rows? ``heteroscope.diagnose`` tells, for
forecasts of any model: here for quantiles of boosted trees, and for a std that was fitted to training residuals.
"""

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor

from heteroscope import diagnose
from heteroscope.plots.explanations import calibration_figure, residual_figure

random = np.random.default_rng(0)


def draw(n_rows):
    """Return inputs and targets; the noise grows fourfold with the second input."""
    x = random.uniform(0, 1, (n_rows, 2))
    return x, np.sin(6 * x[:, 0]) + 0.1 * 4 ** x[:, 1] * random.normal(size=n_rows)


(x, y), (x_new, y_new) = draw(500), draw(500)

# %%
# Quantiles: one model for each. They hold on the whole, but too few rows where the intervals are narrowest.

levels = (0.05, 0.5, 0.95)
trees = {
    level: GradientBoostingRegressor(loss="quantile", alpha=level, max_depth=3, min_samples_leaf=20).fit(x, y)
    for level in levels
}
quantiles = diagnose(y_new, quantiles={level: tree.predict(x_new) for level, tree in trees.items()})
print(quantiles)

# %%
# A mean, and a second model fitted to the squared residuals of the rows that the mean was trained on. On those rows its
# std looks right; on new rows it is too small. With the forecasts of the training rows, the diagnosis says why.

mean = GradientBoostingRegressor(max_depth=6, random_state=0).fit(x, y)
square = GradientBoostingRegressor(max_depth=6, random_state=0).fit(x, (y - mean.predict(x)) ** 2)


def forecast(x):
    """Return mean and std."""
    return {"mean": mean.predict(x), "std": np.sqrt(np.maximum(square.predict(x), 1e-4))}


found = diagnose(y_new, **forecast(x_new), train={"y": y, **forecast(x)})
print(found)

# %%
# The evidence as figures; ``found.report("forecasts.html")`` writes all of it as a page.

figure = calibration_figure(found.explanation.calibration)

# %%
# Residuals of new rows beside the std that was predicted for them: far more than one in twenty lies outside the wedges.

figure = residual_figure(found.explanation.rows, "y")
