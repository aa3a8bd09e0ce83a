"""Fitted models on disk: a folder with `model.json` and `arrays.npz`, never pickle; `docs/model-files.md` describes it.

A folder is written beside its place and then renamed, so that a crash leaves the old model or the new one, no mixture.
"""

import hashlib
import io
import json
import math
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from heteroscope.baselines import (
    BASELINES,
    BaselineRegressor,
    EnsembleRegressor,
    NaturalLaplaceRegressor,
    TrainedRegressor,
)
from heteroscope.datasets.tables import TableEncoder
from heteroscope.errors import InputError, cause
from heteroscope.estimators import HeteroskedasticRegressor, HeteroskedasticRegressorCV, PointRegressor
from heteroscope.gaussian import GaussianRegressor
from heteroscope.networks import Layer, Network, Params, check_architecture
from heteroscope.phases import Observables, Phase
from heteroscope.scaling import Scaling
from heteroscope.status import Status

FORMAT = 1
DESCRIPTION, ARRAYS = "model.json", "arrays.npz"
#: The only classes that a model folder can name.
CLASSES: dict[str, type[GaussianRegressor]] = {
    known.__name__: known
    for known in (HeteroskedasticRegressor, HeteroskedasticRegressorCV, EnsembleRegressor, *BASELINES.values())
}
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


class Bundle(NamedTuple):
    """A model folder's content: the fitted estimator, the encoder of the table it came from, who wrote it."""

    model: GaussianRegressor
    encoder: TableEncoder | None
    version: str


def save_model(model: GaussianRegressor, folder: str | Path, encoder: TableEncoder | None = None) -> Path:
    """Write a fitted estimator, and the encoder of its table if there is one, as a model folder.

    A constructor parameter that JSON cannot hold (a `RandomState`, a splitter object) is noted, not kept: the loaded
    model has that parameter's default. What was learned is kept to the last bit.
    """
    _refuse_unknown(model)
    check_is_fitted(model)
    folder = check_destination(folder)
    packed = _pack(_arrays(model))
    text = json.dumps(_describe(model, encoder, packed), indent=1, ensure_ascii=False, allow_nan=False)
    with _replacing(folder) as fresh:
        (fresh / ARRAYS).write_bytes(packed)
        (fresh / DESCRIPTION).write_text(text + "\n", encoding="utf-8")
    return folder


def load_model(folder: str | Path) -> GaussianRegressor:
    """The fitted estimator of a model folder; it predicts what the saved one did, bit for bit."""
    return load_bundle(folder).model


def load_bundle(folder: str | Path) -> Bundle:
    """All that a model folder holds; a damaged or newer one gets an error of one line."""
    folder = Path(folder)
    state = _read_description(folder)
    try:
        arrays = _unpack((folder / ARRAYS).read_bytes(), state["arrays_sha256"])
        model = _restore(state, arrays)
        encoder = None if state["encoder"] is None else TableEncoder.from_dict(state["encoder"])
        return Bundle(model, encoder, str(state["version"]))
    except FileNotFoundError as error:
        raise InputError(f"{folder} has no {ARRAYS}: copy the whole model folder, or fit again") from error
    except (_DamageError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"{folder} is damaged ({_cause(error)}): copy it again, or fit again") from error


def check_destination(folder: str | Path) -> Path:
    """Where a model may be written: nowhere yet, an empty folder or another model's; what holds more is refused."""
    folder = Path(folder).resolve()
    if not folder.exists():
        return folder
    if not folder.is_dir():
        raise InputError(f"{folder} is a file: name a folder for the model")
    entries = {entry.name for entry in folder.iterdir()}
    foreign = sorted(entries - {DESCRIPTION, ARRAYS})
    if foreign:
        raise InputError(f"{folder} holds other files ({foreign[0]}) and is not overwritten: name another folder")
    if entries:
        try:
            _read_description(folder)
        except InputError as error:
            raise InputError(f"{folder} is no whole model folder and is not overwritten: remove it first") from error
    return folder


def _refuse_unknown(model: Any) -> None:
    if not _is_known(model):
        raise InputError(f"a {type(model).__name__} cannot be saved: only {', '.join(CLASSES)} can")
    for member in getattr(model, "estimators_", ()):
        _refuse_unknown(member)


def _is_known(value: Any) -> bool:
    return CLASSES.get(type(value).__name__) is type(value)


class _DamageError(Exception):
    """What is wrong with a model folder, in a few words."""


def _describe(model: GaussianRegressor, encoder: TableEncoder | None, packed: bytes) -> dict[str, Any]:
    return {
        "heteroscope_model": FORMAT,
        "version": version("heteroscope"),
        **_describe_one(model),
        "encoder": None if encoder is None else encoder.to_dict(),
        "arrays_sha256": hashlib.sha256(packed).hexdigest(),
    }


def _describe_one(model: GaussianRegressor) -> dict[str, Any]:
    """Class, parameters and what was learned beside arrays; of an ensemble, its members described in the same way."""
    members = getattr(model, "estimators_", None)
    return {
        **_describe_unfitted(model),
        "fitted": {name: _plain(value) for name, value in _fitted(model).items()},
        **({} if members is None else {"members": [_describe_one(member) for member in members]}),
    }


def _describe_unfitted(model: GaussianRegressor) -> dict[str, Any]:
    kept, left_out = {}, {}
    for name, value in model.get_params(deep=False).items():
        try:
            kept[name] = _describe_unfitted(value) if _is_known(value) else _plain(value)
        except TypeError:
            left_out[name] = repr(value)
    return {"class": type(model).__name__, "parameters": kept, "parameters_left_out": left_out}


def _fitted(model: GaussianRegressor) -> dict[str, Any]:
    """What was learned beside the arrays and an ensemble's members."""
    elsewhere = ("members_", "scaling_", "arrays_", "estimators_")
    learned = {name: value for name, value in vars(model).items() if _is_learned(name) and name not in elsewhere}
    return learned | {"observables_": model.observables_._asdict()}


def _is_learned(name: str) -> bool:
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


def _arrays(model: GaussianRegressor) -> dict[str, np.ndarray]:
    """`mean.0.weight`, ... of all members side by side, `scaling.x_centre`, ..., and `extra.` for what else there is.

    Of an ensemble's members the names begin with `members.0.`, `members.1.`, ...
    """
    if isinstance(model, EnsembleRegressor):
        return {
            f"members.{number}.{name}": array
            for number, member in enumerate(model.estimators_)
            for name, array in _arrays(member).items()
        }
    arrays = {f"scaling.{name}": np.asarray(value, np.float64) for name, value in model.scaling_._asdict().items()}
    for network in Params._fields:
        for number, layer in enumerate(getattr(model.members_, network)):
            arrays |= {f"{network}.{number}.{name}": np.asarray(part) for name, part in layer._asdict().items()}
    return arrays | {f"extra.{name}": np.asarray(part) for name, part in getattr(model, "arrays_", {}).items()}


def _pack(arrays: dict[str, np.ndarray]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _unpack(packed: bytes, digest: str) -> dict[str, np.ndarray]:
    if hashlib.sha256(packed).hexdigest() != digest:
        raise _DamageError(f"{ARRAYS} is not the file that {DESCRIPTION} was written with")
    try:
        with np.load(io.BytesIO(packed), allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (zipfile.BadZipFile, ValueError, EOFError, OSError) as error:
        raise _DamageError(f"{ARRAYS} cannot be read: {_cause(error)}") from error


def _read_description(folder: Path) -> dict[str, Any]:
    path = folder / DESCRIPTION
    if not folder.is_dir():
        raise InputError(f"{folder} is not a model folder: name the folder that `heteroscope fit --out` wrote")
    if not path.is_file():
        raise InputError(f"{folder} has no {DESCRIPTION}: name the folder that `heteroscope fit --out` wrote")
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is damaged ({_cause(error)}): copy the folder again, or fit again") from error
    number = state.get("heteroscope_model") if isinstance(state, dict) else None
    if isinstance(number, bool) or not isinstance(number, int):
        raise InputError(f"{path} describes no heteroscope model: name the folder that `heteroscope fit --out` wrote")
    if number > FORMAT:
        raise InputError(
            f"{folder} was written by heteroscope {state.get('version')} in format {number}, and this version reads "
            f"up to format {FORMAT}: upgrade with `pip install --upgrade heteroscope`"
        )
    return state


def _restore(state: dict[str, Any], arrays: dict[str, np.ndarray]) -> GaussianRegressor:
    model = _restore_unfitted(state)
    fitted = {name: value for name, value in state["fitted"].items() if _is_learned(name)}
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
        raise _DamageError(f"it names the class {state['class']!r}, and only {', '.join(CLASSES)} are known")
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
        members.append(_restore(state, own))
    if not members or any(member.n_features_in_ != n_features for member in members):
        raise _DamageError(f"its members are none, or not all of {n_features} features")
    return members


def _extra(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    found = {name.removeprefix("extra."): array for name, array in arrays.items() if name.startswith("extra.")}
    if not found or not all(array.dtype.kind == "f" and np.isfinite(array).all() for array in found.values()):
        raise _DamageError("what it keeps beside its networks is missing or holds other things than finite numbers")
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
        raise _DamageError(f"its scaling does not fit {n_features} features")
    if len(fitted.get("feature_names_in_", range(n_features))) != n_features:
        raise _DamageError(f"its feature names do not fit {n_features} features")
    n_members = members.mean[0].weight.shape[0] if members.mean else 0
    for name, network, n_outputs in zip(Params._fields, members, (1, outputs), strict=True):
        width = n_features
        for layer in network:
            n_out = layer.weight.shape[-1]
            if layer.weight.shape != (n_members, width, n_out) or layer.bias.shape != (n_members, n_out):
                raise _DamageError(f"the shapes of its {name} network do not fit each other")
            if not all(part.dtype == np.float32 and np.isfinite(part).all() for part in layer):
                raise _DamageError(f"its {name} network holds other things than finite single-precision numbers")
            width = n_out
        if n_members < 1 or not network or width != n_outputs:
            raise _DamageError(f"its {name} network has not the {n_outputs} outputs that it should have")


@contextmanager
def _replacing(folder: Path) -> Iterator[Path]:
    """A new folder beside `folder` that takes its place when all went well, and leaves no trace otherwise."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    workspace = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    fresh, old = workspace / "new", workspace / "old"
    try:
        fresh.mkdir()
        yield fresh
        if folder.exists():
            os.rename(folder, old)
        try:
            os.rename(fresh, folder)
        except OSError:
            if old.exists():
                os.rename(old, folder)
            raise
    finally:
        shutil.rmtree(workspace, ignore_errors=True)


def _cause(error: BaseException) -> str:
    text = cause(error)
    return f"{text} is missing" if isinstance(error, KeyError) else text or type(error).__name__
