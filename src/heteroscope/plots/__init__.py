"""Draw phase diagrams, fits and searches as matplotlib figures. Nothing is trained or scored here."""

from heteroscope.plots.cells import edges
from heteroscope.plots.explanations import (
    calibration_figure,
    driver_figure,
    effect_figure,
    interval_figure,
    residual_figure,
    search_figure,
)
from heteroscope.plots.fold import fold_figure
from heteroscope.plots.heatmaps import diagram_array
from heteroscope.plots.maps import phase_maps
from heteroscope.plots.overview import schematic
from heteroscope.plots.penalty_law import penalty_law_figure
from heteroscope.plots.posteriors import epistemic_figure, evidence_figure, posterior_figure, posterior_maps
from heteroscope.plots.ranking import critical_difference_figure, score_time_figure
from heteroscope.plots.search_path import diagonal_figure
from heteroscope.plots.search_regret import search_regret_figure
from heteroscope.plots.slices import diagonal_slices
from heteroscope.plots.style import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    PALE,
    PHASE_COLOURS,
    PURPLE,
    SKY,
    VERMILION,
    house_style,
    logit_axis,
    new_figure,
    plain_log_axis,
    save_figure,
)

__all__ = [
    "BLUE",
    "GREY",
    "INK",
    "ORANGE",
    "PALE",
    "PHASE_COLOURS",
    "PURPLE",
    "SKY",
    "VERMILION",
    "calibration_figure",
    "critical_difference_figure",
    "diagonal_figure",
    "diagonal_slices",
    "diagram_array",
    "driver_figure",
    "edges",
    "effect_figure",
    "epistemic_figure",
    "evidence_figure",
    "fold_figure",
    "house_style",
    "interval_figure",
    "logit_axis",
    "new_figure",
    "penalty_law_figure",
    "phase_maps",
    "plain_log_axis",
    "posterior_figure",
    "posterior_maps",
    "residual_figure",
    "save_figure",
    "schematic",
    "score_time_figure",
    "search_figure",
    "search_regret_figure",
]
