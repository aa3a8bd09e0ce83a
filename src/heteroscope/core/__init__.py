"""Words that every package shares: errors, status, progress, files, settings, identity."""

from heteroscope.core import defaults
from heteroscope.core.errors import InputError, cause, positive_integer
from heteroscope.core.files import claimed, replacing, whole
from heteroscope.core.grids import DIAGONAL_LOGITS, FIELD_GRID, NETWORK_GRID, PAPER_DIAGONAL, bisect, diagonal, refine
from heteroscope.core.identity import (
    REVISIONS,
    Identity,
    checked,
    given_arrays,
    key,
    named_set,
    plain,
    refuse_other,
    same,
    settings_of,
    table_file,
)
from heteroscope.core.progress import Progress, progress_bar
from heteroscope.core.regularisation import (
    Strengths,
    alpha_beta,
    check_rho_gamma,
    logits,
    logits_from_alpha_beta,
    strengths,
)
from heteroscope.core.status import Status

__all__ = [
    "DIAGONAL_LOGITS",
    "FIELD_GRID",
    "NETWORK_GRID",
    "PAPER_DIAGONAL",
    "REVISIONS",
    "Identity",
    "InputError",
    "Progress",
    "Status",
    "Strengths",
    "alpha_beta",
    "bisect",
    "cause",
    "check_rho_gamma",
    "checked",
    "claimed",
    "defaults",
    "diagonal",
    "given_arrays",
    "key",
    "logits",
    "logits_from_alpha_beta",
    "named_set",
    "plain",
    "positive_integer",
    "progress_bar",
    "refine",
    "refuse_other",
    "replacing",
    "same",
    "settings_of",
    "strengths",
    "table_file",
    "whole",
]
