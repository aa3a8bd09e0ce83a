"""One model: its two networks, the objective it minimises, the constant model, and ensembles of models."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from heteroscope.networks.architecture import (
    ACTIVATION_NAMES,
    PRECISION_FLOOR,
    UNIT_PRECISION_BIAS,
    Architecture,
    Layer,
    Network,
    Params,
    check_architecture,
    init_params,
)
from heteroscope.networks.ensemble import (
    FittedEnsemble,
    Prediction,
    mean_bounds,
    member_outputs,
    moment_match,
    padded_blocks,
    predict_members,
    stack_members,
    widest_std,
)
from heteroscope.networks.far_rows import predict_with_far_rows
from heteroscope.networks.forward import GELU_CUBE, LEAK, NUMPY_ACTIVATIONS

if TYPE_CHECKING:
    from heteroscope.networks.constant import (
        collapse_networks,
        constant_params,
        find_collapsing,
        fit_precision_level,
        hold_constant,
        settle_levels,
    )
    from heteroscope.networks.model import (
        ACTIVATIONS,
        AnyArray,
        apply_layer,
        apply_network,
        apply_trunk,
        input_gradients,
        predict_mean,
        predict_precision,
        to_positive,
    )
    from heteroscope.networks.objectives import (
        FIRST_VARIANCE,
        GradientPenalty,
        Objective,
        Terms,
        first_mean_objective,
        gaussian_nll,
        joint_objective,
        mean_alone_objective,
        mean_objective,
        precision_alone_objective,
        weight_norm,
    )

__all__ = [
    "ACTIVATIONS",
    "ACTIVATION_NAMES",
    "FIRST_VARIANCE",
    "GELU_CUBE",
    "LEAK",
    "NUMPY_ACTIVATIONS",
    "PRECISION_FLOOR",
    "UNIT_PRECISION_BIAS",
    "AnyArray",
    "Architecture",
    "FittedEnsemble",
    "GradientPenalty",
    "Layer",
    "Network",
    "Objective",
    "Params",
    "Prediction",
    "Terms",
    "apply_layer",
    "apply_network",
    "apply_trunk",
    "check_architecture",
    "collapse_networks",
    "constant_params",
    "find_collapsing",
    "first_mean_objective",
    "fit_precision_level",
    "gaussian_nll",
    "hold_constant",
    "init_params",
    "input_gradients",
    "joint_objective",
    "mean_alone_objective",
    "mean_bounds",
    "mean_objective",
    "member_outputs",
    "moment_match",
    "padded_blocks",
    "precision_alone_objective",
    "predict_mean",
    "predict_members",
    "predict_precision",
    "predict_with_far_rows",
    "settle_levels",
    "stack_members",
    "to_positive",
    "weight_norm",
    "widest_std",
]

# Import what needs JAX at its first use: a process that only predicts never does.
_HOMES = {
    "collapse_networks": "constant",
    "constant_params": "constant",
    "find_collapsing": "constant",
    "fit_precision_level": "constant",
    "hold_constant": "constant",
    "settle_levels": "constant",
    "ACTIVATIONS": "model",
    "AnyArray": "model",
    "apply_layer": "model",
    "apply_network": "model",
    "apply_trunk": "model",
    "input_gradients": "model",
    "predict_mean": "model",
    "predict_precision": "model",
    "to_positive": "model",
    "FIRST_VARIANCE": "objectives",
    "GradientPenalty": "objectives",
    "Objective": "objectives",
    "Terms": "objectives",
    "first_mean_objective": "objectives",
    "gaussian_nll": "objectives",
    "joint_objective": "objectives",
    "mean_alone_objective": "objectives",
    "mean_objective": "objectives",
    "precision_alone_objective": "objectives",
    "weight_norm": "objectives",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'heteroscope.networks' has no attribute {name!r}")
    return getattr(import_module(f"heteroscope.networks.{_HOMES[name]}"), name)
