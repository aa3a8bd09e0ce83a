"""Phase diagrams: Datasets of networks or of the field theory over (rho, gamma)."""

from heteroscope.diagrams.bayesian import posterior_diagram
from heteroscope.diagrams.dataset import (
    CELL,
    FIVE_PHASES,
    KINDS,
    PHASES,
    S_ADAPTS,
    S_CONSTANT,
    diagonal_cells,
    kinds,
    majority_kind,
    majority_phase,
    over_seeds,
    std_over_seeds,
    without_rows,
)
from heteroscope.diagrams.label_agreement import Agreement, agreement
from heteroscope.diagrams.relabelling import relabel
from heteroscope.diagrams.resumable_store import CODES, decode_words, encode_words, open_diagram
from heteroscope.diagrams.sweep import phase_diagram
from heteroscope.diagrams.theory import field_diagram

__all__ = [
    "CELL",
    "CODES",
    "FIVE_PHASES",
    "KINDS",
    "PHASES",
    "S_ADAPTS",
    "S_CONSTANT",
    "Agreement",
    "agreement",
    "decode_words",
    "diagonal_cells",
    "encode_words",
    "field_diagram",
    "kinds",
    "majority_kind",
    "majority_phase",
    "open_diagram",
    "over_seeds",
    "phase_diagram",
    "posterior_diagram",
    "relabel",
    "std_over_seeds",
    "without_rows",
]
