"""Phase diagrams: Datasets of networks or of the field theory over (rho, gamma)."""

from heteroscope.diagrams.bayesian import posterior_diagram
from heteroscope.diagrams.dataset import (
    CELL,
    PHASES,
    diagonal_cells,
    majority_phase,
    over_seeds,
    std_over_seeds,
    without_rows,
)
from heteroscope.diagrams.label_agreement import agreement
from heteroscope.diagrams.resumable_store import CODES, decode_words, encode_words, open_diagram
from heteroscope.diagrams.sweep import phase_diagram
from heteroscope.diagrams.theory import field_diagram

__all__ = [
    "CELL",
    "CODES",
    "PHASES",
    "agreement",
    "decode_words",
    "diagonal_cells",
    "encode_words",
    "field_diagram",
    "majority_phase",
    "open_diagram",
    "over_seeds",
    "phase_diagram",
    "posterior_diagram",
    "std_over_seeds",
    "without_rows",
]
