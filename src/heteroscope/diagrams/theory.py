"""Solve the field theory over a grid of (rho, gamma) and return it as the Dataset that every phase diagram is.

A cell from which descent runs away holds NaN, and its `status` is `runaway`. On a line each point has its target; the
points of a table are its distinct rows, and its fields are extended to test rows along the edges of its graph.
"""

from importlib.metadata import version
from typing import NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Float, Int, Shaped
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.special import expit

from heteroscope import field
from heteroscope.core import FIELD_GRID, InputError, Progress, Status, shifted
from heteroscope.diagrams.dataset import CELL, SCORES, Values, constant_scores, grid_values, kept_rows, score
from heteroscope.diagrams.sources import gather_arrays
from heteroscope.phases import Phase

_GRAPH_TOLERANCE = 1e-8  # relative residual that conjugate gradients reach


class TheoryRows(NamedTuple):
    """Points of the theory, and the rows that its fields are scored on."""

    lattice: field.Lattice
    y: Float[np.ndarray, " point"]
    variance: Float[np.ndarray, " point"]
    draws: dict[str, Float[np.ndarray, "_"]]  # targets of each split
    matrices: dict[str, csr_array] | None  # from a field to its values at the rows of each split; None: at the points
    weight: Float[np.ndarray, " point"] | None  # of the rows in all averages; None counts them equally
    kept: dict[str, Int[np.ndarray, "_"]]  # rows of each split whose predictions are kept
    inputs: Float[np.ndarray, "row feature"]  # of the kept rows
    features: list[str]
    attrs: dict[str, str | float]

    def predict(self, values: Float[np.ndarray, " point"]) -> dict[str, Float[np.ndarray, "_"]]:
        """Return a field's values at the rows of each split."""
        if self.matrices is None:
            return dict.fromkeys(self.draws, values)
        return {split: matrix @ values for split, matrix in self.matrices.items()}


def field_diagram(
    x: ArrayLike,
    y: ArrayLike,
    *,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    rhos: Values | None = None,
    gammas: Values | None = None,
    density: ArrayLike | None = None,
    n_neighbors: int = 10,
    power: int = 1,
    folds: bool | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Solve the field theory's phase diagram of points on a line or of a table.

    Parameters
    ----------
    x : array_like of shape (n_points,) or (n_rows, n_features)
        Strictly increasing positions, at least 3; or a table, which is standardised as networks do.
    y : array_like of shape (n_points,) or (n_rows,)
        Target: one draw of y(x).
    X_test : array_like of shape (n_test, n_features) or None, default=None
        Test rows of a table. Fields are extended to them by the average of their neighbours, weighted by 1/distance^2.
    y_test : array_like or None, default=None
        On a line another draw at the same points, of a table the targets of `X_test`. Without it the label of most
        cells whose mean moves is "unknown".
    rhos, gammas : sequence of float or None, default=None
        Values of the grid, each strictly between 0 and 1. None is the paper's grid.
    density : array_like of shape (n_points,), "points" or None, default=None
        Density of points on a line; see `field.chain`.
    n_neighbors : int, default=10
        Nearest neighbours that each row of a table is joined to, and that new rows are extended from.
    power : int, default=1
        Power m of a table's Laplacian; see `field.stiffened`.
    folds : bool or None, default=None
        Whether to find the fold beyond which descent runs away, for every gamma. None finds it on a line, for the
        gammas where a figure of the grid shows it; on a table it takes longer than the diagram.
    n_jobs : int, default=1
        Number of processes.
    progress : callable or None, default=None
        Called as progress(done, total) with numbers of gammas and points of the fold on a line, of rhos and points of
        the fold on a table.

    Returns
    -------
    xarray.Dataset
        Scores, `status` and `phase` of each cell; its fields as `mean` and `std`; the fold as `fold_rho`. A table's
        values are in units of the training targets' standard deviation.

    See Also
    --------
    phase_diagram : The same from trained networks.
    """
    rhos, gammas = grid_values("rho", rhos, FIELD_GRID), grid_values("gamma", gammas, FIELD_GRID)
    if np.ndim(x) == 1:
        if X_test is not None or power != 1:
            raise InputError("X_test and power are for tables; on a line y_test is another draw at the same points")
        rows = _line_rows(x, y, y_test, density)
        grid, curve = field.solve_with_folds(
            x,
            y,
            rhos,
            gammas,
            density=density,
            folds="inside" if folds is None else folds,
            n_jobs=n_jobs,
            progress=progress,
        )
        found = [(fold.gamma, fold.rho) for fold in curve]
    else:
        if density is not None:
            raise InputError("density is for points on a line: leave it out for a table")
        rows = _table_rows(x, y, X_test, y_test, n_neighbors, power)
        grid, found = _solve_table(rows, rhos, gammas, bool(folds), n_jobs, progress)
    diagram = _dataset(rows, grid)
    if not found:
        return diagram
    fold_gammas, fold_rhos = zip(*found, strict=True)
    return diagram.assign(fold_rho=("fold_gamma", list(fold_rhos))).assign_coords(fold_gamma=list(fold_gammas))


def _line_rows(x: ArrayLike, y: ArrayLike, y_test: ArrayLike | None, density: ArrayLike | None) -> TheoryRows:
    """Return points on a line: every split is scored at the points themselves."""
    draws = {"train": np.asarray(y, float)}
    if y_test is not None:
        draws["test"] = np.asarray(y_test, float)
        if draws["test"].shape != draws["train"].shape or not np.all(np.isfinite(draws["test"])):
            raise InputError("y_test must hold one finite number for each x, as y does")
    lattice = field.chain(x, density)
    return TheoryRows(
        lattice,
        draws["train"],
        np.zeros_like(draws["train"]),
        draws,
        None,
        lattice.weights,
        {"train": np.arange(len(draws["train"]))},
        np.asarray(x, float)[:, None],
        ["x"],
        {"target": "y", "target_centre": 0.0, "target_scale": 1.0},
    )


def _table_rows(
    X: ArrayLike, y: ArrayLike, X_test: ArrayLike | None, y_test: ArrayLike | None, n_neighbors: int, power: int
) -> TheoryRows:
    """Return the standardised rows of a table, its graph, and the extension to its test rows."""
    source = gather_arrays(X, y, X_test, y_test, None, None)
    data = source.data
    inputs = {split: np.asarray(part, float) for split, part in data.inputs.items()}
    table = field.table(inputs["train"], data.targets["train"], n_neighbors)
    n_rows = len(table.point_of_row)
    at_rows = csr_array((np.ones(n_rows), table.point_of_row, np.arange(n_rows + 1)), shape=(n_rows, len(table.y)))
    matrices = {split: at_rows if split == "train" else table.extension(rows) for split, rows in inputs.items()}
    kept = {split: kept_rows(len(targets)) for split, targets in data.targets.items()}
    return TheoryRows(
        field.stiffened(table.lattice, power),
        table.y,
        table.variance,
        data.targets,
        matrices,
        None,
        kept,
        np.concatenate([data.rows[split].x[rows] for split, rows in kept.items()]),
        source.features,
        {"target": source.target, "target_centre": data.scaling.y_centre, "target_scale": data.scaling.y_scale},
    )


def _solve_table(
    rows: TheoryRows,
    rhos: Float[np.ndarray, " rho"],
    gammas: Float[np.ndarray, " gamma"],
    folds: bool,
    n_jobs: int,
    progress: Progress | None,
) -> tuple[field.GridSolution, list[tuple[float, float]]]:
    """Return the cells of a table, and (gamma, rho) of the last finite solution for the gammas that have one."""
    total = len(rhos) + len(gammas) * folds
    grid = field.solve_cells(
        rows.lattice,
        rows.y,
        rhos,
        gammas,
        variance=rows.variance,
        tol=_GRAPH_TOLERANCE,
        n_jobs=n_jobs,
        progress=shifted(progress, 0, total),
    )
    if not folds:
        return grid, []
    found = field.last_finite_curve(
        rows.lattice,
        rows.y,
        gammas,
        variance=rows.variance,
        n_jobs=n_jobs,
        progress=shifted(progress, len(rhos), total),
    )
    return grid, [(float(g), float(expit(z))) for g, z in zip(gammas, found, strict=True) if z is not None]


def _dataset(rows: TheoryRows, grid: field.GridSolution) -> xr.Dataset:
    """Score and label every cell, and return all that a diagram holds but the fold."""
    cells = _score_cells(rows, grid)
    finite = np.where(grid.status == Status.RUNAWAY, np.nan, 1.0)[:, :, None]  # the fields of a runaway are no solution
    mean, std = _at_kept_rows(rows, grid.mean), _at_kept_rows(rows, grid.precision) ** -0.5
    return xr.Dataset(
        {
            **{name: ((*CELL, "split"), cells[name]) for name in SCORES},
            **{name: (CELL, cells[name]) for name in ("mean_spread", "log_precision_spread")},
            "status": (CELL, grid.status[:, :, None]),
            "phase": (CELL, cells["phase"]),
            "objective": (CELL, grid.energy[:, :, None] * finite),
            "relative_gradient": (CELL, grid.residual[:, :, None] * finite),
            **{name: ("split", values) for name, values in constant_scores(rows.draws, rows.weight).items()},
            "mean": ((*CELL, "row"), (mean * finite[..., None]).astype(np.float32)),
            "std": ((*CELL, "row"), (std * finite[..., None]).astype(np.float32)),
            "x": (("row", "feature"), rows.inputs),
            "y": ("row", np.concatenate([rows.draws[split][kept] for split, kept in rows.kept.items()])),
            "row_split": ("row", np.repeat(list(rows.kept), [len(kept) for kept in rows.kept.values()])),
        },
        coords={
            "rho": grid.rhos,
            "gamma": grid.gammas,
            "seed": [0],
            "split": list(rows.draws),
            "feature": rows.features,
        },
        attrs={"source": "field theory", "data_set": "", **rows.attrs, "heteroscope": version("heteroscope")},
    )


def _at_kept_rows(
    rows: TheoryRows, values: Float[np.ndarray, "rho gamma point"]
) -> Float[np.ndarray, "rho gamma 1 row"]:
    """Return the fields of all cells at the rows that are kept."""
    if rows.matrices is None:
        return values[:, :, None]
    flat = values.reshape(-1, values.shape[-1])
    parts = [(rows.matrices[split][kept] @ flat.T).T for split, kept in rows.kept.items()]
    return np.concatenate(parts, axis=1).reshape(*values.shape[:2], 1, -1)


def _score_cells(rows: TheoryRows, grid: field.GridSolution) -> dict[str, Shaped[np.ndarray, "..."]]:
    """Score and label every cell as `dataset.score` does; a runaway has no fields to score, and its phase is O_I."""
    shape = (*grid.status.shape, 1)
    values = {name: np.full((*shape, len(rows.draws)), np.nan) for name in SCORES}
    values |= {name: np.full(shape, np.nan) for name in ("mean_spread", "log_precision_spread")}
    values["phase"] = np.full(shape, str(Phase.O_I), dtype="<U7")
    for row, column in np.argwhere(grid.status != Status.RUNAWAY):
        means = rows.predict(grid.mean[row, column])
        stds = {split: part**-0.5 for split, part in rows.predict(grid.precision[row, column]).items()}
        scores = score(rows.draws, means, stds, Status(grid.status[row, column]), rows.weight)
        for name, value in scores.items():
            values[name][row, column, 0] = value
        for name, values_at in (("mean_energy", grid.mean), ("precision_energy", grid.precision)):
            values[name][row, column, 0] = rows.lattice.dirichlet(values_at[row, column]) / (len(rows.y) - 1)
    return values
