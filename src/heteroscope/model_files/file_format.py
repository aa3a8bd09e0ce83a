"""A fitted model from plain data and arrays, each part checked before it is believed."""

from collections.abc import Callable
from typing import Any

import numpy as np

from heteroscope.baselines import BaselineRegressor, EnsembleRegressor, NaturalLaplaceRegressor, TrainedRegressor
from heteroscope.core import Status
from heteroscope.data import Scaling
from heteroscope.estimators import GaussianRegressor, HeteroskedasticRegressorCV, PointRegressor
from heteroscope.model_files.classes import CLASSES
from heteroscope.model_files.describing import is_learned
from heteroscope.networks import Layer, Network, Params, check_architecture
from heteroscope.phases import Observables, Phase

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
