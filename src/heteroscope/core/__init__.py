"""What every package uses: errors, status, progress, safe files, defaults and "auto" rules, grids, identities."""

from heteroscope.core import defaults
from heteroscope.core.auto_rules import (
    resolve_batch_size,
    resolve_diagram_batch_size,
    resolve_diagram_schedule,
    resolve_diagram_steps,
    resolve_folds,
    resolve_max_steps,
    resolve_schedule,
    resolve_stream_batch_size,
)
from heteroscope.core.errors import InputError, Parameter, check_positive_integer, error_text
from heteroscope.core.files import atomic_write, exclusive_folder, replace_folder
from heteroscope.core.grids import DIAGONAL_LOGITS, FIELD_GRID, NETWORK_GRID, PAPER_DIAGONAL, diagonal_logits
from heteroscope.core.identity import (
    REVISIONS,
    Identity,
    as_json,
    check_identity,
    given_arrays,
    identity_key,
    named_set,
    refuse_other_settings,
    same_identity,
    settings_of,
    table_file,
)
from heteroscope.core.progress import Progress, progress_bar, shifted
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
    "Parameter",
    "Progress",
    "Status",
    "Strengths",
    "alpha_beta",
    "as_json",
    "atomic_write",
    "check_identity",
    "check_positive_integer",
    "check_rho_gamma",
    "defaults",
    "diagonal_logits",
    "error_text",
    "exclusive_folder",
    "given_arrays",
    "identity_key",
    "logits",
    "logits_from_alpha_beta",
    "named_set",
    "progress_bar",
    "refuse_other_settings",
    "replace_folder",
    "resolve_batch_size",
    "resolve_diagram_batch_size",
    "resolve_diagram_schedule",
    "resolve_diagram_steps",
    "resolve_folds",
    "resolve_max_steps",
    "resolve_schedule",
    "resolve_stream_batch_size",
    "same_identity",
    "settings_of",
    "shifted",
    "strengths",
    "table_file",
]
