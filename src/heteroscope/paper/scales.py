"""The size of a reproduction: "small" takes minutes on two cores, "full" has the paper's grids, seeds and networks."""

from typing import NamedTuple

from heteroscope.core import FIELD_GRID, NETWORK_GRID, PAPER_DIAGONAL, defaults
from heteroscope.datasets import climsim, simulated
from heteroscope.paper.comparison_parts import Comparison, Searches, SolarFlux
from heteroscope.paper.diagram_parts import Networks, TableTheory, Theory

UCI_SETS = ("concrete", "housing", "power", "yacht")
SUMMARY_SETS = ("sine", *UCI_SETS)  # sets of the paper's summary, whose spread over seeds is shown


class Scale(NamedTuple):
    """The settings in which a small and a full reproduction differ, and the parts that follow from them."""

    name: str
    grid: tuple[float, ...]  # rho and gamma of network diagrams
    diagonal: tuple[float, ...]  # rho along rho = 1 - gamma; if empty, the diagonal cells of the grid are shown
    field_grid: tuple[float, ...]  # rho and gamma of the field theory
    points: int  # of the field theory
    hysteresis_points: int  # of the field theory when rho is swept up and down
    hidden: tuple[int, ...]
    max_steps: int | str  # per network of a diagram
    line_steps: int  # per network along a line
    n_seeds: int  # per cell of the diagrams whose spread over seeds is shown
    n_seeds_rest: int  # per cell of all other diagrams
    n_runs: int  # per method of a table
    n_searches: int  # runs in which searches of the diagonal and of the whole square are compared
    search: tuple[tuple[str, int], ...]  # settings of HeteroskedasticRegressorCV
    fit_steps: int  # per baseline
    solar_flux: SolarFlux  # on generated files: smaller than the published ones, as more rows would show nothing new
    published_flux: SolarFlux  # on ClimSim's published files
    seeds: int | None = None  # the user's choice of n_seeds, n_seeds_rest and n_searches; None for the scale's own

    def with_seeds(self, seeds: int | None) -> "Scale":
        """Return the scale with this many seeds per cell and runs of searches, or unchanged if it is None."""
        if seeds is None:
            return self
        return self._replace(n_seeds=seeds, n_seeds_rest=seeds, n_searches=seeds, seeds=seeds)

    def with_climsim(self, folder: str) -> "Scale":
        """Return the scale with ClimSim's published files in `folder` instead of generated ones."""
        return self._replace(solar_flux=self.published_flux._replace(files=folder))

    def theory(self, data: str) -> Theory:
        """Return the field theory of a simulated set."""
        return Theory(data, self.field_grid, self.points)

    def own_theory(self, data: str) -> Theory | TableTheory:
        """Return the field theory of the very rows that networks are trained on, on the networks' grid."""
        return Theory(data, self.grid, None) if data in simulated.PROCESSES else TableTheory(data, self.grid)

    def networks(
        self,
        data: str,
        *,
        n_seeds: int | None = None,
        hidden: tuple[int, ...] | None = None,
        max_steps: int | str | None = None,
        start: str | float = "he",
    ) -> Networks:
        """Return the networks of a data set over the grid; None stands for the scale's own setting."""
        if n_seeds is None:
            n_seeds = self.n_seeds if data in SUMMARY_SETS else self.n_seeds_rest
        return Networks(data, self.grid, self.grid, n_seeds, hidden or self.hidden, max_steps or self.max_steps, start)

    def comparison(self, data: str) -> Comparison:
        """Return the four methods of the paper's tables on a data set."""
        return Comparison(data, self.n_runs, self.hidden, self.search, self.fit_steps)

    def searches(self, data: str) -> Searches:
        """Return the searches of the diagonal and of the whole square on a data set."""
        return Searches(data, self.n_searches, self.hidden, self.search)


#: Some values of the paper's grid: 1e-6, and values v from 1e-3 to 1 - 1e-3 such that 1 - v is among them, too.
SMALL_GRID = (1e-6, 1e-3, 1e-2, 0.1, 0.5, 0.9, 0.99, 0.999)

# ClimSim at both scales; the paper trains for PAPER_EPOCHS passes over all training rows.
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
