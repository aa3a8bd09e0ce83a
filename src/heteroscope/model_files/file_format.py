"""The model file format: what `model.json` and `arrays.npz` hold of a fitted regressor, written and read.

Each regressor class declares its fitted attributes and their kinds in `fitted_fields`. Numbers, words and columns go
into `model.json`; networks, scaling and other arrays go into `arrays.npz`. `docs/model-files.md` lists all keys.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from heteroscope.baselines import BASELINES, EnsembleRegressor
from heteroscope.core import DamageError, InputError
from heteroscope.estimators import FieldKind, GaussianRegressor, HeteroskedasticRegressor, HeteroskedasticRegressorCV
from heteroscope.model_files.array_format import Arrays, Json, check_shapes, read_networks, read_scaling
from heteroscope.model_files.json_values import JSON_READERS
from heteroscope.networks import Params, check_architecture
from heteroscope.phases import Gain, HeldOut, HeldOutRows, NamedRow, Observables, Scores, Verdict

#: The only classes that a model file can name.
CLASSES: dict[str, type[GaussianRegressor]] = {
    known.__name__: known
    for known in (HeteroskedasticRegressor, HeteroskedasticRegressorCV, EnsembleRegressor, *BASELINES.values())
}
#: Kinds of fitted attributes that `arrays.npz` holds.
ARRAY_KINDS = (FieldKind.NETWORKS, FieldKind.SCALING, FieldKind.NAMED_ARRAYS, FieldKind.HELD_OUT_ROWS)


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
        elif kind is FieldKind.HELD_OUT_ROWS and value is not None:
            columns = {part: column for part, column in value._asdict().items() if column is not None}
            arrays |= {f"held_out.{part}": np.asarray(column, np.float64) for part, column in columns.items()}
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
        names = fitted.get("feature_names_in_")
        check_shapes(fitted["members_"], fitted["scaling_"], fitted["n_features_in_"], names, model.n_second_outputs)
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


def _read_named_arrays(arrays: Arrays) -> Arrays:
    found = {name.removeprefix("extra."): array for name, array in arrays.items() if name.startswith("extra.")}
    if not found or not all(array.dtype.kind == "f" and np.isfinite(array).all() for array in found.values()):
        raise DamageError("its arrays beside the networks are missing or hold numbers that are not finite")
    if any(array.ndim == 0 and not array > 0 for array in found.values()):
        raise DamageError("a number beside the networks is not positive")
    return found


def _read_held_out_rows(arrays: Arrays) -> HeldOutRows | None:
    """Return the held-out rows, or None if the model has none."""
    found = {name.removeprefix("held_out."): array for name, array in arrays.items() if name.startswith("held_out.")}
    if not found:
        return None
    columns: dict[str, Any] = {name: found.get(name) for name in HeldOutRows._fields}
    if columns["number"] is None:
        del columns["number"]
    if any(column is None or column.shape != found["y"].shape for column in columns.values()):
        raise DamageError("the columns of its held-out rows are missing or of different lengths")
    if columns["y"].ndim != 1 or not len(columns["y"]):
        raise DamageError("its held-out rows are no columns")
    if not all(np.isfinite(columns[name]).all() for name in columns if name not in ("mean", "std")):
        raise DamageError("its held-out rows hold numbers that are not finite")  # a failed model may predict such ones
    if (columns["std"] <= 0).any() or not (columns["weight"] >= 0).all() or not columns["weight"].any():
        raise DamageError("its held-out rows have a std or a weight that is not positive")
    for name in {"fold", "number"} & set(columns):
        if not ((columns[name] >= 0) & (columns[name] < 2**53) & (columns[name] % 1 == 0)).all():
            raise DamageError(f"the {name} of a held-out row is no whole number of at least 0")
        columns[name] = columns[name].astype(np.int64)
    return HeldOutRows(**columns)


_ARRAY_READERS: dict[FieldKind, Callable[[Arrays], Any]] = {
    FieldKind.NETWORKS: read_networks,
    FieldKind.SCALING: read_scaling,
    FieldKind.NAMED_ARRAYS: _read_named_arrays,
    FieldKind.HELD_OUT_ROWS: _read_held_out_rows,
}
