"""Diagrams made up from formulas: every cell's phase, status and scores are known, and no model is trained."""

from collections.abc import Callable

import numpy as np
import pytest
import xarray as xr
from matplotlib.text import Text
from scipy.special import expit, logit

from heteroscope.core.status import Status
from heteroscope.phases.labels import Phase
from heteroscope.plots.cells import edges

Maker = Callable[..., xr.Dataset]
CELL = ("rho", "gamma", "seed")
FLAT, MEMORISED, ENDLESS = -2.0, -7.0, -10.0  # log penalties between which a network does as it should


def network_diagram(
    rhos=(1e-6, 1e-4, 1e-2, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999),
    gammas=(1e-6, 1e-4, 1e-2, 0.1, 0.5, 0.9, 0.99, 0.9999),
    n_seeds=3,
    n_rows=40,
    n_features=1,
    splits=("train", "test"),
    jitter=0.7,
    name="made up",
):
    """Networks whose mean stirs below one penalty and memorises below another, and their std likewise."""
    rng = np.random.default_rng(0)
    rho, gamma = np.asarray(rhos, float), np.asarray(gammas, float)
    shape = (len(rho), len(gamma), n_seeds)
    log_alpha = (np.log(gamma)[None, :] - logit(rho)[:, None])[..., None] + jitter * rng.normal(size=n_seeds)
    log_beta = (np.log1p(-gamma)[None, :] - logit(rho)[:, None])[..., None] + jitter * rng.normal(size=n_seeds)
    fit, memory = expit(2 * (FLAT - log_alpha)), expit(2 * (MEMORISED - log_alpha))
    std_fit, std_memory = expit(2 * (FLAT - log_beta)), expit(2 * (MEMORISED - log_beta))

    x = rng.uniform(-2, 3, size=(n_rows, n_features))
    true_mean, true_std = np.sin(2 * x[:, 0]), 0.15 + 0.3 * expit(3 * x[:, -1])
    y = true_mean + true_std * rng.normal(size=n_rows)
    row_split = np.array([splits[k % len(splits)] for k in range(n_rows)])
    known = np.where(row_split == "train", y - true_mean, 0.3 * rng.normal(size=n_rows))
    mean = fit[..., None] * true_mean + memory[..., None] * known
    residual = np.abs(y - mean) + 1e-4
    log_std = (1 - std_fit[..., None]) * 0.0 + std_fit[..., None] * np.log(true_std)
    log_std = log_std + std_memory[..., None] * (np.where(row_split == "train", np.log(residual), log_std) - log_std)
    std = np.exp(log_std - 6 * memory[..., None])

    status = np.where(log_alpha < ENDLESS, Status.RUNAWAY, np.where(fit > 0.9, Status.OUT_OF_STEPS, Status.CONVERGED))
    noise = np.exp(0.1 * rng.normal(size=(*shape, len(splits))))
    held_out = np.array([split == "test" for split in splits], float)
    mean_mse = (1 - 0.7 * fit[..., None] + memory[..., None] * (1.2 * held_out - 0.29)) * noise
    squared_score = np.exp(12 * memory[..., None] * held_out) * noise
    scores = {
        "mean_mse": mean_mse,
        "std_mse": mean_mse * (0.4 - 0.2 * std_fit[..., None] + std_memory[..., None] * (0.5 * held_out - 0.19)),
        "ece": 0.02 + 0.2 * memory[..., None] * noise,
        "nll": squared_score / 2 - 6 * memory[..., None] + 0.9 - 0.6 * fit[..., None],
        "crps": 0.5 * np.sqrt(mean_mse),
        "squared_score": squared_score,
        "mean_energy": 1e-8 + np.exp(12 * memory[..., None]) * fit[..., None] * noise**8,
        "precision_energy": np.exp(-log_beta[..., None]) * noise**8,
    }
    return xr.Dataset(
        {score: ((*CELL, "split"), values) for score, values in scores.items()}
        | {
            "mean_spread": (CELL, fit),
            "log_precision_spread": (CELL, std_fit),
            "status": (CELL, status.astype(str)),
            "phase": (CELL, _phases(log_alpha, log_beta)),
            "objective": (CELL, -log_alpha),
            "relative_gradient": (CELL, np.full(shape, 1e-6)),
            "steps": (CELL, np.full(shape, 1000)),
            "mean": ((*CELL, "row"), mean.astype("float32")),
            "std": ((*CELL, "row"), std.astype("float32")),
            "y": ("row", y),
            "row_split": ("row", row_split),
            "x": (("row", "feature"), x),
        },
        coords={
            "rho": rho,
            "gamma": gamma,
            "seed": np.arange(n_seeds),
            "split": list(splits),
            "feature": [f"x{k}" for k in range(n_features)],
        },
        attrs={"source": "networks", "data_set": name, "target": "y", "target_centre": 0.0, "target_scale": 1.0},
    )


def _phases(log_alpha, log_beta):
    return np.select(
        [
            (log_alpha > FLAT) & (log_beta > FLAT),
            log_alpha < MEMORISED,
            log_beta < MEMORISED,
            log_alpha > FLAT,
        ],
        [Phase.U_I, Phase.O_I, Phase.O_II, Phase.U_II],
        Phase.S,
    ).astype("<U4")


def theory_diagram(**options):
    """The same as one draw of a field theory: a runaway holds no number, and the fold is where they begin."""
    diagram = network_diagram(n_seeds=1, jitter=0.0, **options)
    runaway = diagram.status == Status.RUNAWAY
    for name in ("mean_mse", "std_mse", "nll", "mean_energy", "precision_energy", "mean", "std"):
        diagram[name] = diagram[name].where(~runaway)
    diagram["fold_rho"] = ("fold_gamma", expit(np.log(diagram.gamma.values) - ENDLESS))
    diagram = diagram.assign_coords(fold_gamma=diagram.gamma.values)
    diagram.attrs["source"] = "field theory"
    return diagram.drop_vars("steps")


@pytest.fixture(scope="session")
def networks() -> Maker:
    return network_diagram


@pytest.fixture(scope="session")
def theory() -> Maker:
    return theory_diagram


@pytest.fixture(scope="session")
def unfinished() -> Callable[[xr.Dataset, xr.DataArray], xr.Dataset]:
    """A diagram as it is while its sweep is under way: where `missing` holds, there is nothing yet."""

    def forget(diagram: xr.Dataset, missing: xr.DataArray) -> xr.Dataset:
        kept = diagram.copy()
        for name, values in diagram.data_vars.items():
            if {"rho", "gamma", "seed"} <= set(values.dims):
                kept[name] = values.where(~missing, "" if values.dtype.kind == "U" else np.nan)
        return kept

    return forget


def corners_of_hatched_cells(ax):
    """The lowest rho and gamma of every hatched cell of a panel."""
    shapes = [patch for patch in ax.patches if patch.get_hatch()]
    assert len(shapes) <= 1
    squares = [np.reshape(shape.get_path().vertices, (-1, 5, 2))[:, :4] for shape in shapes]
    return {tuple(square.min(axis=0)) for square in np.concatenate([np.empty((0, 4, 2)), *squares])}


@pytest.fixture(scope="session")
def hatched_cells() -> Callable[..., np.ndarray]:
    """Which cells of a panel are hatched."""

    def found(ax, rho, gamma):
        corners = corners_of_hatched_cells(ax)
        hatched = np.array([[(r, g) in corners for g in edges(gamma)[:-1]] for r in edges(rho)[:-1]])
        assert hatched.sum() == len(corners)
        return hatched

    return found


AWKWARD = "_a$b_ & <c> $x^$ 100%"


@pytest.fixture(scope="session")
def awkward() -> str:
    """A name that mathematics mode, a legend and a file format would each trip over."""
    return AWKWARD


@pytest.fixture(scope="session")
def shown_texts() -> Callable[..., list[str]]:
    """All texts of a figure as they are read, mathematics left as it is."""

    def found(figure):
        texts = [text.get_text() for text in figure.findobj(Text)]
        return [text.replace("\n", "").replace(r"\$", "$") for text in texts]

    return found
