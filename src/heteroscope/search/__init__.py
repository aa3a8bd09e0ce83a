"""Find the best (rho, gamma): cross-validate points of the diagonal rho = 1 - gamma or of the whole square."""

from heteroscope.search.around_point import enough_folds, search_around
from heteroscope.search.conformal import (
    check_conformal,
    check_folds,
    conformal_of_folds,
    conformal_of_rows,
    refuse_unequal,
    set_aside,
)
from heteroscope.search.cross_validation import Logits, Point, cross_validate, stack_points
from heteroscope.search.cv_results import SearchResult, held_out_scores, results_table
from heteroscope.search.diagonal_and_grid import MEMBERS_PER_FOLD, CandidateSearch, search_diagonal, search_grid
from heteroscope.search.final_fit import FinalTails, final_tails, shared_points
from heteroscope.search.folded_rows import FoldedRows
from heteroscope.search.folds import CrossValidation, Fold, check_share, held_out_fold, held_rows, make_folds
from heteroscope.search.judging import held_out_rows, judge_folds
from heteroscope.search.plan import LENGTHS, SEARCHES, SearchPlan, check_plan, search_by_plan
from heteroscope.search.selection import SELECTIONS, row_loss
from heteroscope.search.std_calibration import final_std_scale, scale_for_all_rows, share_of_more_members, std_scale
from heteroscope.search.stream_search import StreamSearch, search_stream, stream_fold
from heteroscope.search.tails import FAMILIES, check_family, choose_tails
from heteroscope.search.target_scale import TARGETS, check_target, choose_target, held_moments, may_need_logarithm

__all__ = [
    "FAMILIES",
    "LENGTHS",
    "MEMBERS_PER_FOLD",
    "SEARCHES",
    "SELECTIONS",
    "TARGETS",
    "CandidateSearch",
    "CrossValidation",
    "FinalTails",
    "Fold",
    "FoldedRows",
    "Logits",
    "Point",
    "SearchPlan",
    "SearchResult",
    "StreamSearch",
    "check_conformal",
    "check_family",
    "check_folds",
    "check_plan",
    "check_share",
    "check_target",
    "choose_tails",
    "choose_target",
    "conformal_of_folds",
    "conformal_of_rows",
    "cross_validate",
    "enough_folds",
    "final_std_scale",
    "final_tails",
    "held_moments",
    "held_out_fold",
    "held_out_rows",
    "held_out_scores",
    "held_rows",
    "judge_folds",
    "make_folds",
    "may_need_logarithm",
    "refuse_unequal",
    "results_table",
    "row_loss",
    "scale_for_all_rows",
    "search_around",
    "search_by_plan",
    "search_diagonal",
    "search_grid",
    "search_stream",
    "set_aside",
    "share_of_more_members",
    "shared_points",
    "stack_points",
    "std_scale",
    "stream_fold",
]
