"""
Noise that varies twentyfold
============================

The first thing to try: a table whose noise is twenty times as large at one end as at the other. One fit gives a mean
and a standard deviation per row; the intervals must be narrow where the noise is small and wide where it is large.
"""

import matplotlib.pyplot as plt
import numpy as np

from heteroscope import HeteroskedasticRegressorCV

random = np.random.default_rng(0)


def draw(n_rows):
    """Return inputs, targets and the true standard deviation of the noise."""
    x = random.uniform(-1, 1, n_rows)
    noise = 0.05 * 20 ** ((x + 1) / 2)
    return x[:, np.newaxis], np.sin(4 * x) + noise * random.normal(size=n_rows), noise


x, y, _ = draw(500)
x_new, y_new, noise = draw(2000)

# %%
# Fit. The search tries points from strong to weak regularisation by cross-validation and keeps the best.
# Fewer members and steps than the defaults keep this page quick.

model = HeteroskedasticRegressorCV(max_steps=1000, n_members=2, random_state=0)
model.fit(x, y)
print(model.diagnose())

# %%
# Do the intervals hold, where the noise is small as well as where it is large?

lower, upper = model.predict_interval(x_new, coverage=0.9)
inside = (lower <= y_new) & (y_new <= upper)
for quarter, rows in enumerate(np.array_split(np.argsort(noise), 4), start=1):
    print(f"quarter {quarter} of the noise: {inside[rows].mean():.0%} of 90 % intervals hold")

# %%
# The fit beside the truth.

order = np.argsort(x_new[:, 0])
mean, std = (values[order] for values in model.predict(x_new, return_std=True))
line = x_new[order, 0]
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
axes[0].plot(x[:, 0], y, ".", color="0.6", markersize=3, label="training rows")
axes[0].plot(line, mean, color="#0072b2", label="mean")
axes[0].fill_between(line, mean - 1.645 * std, mean + 1.645 * std, color="#0072b2", alpha=0.2, label="90 % interval")
axes[0].set(xlabel="$x$", ylabel="$y$")
axes[1].semilogy(line, std, color="#0072b2", label="predicted std")
axes[1].semilogy(line, noise[order], "--", color="0.2", label="true std")
axes[1].set(xlabel="$x$", ylabel="standard deviation")
for ax in axes:
    ax.legend(frameon=False)
plt.show()
