"""Read the networks and the scaling of a model from its arrays, and check that they fit; needs NumPy only."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from heteroscope.core import DamageError, InputError, error_text
from heteroscope.data import SCALING_PARTS, Bends, Scaling
from heteroscope.distributions import Conformal
from heteroscope.networks import FittedEnsemble, Layer, Network, Params

Json: TypeAlias = Any  # what `json` reads: its types are checked one by one while a model is restored
Arrays: TypeAlias = dict[str, np.ndarray]

SMALLEST, LARGEST = float(np.finfo(float).tiny), float(np.finfo(float).max)  # of the positive numbers


@contextmanager
def refuse_damage(folder: Path) -> Iterator[None]:
    """Turn whatever is raised by a part that is missing or of the wrong type into an `InputError` of one line."""
    try:
        yield
    except (DamageError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"{folder} is damaged ({cause(error)}): copy it again, or fit again") from error


def cause(error: BaseException) -> str:
    """Return what an error says; a `KeyError` only names what is missing."""
    text = error_text(error)
    return f"{text} is missing" if isinstance(error, KeyError) else text or type(error).__name__


def read_networks(arrays: Arrays) -> Params:
    """Return the networks of all members."""
    return Params(*(_read_network(arrays, name) for name in Params._fields))


def _read_network(arrays: Arrays, name: str) -> Network:
    n_layers = sum(key.startswith(f"{name}.") and key.endswith(".weight") for key in arrays)
    return tuple(Layer(arrays[f"{name}.{k}.weight"], arrays[f"{name}.{k}.bias"]) for k in range(n_layers))


def read_scaling(arrays: Arrays) -> Scaling:
    """Return centre, scale and range of inputs, and centre and scale of the target."""
    found: dict[str, Any] = {name: arrays[f"scaling.{name}"] for name in SCALING_PARTS}
    bends = [arrays.get(f"scaling.bend_{part}", np.zeros_like(found["x_low"])) for part in Bends._fields]
    if not all(array.dtype == np.float64 and np.isfinite(array).all() for array in [*found.values(), *bends]):
        raise DamageError("its scaling holds numbers that are not finite")
    if found["y_centre"].shape or found["y_scale"].shape or (found["x_low"] > found["x_high"]).any():
        raise DamageError("its scaling has other shapes, or a range without numbers")
    if not ((found["x_scale"] > 0).all() and found["y_scale"] > 0):
        raise DamageError("its scaling divides by a number that is not positive")
    if any(part.shape != found["x_low"].shape for part in bends) or (bends[1] < 0).any():
        raise DamageError("its bends have other shapes than its inputs, or a negative width")
    scaling = Scaling(**found | {name: float(found[name]) for name in ("y_centre", "y_scale")})
    return scaling._replace(bends=Bends(*bends)) if bends[1].any() else scaling


def conformal_arrays(conformal: Conformal) -> Arrays:
    """Return what `arrays.npz` holds of conformal intervals: scores, folds, and the models of each fold.

    Names begin with `conformal.`, those of a fold's models with `conformal.0.`, ...; `bounds` are widest std, lowest
    and highest mean.
    """
    arrays = {"score": conformal.score, "fold": conformal.fold.astype(np.float64)}
    for number, ensemble in enumerate(conformal.ensembles):
        own = network_arrays(ensemble.members) | scaling_arrays(ensemble.scaling)
        own["bounds"] = np.array([ensemble.widest_std, *ensemble.mean_bounds])
        arrays |= {f"{number}.{name}": array for name, array in own.items()}
    return {f"conformal.{name}": array for name, array in arrays.items()}


def read_conformal(arrays: Arrays, activation: str, lognormal: bool, n_features: int) -> Conformal:
    """Return the scores of held-out rows and the models of their folds; raise a `DamageError` unless they fit."""
    own = {name.removeprefix("conformal."): array for name, array in arrays.items() if name.startswith("conformal.")}
    score, fold = own["score"], own["fold"]
    ensembles: list[FittedEnsemble] = []
    while f"{len(ensembles)}.bounds" in own:
        prefix = f"{len(ensembles)}."
        parts = {name.removeprefix(prefix): array for name, array in own.items() if name.startswith(prefix)}
        members, scaling = read_networks(parts), read_scaling(parts)
        check_shapes(members, scaling, n_features, None, 1)
        widest, low, high = parts["bounds"]
        bounds = read_bounds([float(low), float(high)])
        widest_std = read_number(float(widest), SMALLEST)
        ensembles.append(FittedEnsemble(members, scaling, activation, 1.0, widest_std, bounds, lognormal=lognormal))
    if score.ndim != 1 or not len(score) or fold.shape != score.shape or not (score >= 0).all():
        raise DamageError("its conformal scores are no column of numbers of at least 0")
    numbers = fold.astype(np.int64)
    if (numbers != fold).any() or set(np.unique(numbers)) != set(range(max(1, len(ensembles)))):
        raise DamageError("the folds of its conformal scores are not those of its models")
    return Conformal(tuple(ensembles), score, numbers)


def read_own_conformal(state: Mapping[str, Json], arrays: Arrays) -> Conformal | None:
    """Return the conformal part of a model with this description; None if it was fitted without."""
    if not any(name.startswith("conformal.") for name in arrays):
        return None
    fitted = state["fitted"]
    lognormal = read_target(fitted.get("target_", "none")) == "log"
    n_features = read_integer(fitted["n_features_in_"])
    return read_conformal(arrays, state["parameters"]["activation"], lognormal, n_features)


def network_arrays(members: Params) -> Arrays:
    """Return the weights and biases of all members' networks by name: `mean.0.weight`, ..."""
    return {
        f"{network}.{number}.{part}": np.asarray(array)
        for network, layers in zip(Params._fields, members, strict=True)
        for number, layer in enumerate(layers)
        for part, array in layer._asdict().items()
    }


def scaling_arrays(scaling: Scaling) -> Arrays:
    """Return centre, scale and range of inputs, and centre and scale of the target, by name: `scaling.x_centre`, ...

    Only a scaling that bends inputs has `scaling.bend_pivot` and `scaling.bend_width`.
    """
    arrays = {f"scaling.{part}": np.asarray(getattr(scaling, part), np.float64) for part in SCALING_PARTS}
    bends = {} if scaling.bends is None else scaling.bends._asdict()
    return arrays | {f"scaling.bend_{part}": numbers for part, numbers in bends.items()}


def read_integer(value: Json) -> int:
    """Return a whole number of at least 0; raise a `DamageError` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise DamageError(f"{str(value)[:40]!r} stands where a whole number of at least 0 must be")
    return value


def read_number(value: Json, low: float = -math.inf, high: float = math.inf) -> float:
    """Return a float with low <= value <= high; raise a `DamageError` for anything else, NaN included."""
    number = float(value)
    if isinstance(value, bool) or not low <= number <= high:
        raise DamageError(f"{str(value)[:40]!r} stands where a number from {low:g} to {high:g} must be")
    return number


def read_target(value: Json) -> str:
    """Return "none" or "log": what the networks predict; raise a `DamageError` for anything else."""
    if value not in ("none", "log"):
        raise DamageError(f"{str(value)[:40]!r} stands where the scale of the target must be")
    return str(value)


def read_names(names: Json) -> np.ndarray:
    """Return names of features; raise a `DamageError` unless all are texts."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DamageError("its feature names are no list of texts")
    return np.array(names, dtype=object)


def read_bounds(values: Json) -> tuple[float, float]:
    """Return the smallest and the largest mean."""
    lowest, highest = (read_number(value) for value in values)
    if not lowest < highest:
        raise DamageError("the bounds of its mean leave no number between them")
    return lowest, highest


def check_shapes(
    members: Params, scaling: Scaling, n_features: int, feature_names: Sequence[str] | np.ndarray | None, n_outputs: int
) -> None:
    """Raise a `DamageError` unless each layer fits the one before, from the features to the outputs.

    The mean network has one output, the second network `n_outputs`. All layers must have the same number of members and
    finite single-precision numbers.
    """
    if any(part.shape != (n_features,) for part in (scaling.x_centre, scaling.x_scale, scaling.x_low, scaling.x_high)):
        raise DamageError(f"its scaling does not fit {n_features} features")
    if feature_names is not None and len(feature_names) != n_features:
        raise DamageError(f"its feature names do not fit {n_features} features")
    n_members = members.mean[0].weight.shape[0] if members.mean else 0
    for name, network, wanted in zip(Params._fields, members, (1, n_outputs), strict=True):
        width = n_features
        for layer in network:
            n_out = layer.weight.shape[-1]
            if layer.weight.shape != (n_members, width, n_out) or layer.bias.shape != (n_members, n_out):
                raise DamageError(f"the shapes of its {name} network do not fit each other")
            if not all(part.dtype == np.float32 and np.isfinite(part).all() for part in layer):
                raise DamageError(f"its {name} network holds numbers that are not finite or not single precision")
            width = n_out
        if n_members < 1 or not network or width != wanted:
            raise DamageError(f"its {name} network does not have {wanted} outputs")
