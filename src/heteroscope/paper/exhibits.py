"""A recipe: the parts that a figure or table of the paper is made of, and how they become it."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from heteroscope import datasets
from heteroscope.core import REVISIONS, Identity, as_json, identity_key
from heteroscope.paper.diagram_parts import Divided, Part
from heteroscope.paper.scales import Scale

Parts = Mapping[str, Part | Divided]


class Output(NamedTuple):
    """What came out: a figure, a table, or both; and the sentence that the numbers allow."""

    figure: Figure | None = None
    table: pd.DataFrame | None = None
    verdict: str = ""


class Exhibit(NamedTuple):
    """`parts` are computed and kept, each under the name that the figure shows; `show` makes the output of them."""

    source: str  # where in the paper it stands, or "beyond the paper"
    title: str
    parts: Callable[[Scale], Parts]
    show: Callable[[Mapping[str, Any]], Output]
    fewest_seeds: int = 1  # that it needs: one seed has no spread


#: The number of `identity.REVISIONS` that a part of each kind has.
REVISION_OF = {
    **dict.fromkeys(("networks", "seed", "line"), "diagrams"),
    **dict.fromkeys(("theory", "hysteresis"), "field theory"),
    **dict.fromkeys(("comparison", "searches", "searches-run", "streamed"), "comparisons"),
}


def part_settings(part: Part | Divided) -> Identity:
    """What identifies a part: its kind, its settings, and the revisions of what computes it and of its rows."""
    revisions = {"revision": REVISIONS[REVISION_OF[part.kind]]}
    if part.data in datasets.names():
        revisions["data_revision"] = datasets.identify(part.data)["revision"]
    return dict(as_json({"part": part.kind, **revisions, **part._asdict()}))


def part_name(part: Part | Divided) -> str:
    """What the part's folder and records are called: its kind, its data set, and the key of its identity."""
    return f"{part.kind}-{part.data}-{identity_key(part_settings(part))}"


def recipe_settings(recipe: Exhibit, scale: Scale) -> Identity:
    """What identifies a result: the identities of all its parts, by name."""
    return {name: part_settings(part) for name, part in recipe.parts(scale).items()}
