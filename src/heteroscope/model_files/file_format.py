"""The classes whose models can be kept: no folder can name another."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from heteroscope.baselines import (
    BASELINES,
    BaselineRegressor,
    EnsembleRegressor,
    NaturalLaplaceRegressor,
    TrainedRegressor,
)
from heteroscope.core import InputError, Status
from heteroscope.data import Scaling
from heteroscope.estimators import (
    GaussianRegressor,
    HeteroskedasticRegressor,
    HeteroskedasticRegressorCV,
    PointRegressor,
)
from heteroscope.networks import Layer, Network, Params, check_architecture
from heteroscope.phases import Observables, Phase

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


#: What says where a model stands, each with the form that it has in memory; a class has some of them.
_WHERE: dict[str, Callable[[Any], Any]] = {
    "rho_": float,
    "gamma_": float,
    "std_scale_": float,
    "widest_std_": float,
    "held_out_scores_": lambda scores: {name: float(value) for name, value in scores.items()},
    "weight_decay_": float,
    "log_evidence_": float,
    "prior_precisions_": lambda values: tuple(float(value) for value in values),
}


class DamageError(Exception):
    """What is wrong with a model folder, in a few words."""


def restore(state: dict[str, Any], arrays: dict[str, np.ndarray]) -> GaussianRegressor:
    """The fitted model; a `DamageError`, or what Python says of a part that is missing or of another kind."""
    model = _restore_unfitted(state)
    fitted = {name: value for name, value in state["fitted"].items() if is_learned(name)}
    observables: dict[str, Any] = {
        name: value if value is None else float(value) for name, value in fitted["observables_"].items()
    }
    fitted |= {name: _WHERE[name](fitted[name]) for name in _where(model)}
    fitted |= {
        "phase_": str(Phase(fitted["phase_"])),
        "status_": tuple(Status(status) for status in fitted["status_"]),
        "observables_": Observables(**observables),
    }
    if "feature_names_in_" in fitted:
        fitted["feature_names_in_"] = np.array(fitted["feature_names_in_"], dtype=object)
    for table in ("cv_results_", "trials_"):
        if table in fitted:
            fitted[table] = {name: _column(values) for name, values in fitted[table].items()}
    if isinstance(model, EnsembleRegressor):
        fitted["estimators_"] = _restore_members(state["members"], arrays, fitted["n_features_in_"])
    else:
        fitted |= {"members_": _members(arrays), "scaling_": _scaling(arrays)}
        _check_shapes(fitted, model.outputs_wanted() if isinstance(model, TrainedRegressor) else 1)
        if isinstance(model, TrainedRegressor) and model.keeps_arrays:
            fitted["arrays_"] = _extra(arrays)
    for name, value in fitted.items():
        setattr(model, name, value)
    return model


def _restore_unfitted(state: dict[str, Any]) -> GaussianRegressor:
    if state["class"] not in CLASSES:
        raise DamageError(f"it names the class {state['class']!r}, and only {', '.join(CLASSES)} are known")
    parameters = {
        name: _restore_unfitted(value) if isinstance(value, dict) else value
        for name, value in state["parameters"].items()
    }
    kind = CLASSES[state["class"]]
    if kind is EnsembleRegressor:
        return kind(**parameters)
    parameters |= {"hidden": tuple(parameters["hidden"]), "activation": parameters["activation"]}
    model = kind(**parameters)
    check_architecture(model.hidden, model.activation, model.start)
    return model


def _where(model: GaussianRegressor) -> tuple[str, ...]:
    """The numbers of `_WHERE` that a model must have."""
    if isinstance(model, HeteroskedasticRegressorCV):
        return ("rho_", "gamma_", "std_scale_", "widest_std_", "held_out_scores_")
    if isinstance(model, PointRegressor):
        return ("rho_", "gamma_", "std_scale_")
    if isinstance(model, NaturalLaplaceRegressor):
        return ("prior_precisions_", "log_evidence_")
    return ("weight_decay_",) if isinstance(model, BaselineRegressor) else ()


def _restore_members(states: list[dict[str, Any]], arrays: dict[str, np.ndarray], n_features: int) -> list[Any]:
    members = []
    for number, state in enumerate(states):
        prefix = f"members.{number}."
        own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        members.append(restore(state, own))
    if not members or any(member.n_features_in_ != n_features for member in members):
        raise DamageError(f"its members are none, or not all of {n_features} features")
    return members


def _extra(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    found = {name.removeprefix("extra."): array for name, array in arrays.items() if name.startswith("extra.")}
    if not found or not all(array.dtype.kind == "f" and np.isfinite(array).all() for array in found.values()):
        raise DamageError("what it keeps beside its networks is missing or holds other things than finite numbers")
    return found


def _column(values: list[Any]) -> np.ndarray:
    """Integers, floats (the infinite ones as text) or, where text is no number, words."""
    if values and all(isinstance(value, int) for value in values):
        return np.array(values)
    try:
        return np.array([float(value) for value in values])
    except ValueError:
        return np.array(values)


def _members(arrays: dict[str, np.ndarray]) -> Params:
    return Params(*(_network(arrays, name) for name in Params._fields))


def _network(arrays: dict[str, np.ndarray], name: str) -> Network:
    n_layers = sum(key.startswith(f"{name}.") and key.endswith(".weight") for key in arrays)
    return tuple(Layer(arrays[f"{name}.{k}.weight"], arrays[f"{name}.{k}.bias"]) for k in range(n_layers))


def _scaling(arrays: dict[str, np.ndarray]) -> Scaling:
    found = {name: arrays[f"scaling.{name}"] for name in Scaling._fields}
    return Scaling(found["x_centre"], found["x_scale"], float(found["y_centre"]), float(found["y_scale"]))


def _check_shapes(fitted: dict[str, Any], outputs: int) -> None:
    """Layers must chain from the features to the outputs, for one number of members, in finite single precision."""
    n_features, members, scaling = fitted["n_features_in_"], fitted["members_"], fitted["scaling_"]
    if not scaling.x_centre.shape == scaling.x_scale.shape == (n_features,):
        raise DamageError(f"its scaling does not fit {n_features} features")
    if len(fitted.get("feature_names_in_", range(n_features))) != n_features:
        raise DamageError(f"its feature names do not fit {n_features} features")
    n_members = members.mean[0].weight.shape[0] if members.mean else 0
    for name, network, n_outputs in zip(Params._fields, members, (1, outputs), strict=True):
        width = n_features
        for layer in network:
            n_out = layer.weight.shape[-1]
            if layer.weight.shape != (n_members, width, n_out) or layer.bias.shape != (n_members, n_out):
                raise DamageError(f"the shapes of its {name} network do not fit each other")
            if not all(part.dtype == np.float32 and np.isfinite(part).all() for part in layer):
                raise DamageError(f"its {name} network holds other things than finite single-precision numbers")
            width = n_out
        if n_members < 1 or not network or width != n_outputs:
            raise DamageError(f"its {name} network has not the {n_outputs} outputs that it should have")
