"""The fitted attributes that each regressor class declares, by name and kind.

`model_files` writes and reads exactly the attributes that a class declares in `fitted_fields`: a new class needs no new
code there.
"""

from enum import Enum, auto
from typing import TypeAlias


class FieldKind(Enum):
    """Kind of a fitted attribute, which decides how a model file holds it."""

    NUMBER = auto()  # float, but not NaN
    POSITIVE = auto()  # finite float above 0
    LIMIT = auto()  # float above 0, or infinity
    SHARE = auto()  # float between 0 and 1
    TARGET = auto()  # "none" or "log": what the networks predict
    INTEGER = auto()  # int of at least 0
    INTEGERS = auto()  # tuple of ints of at least 0
    NUMBERS = auto()  # tuple of floats
    NUMBERS_BY_NAME = auto()  # dictionary of floats
    COLUMNS = auto()  # dictionary of one-dimensional arrays, such as `cv_results_`
    FEATURE_NAMES = auto()  # array of strings; absent if the rows had no column names
    PHASE = auto()  # a `Phase`
    STATUSES = auto()  # tuple of `Status`, one per trained model
    OBSERVABLES = auto()  # `Observables`
    VERDICT = auto()  # `Verdict`, or None without held-out rows
    HELD_OUT_ROWS = auto()  # `HeldOutRows`, or None without held-out rows
    NETWORKS = auto()  # `Params` of all members, stacked
    SCALING = auto()  # `Scaling`
    NAMED_ARRAYS = auto()  # dictionary of float arrays that predictions need beside the networks
    ESTIMATORS = auto()  # list of fitted regressors


FittedFields: TypeAlias = dict[str, FieldKind]

#: What every fitted regressor has.
COMMON_FIELDS: FittedFields = {
    "n_features_in_": FieldKind.INTEGER,
    "feature_names_in_": FieldKind.FEATURE_NAMES,
    "phase_": FieldKind.PHASE,
    "status_": FieldKind.STATUSES,
    "observables_": FieldKind.OBSERVABLES,
    "n_iter_": FieldKind.INTEGER,
}
#: What a regressor with networks of its own has, too.
NETWORK_FIELDS: FittedFields = {**COMMON_FIELDS, "scaling_": FieldKind.SCALING, "members_": FieldKind.NETWORKS}
