"""Compare methods: fit and score every method on every split of a data set, and summarise the scores in a table."""

from heteroscope.comparison.fit_records import SCORES
from heteroscope.comparison.run_comparison import N_SPLITS, compare
from heteroscope.comparison.summaries import cell_texts, markdown, summary

__all__ = [
    "N_SPLITS",
    "SCORES",
    "cell_texts",
    "compare",
    "markdown",
    "summary",
]
