"""The paper's figures and tables, each a short recipe over the library's own functions, and a few beyond it."""

from heteroscope.reproduce.beyond import BEYOND
from heteroscope.reproduce.figures import FIGURES
from heteroscope.reproduce.observations import OBSERVATIONS
from heteroscope.reproduce.recipe import Output, Recipe, part_name, part_settings, recipe_settings
from heteroscope.reproduce.run import Kitchen, read_record, run_recipe
from heteroscope.reproduce.scales import SCALES, Scale
from heteroscope.reproduce.tables import TABLES

#: Every result by its name, in the order of the paper and then of the page of results.
RECIPES: dict[str, Recipe] = {**FIGURES, **TABLES, **OBSERVATIONS, **BEYOND}

__all__ = [
    "RECIPES",
    "SCALES",
    "Kitchen",
    "Output",
    "Recipe",
    "Scale",
    "part_name",
    "part_settings",
    "read_record",
    "recipe_settings",
    "run_recipe",
]
