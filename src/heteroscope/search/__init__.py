"""Which (rho, gamma) to take: points cross-validated along the diagonal rho = 1 - gamma or over the whole square."""

from heteroscope.search.cross_validation import Fold, FoldResult, Folds, Logits, Point, cross_validate
from heteroscope.search.cv_results import Search, held_out_scores, results_table
from heteroscope.search.diagonal_and_grid import JUDGES, Race, search_diagonal, search_grid
from heteroscope.search.folds import check_share, held_out_fold, make_folds
from heteroscope.search.refinement import bisect_transition, refine_around
from heteroscope.search.selection import SELECTIONS, choose, row_loss
from heteroscope.search.std_calibration import scale_for_all_rows, share_of_more_members, squared_score, std_scale
from heteroscope.search.stream_search import search_stream, stream_fold

__all__ = [
    "JUDGES",
    "SELECTIONS",
    "Fold",
    "FoldResult",
    "Folds",
    "Logits",
    "Point",
    "Race",
    "Search",
    "bisect_transition",
    "check_share",
    "choose",
    "cross_validate",
    "held_out_fold",
    "held_out_scores",
    "make_folds",
    "refine_around",
    "results_table",
    "row_loss",
    "scale_for_all_rows",
    "search_diagonal",
    "search_grid",
    "search_stream",
    "share_of_more_members",
    "squared_score",
    "std_scale",
    "stream_fold",
]
