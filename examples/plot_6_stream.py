"""
Data larger than memory
=======================

A stream is a table on disk: Parquet, ``.npy``, Zarr or NetCDF. Only a window of rows is in memory, all points of the
search train together on each batch, and a killed run resumes from its folder.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from heteroscope import HeteroskedasticRegressorCV
from heteroscope.data import open_stream

random = np.random.default_rng(0)
work = tempfile.TemporaryDirectory()
folder = Path(work.name)
for number in range(4):  # four files that stand for four thousand
    x = random.normal(size=(5000, 3))
    y = np.sin(x[:, 0]) + 0.1 * np.exp(x[:, 1]) * random.normal(size=5000)
    pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y}).to_parquet(folder / f"part-{number}.parquet")

stream = open_stream(folder, target="y")
print(f"{stream.n_rows} rows, features {stream.feature_names}")

# %%
# Fit. With ``store``, the state of all models is written as training goes on.

model = HeteroskedasticRegressorCV(
    n_coarse=6, n_fine=0, n_members=1, hidden=(32, 32), max_steps=stream.steps(epochs=10), random_state=0
)
model.fit(stream, store=folder / "run")
print(model.diagnose())

# %%
# Does the std follow the noise, 0.1 exp(b)?

rows = random.normal(size=(500, 3))
_, std = model.predict(pd.DataFrame(rows, columns=["a", "b", "c"]), return_std=True)
figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
true_std = 0.1 * np.exp(rows[:, 1])
ax.loglog(true_std, std, ".", color="#0072b2")
ax.loglog([0.01, 2], [0.01, 2], "--", color="0.3")
ax.set(xlabel="true std", ylabel="predicted std")
plt.show()
work.cleanup()
