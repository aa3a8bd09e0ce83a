"""Compare methods: fit and score every method on every split of data sets, and summarise and rank the scores."""

from heteroscope.comparison.fit_records import SCORES
from heteroscope.comparison.leaderboard import (
    LEADERBOARD_METHODS,
    MAX_TRAIN,
    extend_leaderboard,
    read_leaderboard,
)
from heteroscope.comparison.leaderboard_page import leaderboard_tables
from heteroscope.comparison.paired_differences import PairedDifference, detectable_ratio, paired_difference
from heteroscope.comparison.ranking import (
    Ranking,
    compare_with_first,
    critical_difference,
    holm,
    rank_methods,
)
from heteroscope.comparison.run_comparison import N_SPLITS, compare
from heteroscope.comparison.standings import RANKED_SCORES, Standings, mean_scores, standings
from heteroscope.comparison.summaries import cell_texts, markdown, summary

__all__ = [
    "LEADERBOARD_METHODS",
    "MAX_TRAIN",
    "N_SPLITS",
    "RANKED_SCORES",
    "SCORES",
    "PairedDifference",
    "Ranking",
    "Standings",
    "cell_texts",
    "compare",
    "compare_with_first",
    "critical_difference",
    "detectable_ratio",
    "extend_leaderboard",
    "holm",
    "leaderboard_tables",
    "markdown",
    "mean_scores",
    "paired_difference",
    "rank_methods",
    "read_leaderboard",
    "standings",
    "summary",
]
