"""Phase diagrams without training: closed formulas that pass through all five phases, in the shape of the real ones."""

import numpy as np
import xarray as xr

from heteroscope.core.grids import NETWORK_GRID
from heteroscope.core.status import Status
from heteroscope.datasets.simulated import PROCESSES
from heteroscope.diagrams.dataset import CELL, SCORES, score

EVIL = "<script>alert(1)</script>"
COARSE = NETWORK_GRID[[0, 4, 8, 10, 12, 14, 16, 18, 19, 20, 21]]


def line_data(n_rows, random):
    """The sine process at sorted points, scaled by hand: y, its true mean and std."""
    x = np.sort(random.uniform(0, 1, n_rows))
    process = PROCESSES["sine"]
    mean, std = process.mean(x) / 2.0, process.noise(x) / 2.0
    return x[:, None], mean + std * random.normal(size=n_rows), mean, std


def table_data(n_rows, random, n_features):
    x = random.normal(size=(n_rows, n_features))
    mean = 0.8 * np.tanh(x[:, 0]) + 0.3 * x[:, 1 % n_features]
    std = 0.25 * np.exp(0.5 * x[:, -1])
    return x, mean + std * random.normal(size=n_rows), mean, std


def network_diagram(
    grid=COARSE, n_seeds=2, n_rows=48, n_features=1, names=None, target="y", with_test=True, scale=10.0, centre=35.0
):
    """What `phase_diagram` returns, with a mean and a std that go from flat over honest to memorised over the grid."""
    random = np.random.default_rng(0)
    splits = ["train", "test"] if with_test else ["train"]
    draws = {
        split: line_data(n_rows, random) if n_features == 1 else table_data(n_rows, random, n_features)
        for split in splits
    }
    y = {split: draw[1] for split, draw in draws.items()}
    shape = (len(grid), len(grid), n_seeds)
    cells = {name: np.full((*shape, len(splits)), np.nan) for name in SCORES}
    cells |= {
        name: np.full(shape, np.nan)
        for name in ("mean_spread", "log_precision_spread", "objective", "relative_gradient")
    }
    phase, status = np.full(shape, "", "<U7"), np.full(shape, "", "<U12")
    mean = np.full((*shape, n_rows * len(splits)), np.nan, np.float32)
    std = mean.copy()
    for i, j, seed in np.ndindex(shape):
        means, stds, runaway = _model(draws, grid[i], grid[j], np.random.default_rng([i, j, seed]))
        status[i, j, seed] = Status.RUNAWAY if runaway else Status.CONVERGED
        for name, value in score(y, means, stds, Status(status[i, j, seed])).items():
            (phase if name == "phase" else cells[name])[i, j, seed] = value
        follow = 1 - np.var(y["train"] - means["train"]) / np.var(y["train"])
        cells["mean_energy"][i, j, seed] = 1e-9 + 40 * max(follow, 0) ** 2
        cells["precision_energy"][i, j, seed] = 1e-9 + np.var(1 / stds["train"] ** 2)
        cells["objective"][i, j, seed] = cells["nll"][i, j, seed, 0]
        cells["relative_gradient"][i, j, seed] = 1e-4
        mean[i, j, seed] = np.concatenate(list(means.values()))
        std[i, j, seed] = np.concatenate(list(stds.values()))
    return xr.Dataset(
        {
            **{name: ((*CELL, "split") if values.ndim == 4 else CELL, values) for name, values in cells.items()},
            "steps": (CELL, np.full(shape, 4000)),
            "status": (CELL, status),
            "phase": (CELL, phase),
            "mean": ((*CELL, "row"), mean),
            "std": ((*CELL, "row"), std),
            "x": (("row", "feature"), np.concatenate([draw[0] for draw in draws.values()])),
            "y": ("row", np.concatenate(list(y.values()))),
            "row_split": ("row", np.repeat(splits, n_rows)),
        },
        coords={
            "rho": grid,
            "gamma": grid,
            "seed": np.arange(n_seeds),
            "split": splits,
            "feature": names or [f"column {k}" for k in range(n_features)],
        },
        attrs={
            "source": "networks",
            "data_set": "made up",
            "target": target,
            "target_centre": centre,
            "target_scale": scale,
            "hidden": "128,128,128",
            "activation": "leaky_relu",
            "start": "he",
            "max_steps": 4000,
            "heteroscope": "0.1.0",
        },
    )


def _model(draws, rho, gamma, random):
    """Mean and std by split: shares of the truth that rise as a penalty falls, and later of the training noise."""
    alpha, beta = gamma * (1 - rho) / rho, (1 - gamma) * (1 - rho) / rho
    wobble = np.exp(0.4 * random.normal(size=2))
    follow, memorise = _share(alpha * wobble[0], 3e-2), _share(alpha * wobble[1], 3e-5)
    spread, retrace = _share(beta * wobble[0], 3e-1), _share(beta * wobble[1], 1e-3)
    noise = draws["train"][1] - draws["train"][2]
    means, stds = {}, {}
    for split, (_, y, truth, std) in draws.items():
        own = noise if split == "train" else np.roll(noise, 3)  # elsewhere the memorised noise is just noise
        means[split] = follow * truth + memorise * own * (1 - 1e-3 * random.normal(size=len(y)))
        left = (1 - follow) ** 2 * np.var(truth) + std**2 * (1 - memorise) ** 2 + 1e-8
        honest = spread * 0.5 * np.log(left) + (1 - spread) * 0.5 * np.log(np.mean(left))
        residual = np.abs(own - memorise * own + (1 - follow) * truth) + 1e-3
        stds[split] = np.exp((1 - retrace) * honest + retrace * np.log(residual))
    return means, stds, bool(memorise > 0.9 and beta < 1e-3)


def _share(penalty, scale):
    return 1 / (1 + (penalty / scale) ** 1.5)


def with_columns(diagram, names):
    """The same diagram as if its rows had these columns."""
    rows = np.random.default_rng(0).normal(size=(diagram.sizes["row"], len(names)))
    return diagram.drop_dims("feature").assign(x=(("row", "feature"), rows)).assign_coords(feature=names)


def unfinished(diagram):
    """Half of a sweep, with one cell that overflowed."""
    diagram = diagram.copy(deep=True)
    later = np.arange(diagram.sizes["rho"]) >= 6
    for name, variable in diagram.data_vars.items():
        if "rho" in variable.dims and name != "steps":
            variable.values[later] = variable.values[2, 2] = "" if variable.dtype.kind == "U" else np.nan
    diagram["status"][2, 2] = "not finite"
    diagram["phase"][2, 2] = "O_I"
    return diagram


def large_diagram(n_rows=256):
    """22 x 22 cells of 6 seeds with `n_rows` kept rows a split: the paper's size, filled with noise."""
    random = np.random.default_rng(0)
    small = network_diagram(grid=NETWORK_GRID[[0, 21]], n_seeds=6, n_rows=n_rows)
    big = small.reindex(rho=NETWORK_GRID, gamma=NETWORK_GRID, method="nearest")
    for name in ("mean", "std"):
        big[name] = big[name].dims, np.exp(random.normal(size=big[name].shape)).astype(np.float32)
    return big
