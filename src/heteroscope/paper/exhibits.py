"""An exhibit: a figure or table with the parts that it is made of; and the columns that several exhibits share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple

import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from heteroscope.core import Identity
from heteroscope.datasets import simulated
from heteroscope.paper.diagram_parts import Networks
from heteroscope.paper.parts import Parts, ResultT, part_settings
from heteroscope.paper.scales import SUMMARY_SETS, UCI_SETS, Scale

FIELD = "Field theory"  # label of the theory's column
#: Labels of the data sets, as in the paper: a star marks the twin with constant noise.
TITLES = {name: name.removesuffix("_homoskedastic").capitalize() for name in (*simulated.PROCESSES, *UCI_SETS)}
TITLES |= {name: f"{title}*" for name, title in TITLES.items() if name.endswith("_homoskedastic")}


class Output(NamedTuple):
    """A figure, a table or both, and a verdict: sentences whose words depend on the numbers."""

    figure: Figure | None = None
    table: pd.DataFrame | None = None
    verdict: str = ""


@dataclass(frozen=True)
class Exhibit(Generic[ResultT]):
    """A figure or table: `parts` lists what must be computed, `show` makes the output from the results by label."""

    source: str  # its place in the paper, or "beyond the paper"
    title: str
    parts: Callable[[Scale], Parts[ResultT]]
    show: Callable[[Mapping[str, ResultT]], Output]
    fewest_seeds: int = 1  # that it needs; a spread over seeds needs two


def exhibit_settings(exhibit: Exhibit[Any], scale: Scale) -> Identity:
    """Return the identity of an exhibit: the identities of its parts, by label."""
    return {label: part_settings(part) for label, part in exhibit.parts(scale).items()}


def summary_networks(scale: Scale) -> dict[str, Networks]:
    """Return the five network diagrams of the paper's summary (Figure 2)."""
    return {TITLES[data]: scale.networks(data) for data in SUMMARY_SETS}


def summary_parts(scale: Scale) -> Parts[xr.Dataset]:
    """Return the six columns of the paper's summary (Figure 2): the theory of sine, and five network diagrams."""
    return {FIELD: scale.theory("sine"), **summary_networks(scale)}
