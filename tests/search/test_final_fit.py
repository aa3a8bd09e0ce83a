"""What a final fit takes from a search: points that tie share its members, and few held-out rows are little trusted."""

import numpy as np
import pytest

from heteroscope.data.rows import Rows
from heteroscope.search import FoldedRows, SearchResult, final_tails, shared_points
from heteroscope.search.final_fit import MOST_NEAR
from heteroscope.search.std_calibration import scale_for_all_rows, share_of_more_members
from tests.search.made_up_points import FOLDS, ROWS, point

POINTS = [point(t, 1.0) for t in range(6)]


@pytest.mark.parametrize(
    ("near", "n_members", "expected"),
    [((), 5, (4,)), ((4,), 5, (4,)), ((4, 1), 5, (4, 1)), ((4, 1, 0, 2), 5, (4, 1, 0)), ((4, 1, 0), 1, (4,))],
)
def test_the_chosen_point_comes_first_and_few_points_share_the_members(near, n_members, expected):
    assert shared_points(SearchResult(POINTS, 4, near), n_members) == expected
    assert len(expected) <= MOST_NEAR


def test_tails_of_the_final_fit_are_corrected_for_more_rows_and_members():
    data = FoldedRows(ROWS, FOLDS)
    wide = point(0, 0.5)  # the std of the folds is too small by half
    tails = final_tails(wide, data, data, "gaussian", n_members=5)
    assert tails.fold_scale == pytest.approx(2.0, abs=0.15)
    assert np.isinf(tails.df)
    more = share_of_more_members(wide, FOLDS, 5)
    corrected = scale_for_all_rows(more * tails.fold_scale, 0.5)
    assert corrected < tails.std_scale < tails.fold_scale
    assert tails.std_scale == pytest.approx(corrected, rel=0.1), "400 held-out rows are trusted"


def test_a_wild_held_out_row_widens_the_tails_but_corrects_nothing():
    wild = ROWS._replace(y=np.where(np.arange(len(ROWS.y)) == 7, 60.0, ROWS.y))
    folds = [
        fold._replace(held=Rows(part.x, part.y, part.weight)) for fold, part in zip(FOLDS, _halves(wild), strict=True)
    ]
    data = FoldedRows(wild, folds)
    tamed = data.without_wild_targets()
    tails = final_tails(point(0, 1.0), data, tamed, "auto", n_members=5)
    assert tails.df < 30
    plain = final_tails(point(0, 1.0), FoldedRows(ROWS, FOLDS), FoldedRows(ROWS, FOLDS), "auto", n_members=5)
    assert tails.fold_scale > plain.fold_scale


def _halves(rows):
    return rows.take(np.arange(200)), rows.take(np.arange(200, 400))
