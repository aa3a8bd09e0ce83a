"""
Compare with NGBoost and CatBoost
=================================

Any two methods, the same splits, proper scores, paired differences with their standard errors. Methods are names, or
estimators of your own. The comparison resumes when it is interrupted.
"""

import tempfile

import matplotlib.pyplot as plt

from heteroscope.comparison import compare, summary

methods = ["ours", "ngboost", "catboost"]
settings = {"max_steps": 500, "n_members": 2}  # of ours: fewer than the defaults
with tempfile.TemporaryDirectory() as folder:
    records = compare("yacht", methods, settings=settings, n_splits=3, out=folder)
table = summary(records)
print(table[["nll", "crps", "rmse", "interval_coverage", "nll_difference", "nll_se"]].round(2))

# %%
# Three splits are too few to believe in; the README's table has up to twenty. The differences are paired by split.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
for ax, score in zip(axes, ("nll", "crps"), strict=True):
    for position, (method, rows) in enumerate(records.groupby("method", sort=False)):
        ax.plot(rows[score], [position] * len(rows), "o", label=method)
    ax.set(xlabel=f"test {score.upper()}, one dot per split (lower is better)", yticks=range(len(methods)))
    ax.set_yticklabels(methods if ax is axes[0] else [])
plt.show()
