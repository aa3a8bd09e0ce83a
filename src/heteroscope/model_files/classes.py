"""The classes whose models can be kept: no folder can name another."""

from typing import Any

from heteroscope.baselines import BASELINES, EnsembleRegressor
from heteroscope.core import InputError
from heteroscope.estimators import GaussianRegressor, HeteroskedasticRegressor, HeteroskedasticRegressorCV

#: The only classes that a model folder can name.
CLASSES: dict[str, type[GaussianRegressor]] = {
    known.__name__: known
    for known in (HeteroskedasticRegressor, HeteroskedasticRegressorCV, EnsembleRegressor, *BASELINES.values())
}


def refuse_unknown(model: Any) -> None:
    """One line for a model that cannot be kept, or one of whose members cannot."""
    if not is_known(model):
        raise InputError(f"a {type(model).__name__} cannot be saved: only {', '.join(CLASSES)} can")
    for member in getattr(model, "estimators_", ()):
        refuse_unknown(member)


def is_known(value: Any) -> bool:
    """True for an object of one of these classes, not of a subclass."""
    return CLASSES.get(type(value).__name__) is type(value)
