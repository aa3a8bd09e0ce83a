"""A recipe: the parts that a figure or table of the paper is made of, and how they become it."""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from heteroscope.reproduce.parts import Divided, Part
from heteroscope.reproduce.scales import Scale

Parts = Mapping[str, Part | Divided]


class Output(NamedTuple):
    """What came out: a figure, a table, or both; and the sentence that the numbers allow."""

    figure: Figure | None = None
    table: pd.DataFrame | None = None
    verdict: str = ""


class Recipe(NamedTuple):
    """`parts` are computed and kept, each under the name that the figure shows; `show` makes the output of them."""

    source: str  # where in the paper it stands, or "beyond the paper"
    title: str
    parts: Callable[[Scale], Parts]
    show: Callable[[Mapping[str, Any]], Output]
    fewest_seeds: int = 1  # that it needs: one seed has no spread


def part_settings(part: Part | Divided) -> dict[str, Any]:
    """All that decides a part's numbers, for JSON."""
    return {"part": type(part).__name__, **part._asdict()}


def recipe_settings(recipe: Recipe, scale: Scale) -> dict[str, Any]:
    """The settings of all parts, by name."""
    return {name: part_settings(part) for name, part in recipe.parts(scale).items()}


def settings_hash(settings: Any) -> str:
    """Sixteen hexadecimal digits that change with any setting."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]
