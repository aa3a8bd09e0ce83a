"""Read the networks and the scaling of a model from its arrays, and check that they fit; needs NumPy only."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from heteroscope.core import InputError, error_text
from heteroscope.data import Scaling
from heteroscope.networks import Layer, Network, Params

Json: TypeAlias = Any  # what `json` reads: its types are checked one by one while a model is restored
Arrays: TypeAlias = dict[str, np.ndarray]


class DamageError(Exception):
    """A model file that does not hold what it must; the message says which part."""


@contextmanager
def refuse_damage(folder: Path) -> Iterator[None]:
    """Turn whatever is raised by a part that is missing or of the wrong type into an `InputError` of one line."""
    try:
        yield
    except (DamageError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
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
    """Return centre and scale of inputs and target."""
    found = {name: arrays[f"scaling.{name}"] for name in Scaling._fields}
    return Scaling(found["x_centre"], found["x_scale"], float(found["y_centre"]), float(found["y_scale"]))


def read_integer(value: Json) -> int:
    """Return a whole number; raise a `DamageError` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise DamageError(f"{value!r} stands where a whole number must be")
    return value


def read_bounds(values: Json) -> tuple[float, float]:
    """Return the smallest and the largest mean."""
    lowest, highest = (float(value) for value in values)
    return lowest, highest


def check_shapes(
    members: Params, scaling: Scaling, n_features: int, feature_names: Sequence[str] | np.ndarray | None, n_outputs: int
) -> None:
    """Raise a `DamageError` unless each layer fits the one before, from the features to the outputs.

    The mean network has one output, the second network `n_outputs`. All layers must have the same number of members and
    finite single-precision numbers.
    """
    if not scaling.x_centre.shape == scaling.x_scale.shape == (n_features,):
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
