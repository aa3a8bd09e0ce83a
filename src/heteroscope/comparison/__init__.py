"""Methods side by side: every method on every split of a data set, one record each, and one table of them all."""

from heteroscope.baselines import METHODS, choose_methods, left_out
from heteroscope.comparison.fit_records import SCORES
from heteroscope.comparison.run_comparison import N_SPLITS, compare
from heteroscope.comparison.summaries import cell_texts, markdown, summary

__all__ = [
    "METHODS",
    "N_SPLITS",
    "SCORES",
    "cell_texts",
    "choose_methods",
    "compare",
    "left_out",
    "markdown",
    "summary",
]
