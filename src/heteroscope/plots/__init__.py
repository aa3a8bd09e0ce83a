"""Datasets -> matplotlib figures. Nothing here trains: what is drawn was handed over, averaged over seeds at most."""

from heteroscope.plots.diagonal import diagonal_figure
from heteroscope.plots.field import fold_figure
from heteroscope.plots.heatmaps import diagram_array
from heteroscope.plots.maps import phase_maps
from heteroscope.plots.overview import schematic
from heteroscope.plots.slices import diagonal_slices
from heteroscope.plots.style import save_figure

__all__ = [
    "diagonal_figure",
    "diagonal_slices",
    "diagram_array",
    "fold_figure",
    "phase_maps",
    "save_figure",
    "schematic",
]
