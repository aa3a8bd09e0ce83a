"""
In a scikit-learn pipeline
==========================

The estimators follow scikit-learn's conventions: they can be cloned, pickled, put into pipelines and scored by
cross-validation, here with the negative log likelihood instead of an error of the mean alone.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer

from heteroscope import HeteroskedasticRegressor, metrics

x, y = load_diabetes(return_X_y=True)
model = make_pipeline(
    PowerTransformer(), HeteroskedasticRegressor(rho=0.9, gamma=0.1, max_steps=800, held_out=0, random_state=0)
)
scores = cross_val_score(model, x, y, cv=4, scoring=metrics.neg_nll_scorer)
print(f"NLL by fold: {-scores.round(2)}")

# %%
# Predictions of rows that the models did not train on.

mean = cross_val_predict(model, x, y, cv=4)
figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.plot(mean, y, ".", color="#0072b2")
ends = [y.min(), y.max()]
ax.plot(ends, ends, "--", color="0.3")
ax.set(xlabel="predicted progression", ylabel="measured progression")
plt.show()
print(f"correlation {np.corrcoef(mean, y)[0, 1]:.2f}")
