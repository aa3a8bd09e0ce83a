"""The paper's figures and tables, each a short recipe over the library's own functions, and a few beyond it."""

from heteroscope.paper.beyond import BEYOND
from heteroscope.paper.demo import run_demo
from heteroscope.paper.figures import FIGURES
from heteroscope.paper.observations import OBSERVATIONS
from heteroscope.paper.recipe import Exhibit, Output, part_name, part_settings, recipe_settings
from heteroscope.paper.run import Workspace, read_record, run_recipe
from heteroscope.paper.scales import SCALES, Scale
from heteroscope.paper.tables import TABLES

#: Every result by its name, in the order of the paper and then of the page of results.
RECIPES: dict[str, Exhibit] = {**FIGURES, **TABLES, **OBSERVATIONS, **BEYOND}

__all__ = [
    "RECIPES",
    "SCALES",
    "Exhibit",
    "Output",
    "Scale",
    "Workspace",
    "part_name",
    "part_settings",
    "read_record",
    "recipe_settings",
    "run_demo",
    "run_recipe",
]
