"""Find the best (rho, gamma): cross-validate points of the diagonal rho = 1 - gamma or of the whole square."""

from heteroscope.search.around_point import enough_folds, search_around
from heteroscope.search.cross_validation import Logits, Point, cross_validate
from heteroscope.search.cv_results import SearchResult, held_out_scores, results_table
from heteroscope.search.diagonal_and_grid import MEMBERS_PER_FOLD, CandidateSearch, search_diagonal, search_grid
from heteroscope.search.folds import CrossValidation, Fold, check_share, held_out_fold, make_folds
from heteroscope.search.judging import judge_folds
from heteroscope.search.selection import SELECTIONS, row_loss
from heteroscope.search.std_calibration import final_std_scale, scale_for_all_rows, share_of_more_members, std_scale
from heteroscope.search.stream_search import search_stream, stream_fold
from heteroscope.search.tails import FAMILIES, check_family, choose_tails

__all__ = [
    "FAMILIES",
    "MEMBERS_PER_FOLD",
    "SELECTIONS",
    "CandidateSearch",
    "CrossValidation",
    "Fold",
    "Logits",
    "Point",
    "SearchResult",
    "check_family",
    "check_share",
    "choose_tails",
    "cross_validate",
    "enough_folds",
    "final_std_scale",
    "held_out_fold",
    "held_out_scores",
    "judge_folds",
    "make_folds",
    "results_table",
    "row_loss",
    "scale_for_all_rows",
    "search_around",
    "search_diagonal",
    "search_grid",
    "search_stream",
    "share_of_more_members",
    "std_scale",
    "stream_fold",
]
