"""The figures of the paper, each a recipe."""

from collections.abc import Mapping
from typing import Any

from heteroscope.datasets import simulated
from heteroscope.paper.crossing import crossing, verdict
from heteroscope.paper.diagram_parts import DIAGONAL, Line, Networks, Theory
from heteroscope.paper.exhibit_plots import data_figure
from heteroscope.paper.exhibits import Exhibit, Output, Parts
from heteroscope.paper.scales import Scale
from heteroscope.paper.spread import spread_by_phase
from heteroscope.plots import diagonal_slices, diagram_array, schematic

FIELD = "Field theory"
UCI = ("concrete", "housing", "power", "yacht")
#: What the paper calls the sets: a star is the twin with constant noise.
TITLES = {name: name.removesuffix("_homoskedastic").capitalize() for name in (*simulated.PROCESSES, *UCI)}
TITLES |= {name: f"{title}*" for name, title in TITLES.items() if name.endswith("_homoskedastic")}


def theory(data: str, scale: Scale) -> Theory:
    """The field theory of one set."""
    return Theory(data, scale.field_grid, scale.points)


def networks(data: str, scale: Scale, **other: Any) -> Networks:
    """Networks of one set over the scale's grid; those of the summary have seeds enough to show their spread."""
    seeds = scale.n_seeds if data in ("sine", *UCI) else scale.n_seeds_rest
    usual: dict[str, Any] = {"n_seeds": seeds, "hidden": scale.hidden, "max_steps": scale.max_steps}
    return Networks(data, scale.grid, scale.grid, **usual | other)


def summary_networks(scale: Scale) -> dict[str, Networks]:
    """The five network diagrams of the paper's summary."""
    return {TITLES[data]: networks(data, scale) for data in ("sine", *UCI)}


def summary_parts(scale: Scale) -> Parts:
    """The six columns of the paper's summary."""
    return {FIELD: theory("sine", scale), **summary_networks(scale)}


def _diagonals(scale: Scale) -> Parts:
    if not scale.diagonal:
        return summary_parts(scale)
    lines = {
        title: Line(one.data, DIAGONAL, scale.diagonal, one.n_seeds, one.hidden, scale.line_steps)
        for title, one in summary_networks(scale).items()
    }
    return {FIELD: theory("sine", scale), **lines}


def _along(found: Mapping[str, Any]) -> Output:
    table = crossing(found)
    return Output(diagonal_slices(found), table, verdict(table, FIELD))


def _depths(scale: Scale) -> Parts:
    width = scale.hidden[0]
    shallow = {"1 hidden layer": (width,), "2 hidden layers": (width, width)}
    parts = {
        title: networks("concrete", scale, hidden=hidden, n_seeds=scale.n_seeds_rest)
        for title, hidden in shallow.items()
    }
    return {**parts, "3 hidden layers": networks("concrete", scale)}


def _spread(found: Mapping[str, Any]) -> Output:
    return Output(diagram_array(found, statistic="std"), *spread_by_phase(found))


FIGURES = {
    "schematic": Exhibit(
        "Figure 1",
        "the phases, with a typical fit of each (field theory of sine)",
        lambda scale: {FIELD: theory("sine", scale)},
        lambda found: Output(schematic(found[FIELD], "Field theory of sine")),
    ),
    "summary": Exhibit(
        "Figure 2",
        "metrics of field theory, sine and four UCI sets, mean over seeds",
        summary_parts,
        lambda found: Output(diagram_array(found)),
    ),
    "diagonal": Exhibit(
        "Figure 3",
        "test metrics along rho = 1 - gamma, lowest ones starred",
        _diagonals,
        _along,
    ),
    "data": Exhibit(
        "Figure 4",
        "the six simulated sets",
        lambda scale: {},
        lambda found: Output(data_figure(list(simulated.PROCESSES), TITLES)),
    ),
    "summary-spread": Exhibit(
        "Figure 5",
        "standard deviation over seeds of the summary's metrics",
        summary_networks,
        _spread,
        fewest_seeds=2,
    ),
    "synthetic-field": Exhibit(
        "Figure 6",
        "field theory of all six simulated sets",
        lambda scale: {TITLES[data]: theory(data, scale) for data in simulated.PROCESSES},
        lambda found: Output(diagram_array(found)),
    ),
    "synthetic-networks": Exhibit(
        "Figure 7",
        "networks on all six simulated sets",
        lambda scale: {TITLES[data]: networks(data, scale) for data in simulated.PROCESSES},
        lambda found: Output(diagram_array(found)),
    ),
    "network-size": Exhibit(
        "Figure 8",
        "networks of one, two and three hidden layers on concrete",
        _depths,
        lambda found: Output(diagram_array(found)),
    ),
}
