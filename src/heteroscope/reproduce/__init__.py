"""The paper's figures and tables, each a short recipe over the library's own functions, and a few beyond it."""

from heteroscope.reproduce.beyond import BEYOND
from heteroscope.reproduce.figures import FIGURES
from heteroscope.reproduce.recipe import Output, Recipe, recipe_settings, settings_hash
from heteroscope.reproduce.run import Kitchen, read_record, run_recipe
from heteroscope.reproduce.scales import SCALES, Scale
from heteroscope.reproduce.tables import TABLES

#: Every result by its name, quick ones first within each kind.
RECIPES: dict[str, Recipe] = {**FIGURES, **TABLES, **BEYOND}

__all__ = [
    "RECIPES",
    "SCALES",
    "Kitchen",
    "Output",
    "Recipe",
    "Scale",
    "read_record",
    "recipe_settings",
    "run_recipe",
    "settings_hash",
]
