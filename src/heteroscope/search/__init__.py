"""Which (rho, gamma) to take: points cross-validated along the diagonal rho = 1 - gamma or over the whole square."""

from heteroscope.search.points import Fold, Folds, Logits, Point, cross_validate
from heteroscope.search.race import Race, search_diagonal, search_grid
from heteroscope.search.results import Search, held_out_scores, results_table
from heteroscope.search.selection import SELECTIONS, row_loss, scale_for_all_rows, squared_score, std_scale

__all__ = [
    "SELECTIONS",
    "Fold",
    "Folds",
    "Logits",
    "Point",
    "Race",
    "Search",
    "cross_validate",
    "held_out_scores",
    "results_table",
    "row_loss",
    "scale_for_all_rows",
    "search_diagonal",
    "search_grid",
    "squared_score",
    "std_scale",
]
