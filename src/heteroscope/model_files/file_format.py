"""The model file format: what `model.json` and `arrays.npz` hold of a fitted regressor, written and read.

Each regressor class declares its fitted attributes and their kinds in `fitted_fields`. Numbers, words and columns go
into `model.json`; networks, scaling and other arrays go into `arrays.npz`. `docs/model-files.md` lists all keys.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from heteroscope.baselines import BASELINES, EnsembleRegressor
from heteroscope.core import DamageError, InputError
from heteroscope.data import Scaling
from heteroscope.estimators import FieldKind, GaussianRegressor, HeteroskedasticRegressor, HeteroskedasticRegressorCV
from heteroscope.model_files.json_values import JSON_READERS, Json
from heteroscope.networks import Layer, Network, Params, check_architecture
from heteroscope.phases import Gain, HeldOut, NamedRow, Observables, Scores, Verdict

#: The only classes that a model file can name.
CLASSES: dict[str, type[GaussianRegressor]] = {
    known.__name__: known
    for known in (HeteroskedasticRegressor, HeteroskedasticRegressorCV, EnsembleRegressor, *BASELINES.values())
}
#: Kinds of fitted attributes that `arrays.npz` holds.
ARRAY_KINDS = (FieldKind.NETWORKS, FieldKind.SCALING, FieldKind.NAMED_ARRAYS)

Arrays: TypeAlias = dict[str, np.ndarray]


def refuse_unknown(model: object) -> None:
    """Raise an `InputError` if the model, or one of its members, is of a class that model files cannot name."""
    if not _is_known(model):
        raise InputError(f"a {type(model).__name__} cannot be saved: only {', '.join(CLASSES)} can")
    for member in getattr(model, "estimators_", ()):
        refuse_unknown(member)


def _is_known(value: object) -> bool:
    """Return whether this is an object of one of `CLASSES` itself, not of a subclass."""
    return CLASSES.get(type(value).__name__) is type(value)


# Write


def describe(model: GaussianRegressor) -> dict[str, Json]:
    """Return what `model.json` holds of a fitted model: class, parameters, and fitted attributes that are no arrays.

    A regressor that holds other regressors, such as `EnsembleRegressor`, has them under "members" in the same form.
    """
    description: dict[str, Json] = {**_describe_unfitted(model), "fitted": {}}
    for name, kind in _present_fields(model).items():
        if kind is FieldKind.ESTIMATORS:
            description["members"] = [describe(member) for member in getattr(model, name)]
        elif kind not in ARRAY_KINDS:
            description["fitted"][name] = _to_json(getattr(model, name))
    return description


def collect_arrays(model: GaussianRegressor) -> Arrays:
    """Return what `arrays.npz` holds of a fitted model.

    The names are `mean.0.weight`, ... for the networks of all members, `scaling.x_centre`, ... for the scaling and
    `extra.` before other arrays. Names of the arrays of nested regressors begin with `members.0.`, `members.1.`, ...
    """
    arrays: Arrays = {}
    for name, kind in _present_fields(model).items():
        value = getattr(model, name)
        if kind is FieldKind.SCALING:
            arrays |= {f"scaling.{part}": np.asarray(number, np.float64) for part, number in value._asdict().items()}
        elif kind is FieldKind.NETWORKS:
            for network in Params._fields:
                for number, layer in enumerate(getattr(value, network)):
                    arrays |= {f"{network}.{number}.{part}": np.asarray(a) for part, a in layer._asdict().items()}
        elif kind is FieldKind.NAMED_ARRAYS:
            arrays |= {f"extra.{part}": np.asarray(array) for part, array in value.items()}
        elif kind is FieldKind.ESTIMATORS:
            for number, member in enumerate(value):
                arrays |= {f"members.{number}.{part}": array for part, array in collect_arrays(member).items()}
    return arrays


def _present_fields(model: GaussianRegressor) -> dict[str, FieldKind]:
    """Return the declared fields without feature names if the model was fitted to rows without column names."""
    return {
        name: kind
        for name, kind in model.fitted_fields.items()
        if kind is not FieldKind.FEATURE_NAMES or hasattr(model, name)
    }


def _describe_unfitted(model: GaussianRegressor) -> dict[str, Json]:
    """Return class and constructor parameters; parameters that JSON cannot hold are listed as text."""
    kept, left_out = {}, {}
    for name, value in model.get_params(deep=False).items():
        try:
            kept[name] = _describe_unfitted(value) if _is_known(value) else _to_json(value)
        except TypeError:
            left_out[name] = repr(value)
    return {"class": type(model).__name__, "parameters": kept, "parameters_left_out": left_out}


def _to_json(value: object) -> Json:
    """Return the value as strict JSON; a float that is not finite becomes text, which `float` and numpy read."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, Observables | HeldOut | Verdict | Scores | Gain | NamedRow):
        value = value._asdict()
    if isinstance(value, dict):
        return {str(key): _to_json(item) for key, item in value.items()}
    if isinstance(value, tuple | list | np.ndarray):
        return [_to_json(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no JSON form")


# Read


def restore(state: Mapping[str, Json], arrays: Arrays) -> GaussianRegressor:
    """Return the fitted model that `describe` and `collect_arrays` have written; check each part.

    Raise a `DamageError`, or a `KeyError`, `TypeError`, `ValueError` or `AttributeError` for a part that is missing or
    of the wrong type.
    """
    model = _restore_unfitted(state)
    fitted: dict[str, Any] = {}
    for name, kind in model.fitted_fields.items():
        if kind is FieldKind.ESTIMATORS:
            fitted[name] = _restore_members(state["members"], arrays, fitted["n_features_in_"])
        elif kind in ARRAY_KINDS:
            fitted[name] = _ARRAY_READERS[kind](arrays)
        elif kind is not FieldKind.FEATURE_NAMES or name in state["fitted"]:
            fitted[name] = JSON_READERS[kind](state["fitted"][name])
    if _has_networks(type(model)):
        _check_shapes(fitted, model.n_second_outputs)
    for name, value in fitted.items():
        setattr(model, name, value)
    if FieldKind.NAMED_ARRAYS in model.fitted_fields.values():
        _check_prediction(model)
    return model


def _check_prediction(model: GaussianRegressor) -> None:
    """Raise a `DamageError` unless the model predicts the centre of its rows: its further arrays must fit them."""
    with np.errstate(all="ignore"):
        mean, std, *_ = model._combine(model.scaling_.x_centre[np.newaxis])
    if not (np.isfinite(mean).all() and np.isfinite(std).all() and (std > 0).all()):
        raise DamageError("its prediction at the centre of the rows is no number")


def _restore_unfitted(state: Mapping[str, Json]) -> GaussianRegressor:
    """Return the unfitted regressor with the parameters that were kept."""
    if state["class"] not in CLASSES:
        raise DamageError(f"it names the class {str(state['class'])[:40]!r}, which is not known")
    kind = CLASSES[state["class"]]
    parameters = {
        name: _restore_unfitted(value) if isinstance(value, dict) else value
        for name, value in state["parameters"].items()
    }
    if not _has_networks(kind):
        return kind(**parameters)
    # Predictions depend on these two, so their defaults cannot stand in for them.
    parameters |= {"hidden": tuple(parameters["hidden"]), "activation": parameters["activation"]}
    model = kind(**parameters)
    check_architecture(model.hidden, model.activation, model.start)
    return model


def _has_networks(kind: type[GaussianRegressor]) -> bool:
    """Return whether models of this class have networks of their own."""
    return FieldKind.NETWORKS in kind.fitted_fields.values()


def _restore_members(states: list[Json], arrays: Arrays, n_features: int) -> list[GaussianRegressor]:
    """Return the nested regressors, all of the same number of features."""
    members = []
    for number, state in enumerate(states):
        prefix = f"members.{number}."
        own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        members.append(restore(state, own))
    if not members or any(member.n_features_in_ != n_features for member in members):
        raise DamageError(f"it has no members, or members whose number of features is not {n_features}")
    return members


def _read_networks(arrays: Arrays) -> Params:
    return Params(*(_read_network(arrays, name) for name in Params._fields))


def _read_network(arrays: Arrays, name: str) -> Network:
    n_layers = sum(key.startswith(f"{name}.") and key.endswith(".weight") for key in arrays)
    return tuple(Layer(arrays[f"{name}.{k}.weight"], arrays[f"{name}.{k}.bias"]) for k in range(n_layers))


def _read_scaling(arrays: Arrays) -> Scaling:
    found: dict[str, Any] = {name: arrays[f"scaling.{name}"] for name in Scaling._fields}
    if not all(array.dtype == np.float64 and np.isfinite(array).all() for array in found.values()):
        raise DamageError("its scaling holds numbers that are not finite")
    if found["y_centre"].shape or found["y_scale"].shape or (found["x_low"] > found["x_high"]).any():
        raise DamageError("its scaling has other shapes, or a range without numbers")
    if not ((found["x_scale"] > 0).all() and found["y_scale"] > 0):
        raise DamageError("its scaling divides by a number that is not positive")
    return Scaling(**found | {name: float(found[name]) for name in ("y_centre", "y_scale")})


def _read_named_arrays(arrays: Arrays) -> Arrays:
    found = {name.removeprefix("extra."): array for name, array in arrays.items() if name.startswith("extra.")}
    if not found or not all(array.dtype.kind == "f" and np.isfinite(array).all() for array in found.values()):
        raise DamageError("its arrays beside the networks are missing or hold numbers that are not finite")
    if any(array.ndim == 0 and not array > 0 for array in found.values()):
        raise DamageError("a number beside the networks is not positive")
    return found


_ARRAY_READERS: dict[FieldKind, Callable[[Arrays], Any]] = {
    FieldKind.NETWORKS: _read_networks,
    FieldKind.SCALING: _read_scaling,
    FieldKind.NAMED_ARRAYS: _read_named_arrays,
}


def _check_shapes(fitted: dict[str, Any], n_second_outputs: int) -> None:
    """Raise a `DamageError` unless each layer fits the one before, from the features to the outputs.

    All layers must have the same number of members and finite single-precision numbers.
    """
    n_features, members, scaling = fitted["n_features_in_"], fitted["members_"], fitted["scaling_"]
    if any(part.shape != (n_features,) for part in (scaling.x_centre, scaling.x_scale, scaling.x_low, scaling.x_high)):
        raise DamageError(f"its scaling does not fit {n_features} features")
    if len(fitted.get("feature_names_in_", range(n_features))) != n_features:
        raise DamageError(f"its feature names do not fit {n_features} features")
    n_members = members.mean[0].weight.shape[0] if members.mean else 0
    for name, network, n_outputs in zip(Params._fields, members, (1, n_second_outputs), strict=True):
        width = n_features
        for layer in network:
            n_out = layer.weight.shape[-1]
            if layer.weight.shape != (n_members, width, n_out) or layer.bias.shape != (n_members, n_out):
                raise DamageError(f"the shapes of its {name} network do not fit each other")
            if not all(part.dtype == np.float32 and np.isfinite(part).all() for part in layer):
                raise DamageError(f"its {name} network holds numbers that are not finite or not single precision")
            width = n_out
        if n_members < 1 or not network or width != n_outputs:
            raise DamageError(f"its {name} network does not have {n_outputs} outputs")
