"""The figures of the paper, each an exhibit."""

import xarray as xr

from heteroscope.datasets import simulated
from heteroscope.paper.diagram_parts import DIAGONAL, Line
from heteroscope.paper.exhibit_plots import data_figure
from heteroscope.paper.exhibits import FIELD, TITLES, Diagrams, Exhibit, Output, summary_networks, summary_parts
from heteroscope.paper.observations import crossing_table, crossing_verdict, spread_by_phase
from heteroscope.paper.parts import Parts
from heteroscope.paper.scales import Scale
from heteroscope.plots import diagonal_slices, diagram_array, schematic


def _diagonal_parts(scale: Scale) -> Parts[xr.Dataset]:
    """Return the summary's columns along the diagonal alone, or whole diagrams if the scale has no such line."""
    if not scale.diagonal:
        return summary_parts(scale)
    lines = {
        title: Line(one.data, DIAGONAL, scale.diagonal, one.n_seeds, one.hidden, scale.line_steps)
        for title, one in summary_networks(scale).items()
    }
    return {FIELD: scale.theory("sine"), **lines}


def _diagonal(found: Diagrams) -> Output:
    """Draw metrics along the diagonal, and check Observation 3."""
    table = crossing_table(found)
    return Output(diagonal_slices(found), table, crossing_verdict(table))


def _size_parts(scale: Scale) -> Parts[xr.Dataset]:
    """Return networks of one, two and three hidden layers on concrete."""
    width = scale.hidden[0]
    shallow = {"1 hidden layer": (width,), "2 hidden layers": (width, width)}
    parts = {
        title: scale.networks("concrete", hidden=hidden, n_seeds=scale.n_seeds_rest)
        for title, hidden in shallow.items()
    }
    return {**parts, "3 hidden layers": scale.networks("concrete")}


def _spread(found: Diagrams) -> Output:
    """Draw and tabulate the standard deviation over seeds."""
    return Output(diagram_array(found, statistic="std"), *spread_by_phase(found))


FIGURES: dict[str, Exhibit[xr.Dataset]] = {
    "schematic": Exhibit(
        "Figure 1",
        "the phases, with a typical fit of each (field theory of sine)",
        lambda scale: {FIELD: scale.theory("sine")},
        lambda found: Output(schematic(found[FIELD], "Field theory of sine")),
    ),
    "summary": Exhibit(
        "Figure 2",
        "metrics of field theory, sine and four UCI sets, mean over seeds",
        summary_parts,
        lambda found: Output(diagram_array(found, shared_scale=False)),
    ),
    "diagonal": Exhibit(
        "Figure 3",
        "test metrics along rho = 1 - gamma, lowest ones starred",
        _diagonal_parts,
        _diagonal,
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
        lambda scale: {TITLES[data]: scale.theory(data) for data in simulated.PROCESSES},
        lambda found: Output(diagram_array(found)),
    ),
    "synthetic-networks": Exhibit(
        "Figure 7",
        "networks on all six simulated sets",
        lambda scale: {TITLES[data]: scale.networks(data) for data in simulated.PROCESSES},
        lambda found: Output(diagram_array(found, shared_scale=False)),
    ),
    "network-size": Exhibit(
        "Figure 8",
        "networks of one, two and three hidden layers on concrete",
        _size_parts,
        lambda found: Output(diagram_array(found)),
    ),
}
