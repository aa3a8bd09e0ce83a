"""A fitted model as plain data: what JSON can hold of it, and its arrays by name."""

import math
from typing import Any

import numpy as np

from heteroscope.baselines import EnsembleRegressor
from heteroscope.estimators import GaussianRegressor
from heteroscope.model_files.classes import is_known
from heteroscope.networks import Params


def describe(model: GaussianRegressor) -> dict[str, Any]:
    """Class, parameters and what was learned beside arrays; of an ensemble, its members described in the same way."""
    members = getattr(model, "estimators_", None)
    return {
        **_describe_unfitted(model),
        "fitted": {name: _plain(value) for name, value in _fitted(model).items()},
        **({} if members is None else {"members": [describe(member) for member in members]}),
    }


def _describe_unfitted(model: GaussianRegressor) -> dict[str, Any]:
    kept, left_out = {}, {}
    for name, value in model.get_params(deep=False).items():
        try:
            kept[name] = _describe_unfitted(value) if is_known(value) else _plain(value)
        except TypeError:
            left_out[name] = repr(value)
    return {"class": type(model).__name__, "parameters": kept, "parameters_left_out": left_out}


def _fitted(model: GaussianRegressor) -> dict[str, Any]:
    """What was learned beside the arrays and an ensemble's members."""
    elsewhere = ("members_", "scaling_", "arrays_", "estimators_")
    learned = {name: value for name, value in vars(model).items() if is_learned(name) and name not in elsewhere}
    return learned | {"observables_": model.observables_._asdict()}


def is_learned(name: str) -> bool:
    """scikit-learn's sign of what `fit` has found."""
    return name.endswith("_") and not name.startswith("_")


def _plain(value: Any) -> Any:
    """A value as JSON has it; a float that is not finite becomes text, which `float` and numpy read."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list | np.ndarray):
        return [_plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no JSON form")


def arrays_of(model: GaussianRegressor) -> dict[str, np.ndarray]:
    """`mean.0.weight`, ... of all members side by side, `scaling.x_centre`, ..., and `extra.` for what else there is.

    Of an ensemble's members the names begin with `members.0.`, `members.1.`, ...
    """
    if isinstance(model, EnsembleRegressor):
        return {
            f"members.{number}.{name}": array
            for number, member in enumerate(model.estimators_)
            for name, array in arrays_of(member).items()
        }
    arrays = {f"scaling.{name}": np.asarray(value, np.float64) for name, value in model.scaling_._asdict().items()}
    for network in Params._fields:
        for number, layer in enumerate(getattr(model.members_, network)):
            arrays |= {f"{network}.{number}.{name}": np.asarray(part) for name, part in layer._asdict().items()}
    return arrays | {f"extra.{name}": np.asarray(part) for name, part in getattr(model, "arrays_", {}).items()}
