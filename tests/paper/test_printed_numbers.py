"""The paper's two tables against each other: the small one is the large one rounded, but for two known places."""

import pytest

from heteroscope.paper.printed_numbers import LARGE, SMALL

# Yacht's means are ten times apart; of housing the spread alone, printed as 2.0e4 and 1985.56.
CONTRADICTIONS = {("yacht", "mean_mse", "beta-NLL"), ("yacht", "std_mse", "beta-NLL")}
WRONG_SPREADS = {("housing", "mean_mse", "beta-NLL"), ("housing", "std_mse", "beta-NLL")}
CELLS = [(data, metric, method) for data, rows in SMALL.items() for metric, row in rows.items() for method in row]


def read(text):
    return tuple(float(part) for part in text.split(" ± "))


def agrees(small, large):
    return abs(small - large) <= max(0.0051, 0.05 * abs(large))


@pytest.mark.parametrize("cell", CELLS, ids=" ".join)
def test_the_small_table_is_the_large_one_rounded(cell):
    data, metric, method = cell
    small, large = read(SMALL[data][metric][method]), read(LARGE[data][metric][method])
    assert agrees(small[0], large[0]) == (cell not in CONTRADICTIONS)
    assert agrees(small[1], large[1]) == (cell not in WRONG_SPREADS)


def test_solar_flux_repeats_the_baselines_of_curve():
    for method in ("beta-NLL", "MLE ensemble"):
        assert LARGE["solar flux"]["mean_mse"][method] == LARGE["curve"]["mean_mse"][method]
