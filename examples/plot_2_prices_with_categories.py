"""
A price table with categories
=============================

Tables have text in them. ``TableEncoder`` turns columns into features, remembers how, and goes with the model into one
folder, so that ``heteroscope predict`` and ``load_model`` take the original columns.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from heteroscope import HeteroskedasticRegressorCV, save_model
from heteroscope.data import TableEncoder

random = np.random.default_rng(0)
districts = {"harbour": (1.5, 0.30), "old town": (1.2, 0.20), "hill": (1.0, 0.08), "fields": (0.7, 0.05)}


def draw(n_rows):
    """Return flats with their prices; the harbour is dear, and nobody knows how dear."""
    district = random.choice(list(districts), n_rows)
    area = random.uniform(25, 140, n_rows).round()
    level, noise = np.array([districts[name] for name in district]).T
    price = 4.0 * area * level * (1 + noise * random.normal(size=n_rows))
    return pd.DataFrame({"district": district, "area": area, "lift": random.random(n_rows) < 0.5, "price": price})


flats, new_flats = draw(600), draw(400)
print(flats.head())

# %%
# Encode the columns and fit. The notes say what became of each text column.

encoder = TableEncoder.fit(flats, target="price", missing="refuse", unknown="refuse")
print(encoder.feature_names, encoder.notes)
model = HeteroskedasticRegressorCV(max_steps=1000, n_members=2, random_state=0)
model.fit(encoder.features(flats), encoder.targets(flats))

# %%
# The predicted uncertainty differs by district, as it should.

mean, std = model.predict(encoder.features(new_flats), return_std=True)
print(
    new_flats.assign(mean=mean, std=std, share=std / mean).groupby("district")[["mean", "std", "share"]].mean().round(2)
)

# %%
# Save the model with its encoder. The folder holds numbers and JSON: loading it runs no code.

with tempfile.TemporaryDirectory() as folder:
    save_model(model, Path(folder) / "prices", encoder)
    print(sorted(path.name for path in (Path(folder) / "prices").iterdir()))

# %%
# Price against area, with 90 % intervals of some new flats.

lower, upper = model.predict_interval(encoder.features(new_flats), coverage=0.9)
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, colour in zip(districts, ("#d55e00", "#e69f00", "#009e73", "#0072b2"), strict=True):
    rows = np.flatnonzero(new_flats["district"] == name)[:25]
    ax.errorbar(
        new_flats["area"].iloc[rows],
        mean[rows],
        yerr=(mean[rows] - lower[rows], upper[rows] - mean[rows]),
        fmt="o",
        markersize=4,
        color=colour,
        alpha=0.8,
        label=name,
    )
ax.set(xlabel="area in square metres", ylabel="price in thousands")
ax.legend(title="district", frameon=False)
plt.show()
