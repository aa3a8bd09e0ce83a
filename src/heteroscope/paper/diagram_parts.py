"""What recipes are made of: diagrams and sweeps here, comparisons in a file of their own.

A part is its settings; equal settings are one part.

`make(folder)` computes it, keeping in the folder what is finished, so that the same call goes on where one was stopped.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import xarray as xr
from scipy.special import expit

from heteroscope import datasets, field
from heteroscope.core import Progress, Status, atomic_write
from heteroscope.datasets import simulated
from heteroscope.diagrams import field_diagram, phase_diagram, without_rows

FIELD_FILE = "field.nc"


@runtime_checkable
class Part(Protocol):
    """A NamedTuple of settings that knows how to compute what they describe.

    The settings identify it together with its kind: declared words and numbers, from which anything is computed only
    when the part is made.
    """

    @property
    def kind(self) -> str:
        """What sort of part it is, a declared word."""

    @property
    def data(self) -> str:
        """The data set."""

    def make(self, folder: Path, n_jobs: int, progress: Progress | None) -> Any:
        """The result, from the folder as far as it is there."""

    def _asdict(self) -> dict[str, Any]: ...


@runtime_checkable
class Divided(Protocol):
    """Settings of several parts, each computed and kept by itself, so that more can be added later."""

    @property
    def kind(self) -> str:
        """What sort of part it is, a declared word."""

    @property
    def data(self) -> str:
        """The data set."""

    def pieces(self) -> Sequence[Part]:
        """The parts."""

    def join(self, found: list[Any]) -> Any:
        """Their results as one."""

    def _asdict(self) -> dict[str, Any]: ...


class Networks(NamedTuple):
    """The phase diagram of networks on one split of a data set."""

    data: str
    rhos: tuple[float, ...]
    gammas: tuple[float, ...]
    n_seeds: int
    hidden: tuple[int, ...]
    max_steps: int | str
    start: str | float = "he"
    exchange: bool = True
    alphas: tuple[float, ...] = ()  # penalties of the mean at a single rho, instead of gammas

    @property
    def kind(self) -> str:
        """Its declared word."""
        return "networks"

    @property
    def gamma_values(self) -> tuple[float, ...]:
        """The gammas, given or from the penalties."""
        return _gammas(self)

    def make(self, folder: Path, n_jobs: int, progress: Progress | None) -> xr.Dataset:
        """The diagram, kept tile by tile."""
        return _diagram(self, 0, self.n_seeds, folder, n_jobs, progress)

    def pieces(self) -> list["OneSeed"]:
        """The diagrams of one seed that it consists of."""
        shared = self._asdict()
        del shared["n_seeds"]
        return [OneSeed(**shared, seed=seed) for seed in range(self.n_seeds)]

    def join(self, found: list[xr.Dataset]) -> xr.Dataset:
        """Diagrams of one seed each as one, without the rows, which a diagram on record does not have."""
        slim = [without_rows(one) for one in found]
        together: Any = {"data_vars": "minimal", "coords": "minimal", "compat": "override", "combine_attrs": "override"}
        return xr.concat(slim, "seed", join="override", **together)  # by their places: last digits may differ


class OneSeed(NamedTuple):
    """One seed of a phase diagram, which depends neither on the others nor on their number."""

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
        """Its declared word."""
        return "seed"

    @property
    def gamma_values(self) -> tuple[float, ...]:
        """The gammas, given or from the penalties."""
        return _gammas(self)

    @property
    def title(self) -> str:
        """What a progress bar calls it."""
        return f"networks, seed {self.seed}"

    def make(self, folder: Path, n_jobs: int, progress: Progress | None) -> xr.Dataset:
        """The diagram of this seed, kept tile by tile."""
        return _diagram(self, self.seed, 1, folder, n_jobs, progress)


def _gammas(part: Networks | OneSeed) -> tuple[float, ...]:
    """gamma = alpha rho / (1 - rho): where alpha is the penalty of the mean at the one rho."""
    if not part.alphas:
        return part.gammas
    (rho,) = part.rhos
    return tuple(alpha * rho / (1 - rho) for alpha in part.alphas)


def _diagram(
    part: Networks | OneSeed, first_seed: int, n_seeds: int, folder: Path, n_jobs: int, progress: Progress | None
) -> xr.Dataset:
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
    """rho = 1 / (1 + alpha + beta), gamma = alpha / (alpha + beta) at a penalty that leaves the precision free."""
    beta = 1e-3
    return 1 / (1 + alpha + beta), alpha / (alpha + beta)


DIAGONAL, FREE_PRECISION = "rho = 1 - gamma", "alpha at beta = 0.001"
#: Lines through the diagram by their declared names: (rho, gamma) of each value along them.
LINES: dict[str, Callable[[float], tuple[float, float]]] = {
    DIAGONAL: lambda rho: (rho, 1 - rho),
    FREE_PRECISION: _with_free_precision,
}


class Line(NamedTuple):
    """Networks along a line through the diagram, as a diagram whose other cells are empty."""

    data: str
    line: str  # its name in LINES
    values: tuple[float, ...]  # along it
    n_seeds: int
    hidden: tuple[int, ...]
    max_steps: int

    @property
    def kind(self) -> str:
        """Its declared word."""
        return "line"

    @property
    def points(self) -> list[tuple[float, float]]:
        """(rho, gamma) of each value."""
        return [LINES[self.line](value) for value in self.values]

    def make(self, folder: Path, n_jobs: int, progress: Progress | None) -> xr.Dataset:
        """A diagram of one cell a point, each kept in a folder of its own, put together."""
        found = []
        for number, (rho, gamma) in enumerate(self.points):
            one = Networks(self.data, (rho,), (gamma,), self.n_seeds, self.hidden, self.max_steps, exchange=False)
            found.append(one.make(folder / f"point-{number}", n_jobs, None))
            if progress:
                progress(len(found), len(self.points))
        return _put_together(found)


def _put_together(cells: list[xr.Dataset]) -> xr.Dataset:
    """Diagrams of different (rho, gamma) as one, without the rows that only a drawing of single fits needs."""
    words = ("phase", "status")
    slim = [without_rows(one).assign({name: one[name].astype(object) for name in words}) for one in cells]
    axes = {name: np.unique([one[name].item() for one in slim]) for name in ("rho", "gamma")}
    numbers = {str(name): np.nan for name in slim[0].data_vars if name not in words}
    first = slim[0].assign(steps=slim[0]["steps"].astype(float))
    whole = first.reindex(axes, fill_value=numbers | dict.fromkeys(words, ""))
    for one in slim:
        for name in whole.data_vars:
            whole[name].loc[{"rho": one["rho"], "gamma": one["gamma"]}] = one[name]
    return whole.assign({name: whole[name].astype(str) for name in words})


class Theory(NamedTuple):
    """The field theory's phase diagram of a simulated set, judged on a second draw."""

    data: str
    grid: tuple[float, ...]
    points: int | None  # evenly spaced; None for the rows that networks are trained on

    @property
    def kind(self) -> str:
        """Its declared word."""
        return "theory"

    def make(self, folder: Path, n_jobs: int, progress: Progress | None) -> xr.Dataset:
        """The diagram, kept when it is complete: it takes seconds."""

        def solve() -> xr.Dataset:
            draws = simulated.field_draws(self.data, self.points) if self.points else simulated.row_draws(self.data)
            x, y, y_test = draws
            found = field_diagram(
                x, y, y_test=y_test, rhos=self.grid, gammas=self.grid, n_jobs=n_jobs, progress=progress
            )
            return found.assign_attrs(data_set=self.data)

        return _kept(folder, solve)


class HysteresisSweep(NamedTuple):
    """The field theory with rho swept up and down: `mean_mse` over (way, rho, gamma), NaN for a runaway."""

    data: str
    logit_rhos: tuple[float, ...]
    logit_gammas: tuple[float, ...]
    points: int

    @property
    def kind(self) -> str:
        """Its declared word."""
        return "hysteresis"

    def make(self, folder: Path, n_jobs: int, progress: Progress | None) -> xr.Dataset:
        """Both sweeps, kept when they are complete."""

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

        return _kept(folder, sweep)


def _mean_mse(y: Any, grid: field.GridSolution) -> np.ndarray:
    return np.where(grid.status == Status.RUNAWAY, np.nan, np.mean((grid.mean - y) ** 2, axis=2))


def _kept(folder: Path, make: Callable[[], xr.Dataset]) -> xr.Dataset:
    """The Dataset of the folder's file, computed and written whole if it is not there."""
    path = folder / FIELD_FILE
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as partial:
            make().to_netcdf(partial, engine="scipy")
    with xr.open_dataset(path, engine="scipy") as stored:
        return stored.load().drop_encoding()
