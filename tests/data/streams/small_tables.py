"""A small table with a known distribution, and its files."""

from typing import NamedTuple

import numpy as np
import pandas as pd

N_ROWS = 3000
NAMES = ("left", "middle", "right")


class Table(NamedTuple):
    x: np.ndarray
    y: np.ndarray


def make_table(n_rows=N_ROWS, seed=0):
    """Inputs far from zero and from each other's scale; noise that grows with the first."""
    random = np.random.default_rng(seed)
    latent = random.normal(size=(n_rows, 3))
    std = 0.3 * np.exp(0.5 * latent[:, 0])
    y = 500.0 + 20.0 * (np.sin(latent[:, 0]) + latent[:, 1] + std * random.normal(size=n_rows))
    x = latent * [1.0, 1e-3, 1e3] + [0.0, 5.0, 1e5]
    return Table(x.astype(np.float32), y.astype(np.float32))


def write_npy(folder, table):
    folder.mkdir(exist_ok=True)
    np.save(folder / "x.npy", table.x)
    np.save(folder / "y.npy", table.y)
    return folder / "x.npy", folder / "y.npy"


def as_frame(table):
    return pd.DataFrame(table.x, columns=list(NAMES)).assign(y=table.y)
