"""Parts that are diagrams: networks over the whole grid or along a line, and the field theory."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Float64
from scipy.special import expit

from heteroscope import datasets, field
from heteroscope.core import (
    DamageError,
    Progress,
    Status,
    atomic_write,
    check_mark,
    make_folder,
    warn_of_damage,
    write_mark,
)
from heteroscope.datasets import simulated
from heteroscope.diagrams import field_diagram, phase_diagram, without_rows

FIELD_FILE = "field.nc"  # a theory's result in its part's folder


class Networks(NamedTuple):
    """A phase diagram of networks on one split of a data set."""

    data: str
    rhos: tuple[float, ...]
    gammas: tuple[float, ...]
    n_seeds: int
    hidden: tuple[int, ...]
    max_steps: int | str
    start: str | float = "he"
    exchange: bool = True
    alphas: tuple[float, ...] = ()  # penalties of the mean, given instead of gammas where there is a single rho

    @property
    def kind(self) -> str:
        """The declared word for this kind of part."""
        return "networks"

    @property
    def gamma_values(self) -> tuple[float, ...]:
        """The values of gamma: those given, or those that follow from `alphas`."""
        return _gammas(self)

    def make(self, folder: Path, n_jobs: int, progress: Progress | None) -> xr.Dataset:
        """Return the diagram; finished tiles are kept."""
        return _diagram(self, 0, self.n_seeds, folder, n_jobs, progress)

    def pieces(self) -> list["OneSeed"]:
        """Return one part per seed."""
        shared = self._asdict()
        del shared["n_seeds"]
        return [OneSeed(**shared, seed=seed) for seed in range(self.n_seeds)]

    def join(self, results: list[xr.Dataset]) -> xr.Dataset:
        """Return the diagrams of single seeds as one, without rows, which diagrams on record do not have."""
        slim = [without_rows(one) for one in results]
        together: Any = {"data_vars": "minimal", "coords": "minimal", "compat": "override", "combine_attrs": "override"}
        # "override" matches cells by position: the last digits of rho and gamma may differ between machines.
        return xr.concat(slim, "seed", join="override", **together)


class OneSeed(NamedTuple):
    """One seed of a phase diagram; it is the same whatever other seeds the diagram has."""

    data: str
    rhos: tuple[float, ...]
    gammas: tuple[float, ...]
    seed: int
    hidden: tuple[int, ...]
    max_steps: int | str
    start: str | float
    exchange: bool
    alphas: tuple[float, ...]

    @property
    def kind(self) -> str:
        """The declared word for this kind of part."""
        return "seed"

    @property
    def gamma_values(self) -> tuple[float, ...]:
        """The values of gamma: those given, or those that follow from `alphas`."""
        return _gammas(self)

    @property
    def title(self) -> str:
        """The title of its progress bar."""
        return f"networks, seed {self.seed}"

    def make(self, folder: Path, n_jobs: int, progress: Progress | None) -> xr.Dataset:
        """Return the diagram of this seed; finished tiles are kept."""
        return _diagram(self, self.seed, 1, folder, n_jobs, progress)


def _gammas(part: Networks | OneSeed) -> tuple[float, ...]:
    """Return the gammas, from alpha = gamma (1 - rho) / rho if penalties of the mean are given."""
    if not part.alphas:
        return part.gammas
    (rho,) = part.rhos
    return tuple(alpha * rho / (1 - rho) for alpha in part.alphas)


def _diagram(
    part: Networks | OneSeed, first_seed: int, n_seeds: int, folder: Path, n_jobs: int, progress: Progress | None
) -> xr.Dataset:
    """Train the networks of the seeds first_seed, ..., first_seed + n_seeds - 1."""
    split = datasets.load(part.data)
    return phase_diagram(
        split.x_train,
        split.y_train,
        X_test=split.x_test,
        y_test=split.y_test,
        rhos=part.rhos,
        gammas=part.gamma_values,
        n_seeds=n_seeds,
        random_state=first_seed,
        hidden=part.hidden,
        max_steps=part.max_steps,
        start=part.start,
        exchange=part.exchange,
        name=part.data,
        identity=split.identity,
        store=folder,
        n_jobs=n_jobs,
        progress=progress,
    )


def _with_free_precision(alpha: float) -> tuple[float, float]:
    """Return rho = 1 / (1 + alpha + beta) and gamma = alpha / (alpha + beta) at beta = 0.001."""
    beta = 1e-3  # so weak a penalty that the precision can vary freely
    return 1 / (1 + alpha + beta), alpha / (alpha + beta)


DIAGONAL, FREE_PRECISION = "rho = 1 - gamma", "alpha at beta = 0.001"
#: Lines through the diagram by their declared names: functions from a value along the line to (rho, gamma).
LINES: dict[str, Callable[[float], tuple[float, float]]] = {
    DIAGONAL: lambda rho: (rho, 1 - rho),
    FREE_PRECISION: _with_free_precision,
}


class Line(NamedTuple):
    """Networks along a line through the diagram; the cells beside the line are empty."""

    data: str
    line: str  # a name of LINES
    values: tuple[float, ...]  # along the line
    n_seeds: int
    hidden: tuple[int, ...]
    max_steps: int

    @property
    def kind(self) -> str:
        """The declared word for this kind of part."""
        return "line"

    @property
    def points(self) -> list[tuple[float, float]]:
        """(rho, gamma) of each value along the line."""
        return [LINES[self.line](value) for value in self.values]

    def make(self, folder: Path, n_jobs: int, progress: Progress | None) -> xr.Dataset:
        """Train one cell per point, each kept in a folder of its own, and return them as one diagram."""
        cells = []
        for number, (rho, gamma) in enumerate(self.points):
            one = Networks(self.data, (rho,), (gamma,), self.n_seeds, self.hidden, self.max_steps, exchange=False)
            cells.append(one.make(folder / f"point-{number}", n_jobs, None))
            if progress:
                progress(len(cells), len(self.points))
        return _combine_cells(cells)


def _combine_cells(cells: list[xr.Dataset]) -> xr.Dataset:
    """Return diagrams of one cell each as one, without rows; missing cells are NaN, or "" for words."""
    words = ("phase", "status")
    slim = [without_rows(one).assign({name: one[name].astype(object) for name in words}) for one in cells]
    axes = {name: np.unique([one[name].item() for one in slim]) for name in ("rho", "gamma")}
    numbers = {str(name): np.nan for name in slim[0].data_vars if name not in words}
    first = slim[0].assign(steps=slim[0]["steps"].astype(float))
    whole = first.reindex(axes, fill_value=numbers | dict.fromkeys(words, ""))
    of_cells = [name for name, values in whole.data_vars.items() if "rho" in values.dims]
    for one in slim:
        for name in of_cells:
            whole[name].loc[{"rho": one["rho"], "gamma": one["gamma"]}] = one[name]
    return whole.assign({name: whole[name].astype(str) for name in words})


class Theory(NamedTuple):
    """The field theory's phase diagram of a simulated set; test scores are those of a second draw of the targets."""

    data: str
    grid: tuple[float, ...]
    points: int | None  # number of evenly spaced points; None for the rows that networks are trained on

    @property
    def kind(self) -> str:
        """The declared word for this kind of part."""
        return "theory"

    def make(self, folder: Path, n_jobs: int, progress: Progress | None) -> xr.Dataset:
        """Return the diagram; it takes seconds, and only a complete one is kept."""

        def solve() -> xr.Dataset:
            draws = simulated.field_draws(self.data, self.points) if self.points else simulated.row_draws(self.data)
            x, y, y_test = draws
            diagram = field_diagram(
                x,
                y,
                y_test=y_test,
                rhos=self.grid,
                gammas=self.grid,
                density=None if self.points else "points",  # rows count equally, as they do for networks
                n_jobs=n_jobs,
                progress=progress,
            )
            return diagram.assign_attrs(data_set=self.data)

        return _read_or_make(folder, solve)


class TableTheory(NamedTuple):
    """The field theory's phase diagram of a table: of the graph of its training rows, extended to its test rows."""

    data: str
    grid: tuple[float, ...]
    n_neighbors: int = 10

    @property
    def kind(self) -> str:
        """The declared word for this kind of part."""
        return "table-theory"

    def make(self, folder: Path, n_jobs: int, progress: Progress | None) -> xr.Dataset:
        """Return the diagram; it takes minutes, and only a complete one is kept."""

        def solve() -> xr.Dataset:
            split = datasets.load(self.data)
            diagram = field_diagram(
                split.x_train,
                split.y_train,
                X_test=split.x_test,
                y_test=split.y_test,
                rhos=self.grid,
                gammas=self.grid,
                n_neighbors=self.n_neighbors,
                n_jobs=n_jobs,
                progress=progress,
            )
            return diagram.assign_attrs(data_set=self.data)

        return _read_or_make(folder, solve)


class HysteresisSweep(NamedTuple):
    """The field theory with rho swept up and down.

    Its result has `mean_mse` over (way, rho, gamma), NaN where a sweep runs away, and `differ` over (rho, gamma): 1
    where the two ways end in different solutions.
    """

    data: str
    logit_rhos: tuple[float, ...]
    logit_gammas: tuple[float, ...]
    points: int

    @property
    def kind(self) -> str:
        """The declared word for this kind of part."""
        return "hysteresis"

    def make(self, folder: Path, n_jobs: int, progress: Progress | None) -> xr.Dataset:
        """Return both sweeps; only complete ones are kept."""

        def sweep() -> xr.Dataset:
            x, y = simulated.field_draw(self.data, self.points)
            rhos, gammas = expit(self.logit_rhos).tolist(), expit(self.logit_gammas).tolist()
            both = field.hysteresis(x, y, rhos, gammas, progress=progress)
            return xr.Dataset(
                {
                    "mean_mse": (("way", "rho", "gamma"), [_mean_mse(y, grid) for grid in (both.up, both.down)]),
                    "differ": (("rho", "gamma"), both.differ.astype(np.int8)),
                },
                coords={"way": ["up", "down"], "rho": rhos, "gamma": gammas},
            )

        return _read_or_make(folder, sweep)


def _mean_mse(y: Float64[np.ndarray, " point"], grid: field.GridSolution) -> Float64[np.ndarray, "rho gamma"]:
    """Return the mean of (mean - y)^2 over points for each cell, NaN for runaways."""
    return np.where(grid.status == Status.RUNAWAY, np.nan, np.mean((grid.mean - y) ** 2, axis=2))


def _read_or_make(folder: Path, make: Callable[[], xr.Dataset]) -> xr.Dataset:
    """Return the Dataset in the folder's file; if there is none, compute and write it first."""
    path = folder / FIELD_FILE
    if path.is_file():
        try:
            check_mark(path)
        except DamageError as error:
            warn_of_damage(path, error, "it is computed again")
            path.unlink()
    if not path.is_file():
        make_folder(folder)
        with atomic_write(path) as partial:
            make().to_netcdf(partial, engine="scipy")
        write_mark(path)
    with xr.open_dataset(path, engine="scipy") as stored:
        return stored.load().drop_encoding()
