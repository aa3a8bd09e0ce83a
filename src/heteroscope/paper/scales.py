"""How large a reproduction is: minutes on two cores, or the paper's own grids, seeds, points and networks."""

from typing import NamedTuple

from heteroscope.core import FIELD_GRID, NETWORK_GRID, PAPER_DIAGONAL, defaults
from heteroscope.datasets import climsim
from heteroscope.paper.comparison_parts import SolarFlux


class Scale(NamedTuple):
    """Everything by which a small reproduction differs from a full one."""

    name: str
    grid: tuple[float, ...]  # rho and gamma of networks
    diagonal: tuple[float, ...]  # rho along rho = 1 - gamma; if empty, the cells of the grid that lie on it
    field_grid: tuple[float, ...]  # rho and gamma of the field theory
    points: int  # of the field theory
    hysteresis_points: int
    hidden: tuple[int, ...]
    max_steps: int | str  # of a network in a diagram
    line_steps: int  # of a network on a line through it
    n_seeds: int  # of a cell in the diagrams whose spread is shown
    n_seeds_rest: int  # of a cell in all others
    n_runs: int  # of a method in a table
    n_searches: int  # runs on which the diagonal is searched against the whole square
    search: tuple[tuple[str, int], ...]  # settings of HeteroskedasticRegressorCV
    fit_steps: int  # of a baseline
    solar_flux: SolarFlux  # on generated files, which have no more to tell than their size costs
    published_flux: SolarFlux  # on ClimSim's own
    seeds: int | None = None  # of a cell in any diagram, and runs of searches, if the user has asked for so many

    def with_seeds(self, seeds: int | None) -> "Scale":
        """The same scale with so many seeds in every diagram and runs of searches, or as it is."""
        if seeds is None:
            return self
        return self._replace(n_seeds=seeds, n_seeds_rest=seeds, n_searches=seeds, seeds=seeds)

    def with_climsim(self, folder: str) -> "Scale":
        """The same scale with ClimSim's published files instead of generated ones."""
        return self._replace(solar_flux=self.published_flux._replace(files=folder))


#: Values of the paper's grid: one far below, its middle, and every decade on the diagonal from 1e-3 to 1 - 1e-3.
SMALL_GRID = (1e-6, 1e-3, 1e-2, 0.1, 0.5, 0.9, 0.99, 0.999)

SMALL_FLUX = SolarFlux("", 10_000, 2, (32, 32, 32), climsim.PAPER_BATCH, n_points=7, max_steps=400)
PAPER_FLUX = SolarFlux(
    "",
    0,
    6,
    climsim.PAPER_HIDDEN,
    climsim.PAPER_BATCH,
    n_points=len(PAPER_DIAGONAL),
    max_steps=climsim.PAPER_EPOCHS * climsim.N_ROWS["train"] // climsim.PAPER_BATCH,
)

SMALL = Scale(
    name="small",
    grid=SMALL_GRID,
    diagonal=(),
    field_grid=tuple(FIELD_GRID.tolist()),
    points=1024,
    hysteresis_points=256,
    hidden=(32, 32, 32),
    max_steps=800,
    line_steps=800,
    n_seeds=2,
    n_seeds_rest=1,
    n_runs=2,
    n_searches=2,
    search=(("n_coarse", 7), ("n_fine", 2), ("cv", 2), ("max_steps", 600)),
    fit_steps=600,
    solar_flux=SMALL_FLUX,
    published_flux=SMALL_FLUX._replace(n_rows=0),
)
FULL = Scale(
    name="full",
    grid=tuple(NETWORK_GRID.tolist()),
    diagonal=tuple(PAPER_DIAGONAL.tolist()),
    field_grid=tuple(FIELD_GRID.tolist()),
    points=4096,
    hysteresis_points=1024,
    hidden=defaults.PAPER_HIDDEN,
    max_steps=defaults.DIAGRAM_STEPS,
    line_steps=defaults.POINT_STEPS,
    n_seeds=6,
    n_seeds_rest=6,
    n_runs=6,
    n_searches=6,
    search=(("n_coarse", 12), ("n_fine", 4), ("cv", 5), ("max_steps", 2000)),
    fit_steps=20_000,
    solar_flux=PAPER_FLUX._replace(n_rows=100_000, n_points=24, max_steps=1200),
    published_flux=PAPER_FLUX,
)
SCALES = {scale.name: scale for scale in (SMALL, FULL)}
