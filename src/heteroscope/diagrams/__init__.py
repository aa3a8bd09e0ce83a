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
from heteroscope.diagrams.dressed_theory import dressed_diagram, mean_jump, ramp_onset
from heteroscope.diagrams.label_agreement import Agreement, agreement
from heteroscope.diagrams.network_penalties import (
    choose_for_rows,
    measured_laws,
    network_penalties,
    predicted_point,
)
from heteroscope.diagrams.penalty_law import PenaltyLaw, cells_that_count, fit_penalty_law, penalty_table
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
    "PenaltyLaw",
    "agreement",
    "cells_that_count",
    "choose_for_rows",
    "decode_words",
    "diagonal_cells",
    "dressed_diagram",
    "encode_words",
    "field_diagram",
    "fit_penalty_law",
    "kinds",
    "majority_kind",
    "majority_phase",
    "mean_jump",
    "measured_laws",
    "network_penalties",
    "open_diagram",
    "over_seeds",
    "penalty_table",
    "phase_diagram",
    "posterior_diagram",
    "predicted_point",
    "ramp_onset",
    "relabel",
    "std_over_seeds",
    "without_rows",
]
