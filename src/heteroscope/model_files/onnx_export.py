"""Write a fitted model as an ONNX graph: features in, mean and std out, for runtimes in other languages.

The networks are evaluated in the chosen precision. Scaling, softplus, bounds and the mixture's moments are computed in
double precision, whatever the input is.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from heteroscope.core import InputError, atomic_write
from heteroscope.data import Bends
from heteroscope.distributions import LARGEST_LOG_STD
from heteroscope.model_files.loaded_model import LoadedModel
from heteroscope.networks import GELU_CUBE, LEAK, PRECISION_FLOOR, FittedEnsemble, Network

if TYPE_CHECKING:
    from heteroscope.estimators import PointRegressor

OPSET = 17  # a version that runtimes of 2022 and later read; every operator here is older
IR_VERSION = 8  # of the same year
INSTALL = 'pip install "heteroscope[onnx]"'
Precision: TypeAlias = Literal["float32", "float64"]


def export_onnx(model: "PointRegressor | LoadedModel", path: str | Path, precision: Precision = "float32") -> Path:
    """Write a fitted `HeteroskedasticRegressor` or `HeteroskedasticRegressorCV` as an ONNX file.

    The input `features` has the shape (n_rows, n_features), the outputs `mean` and `std` have the shape (n_rows,). The
    file's metadata hold `distribution` ("normal", "t" or "lognormal", each fixed by mean and std), `df`, the degrees of
    freedom of the Student-t ("inf" for the others), and `feature_names`.
    Columns of a table are not encoded in the graph: its input are the encoded features.

    Parameters
    ----------
    model : PointRegressor or LoadedModel
        The fitted model.
    path : str or Path
        The file to write.
    precision : {"float32", "float64"}, default="float32"
        Type of input and outputs, and of the networks' arithmetic.

    Returns
    -------
    Path
        The absolute path of the file.

    Examples
    --------
    >>> from heteroscope import load_model
    >>> from heteroscope.model_files import export_onnx
    >>> export_onnx(load_model("model"), "model.onnx")  # doctest: +SKIP
    """
    try:
        import onnx
    except ImportError as error:
        raise InputError(f"onnx is not installed: run {INSTALL}") from error
    if precision not in ("float32", "float64"):
        raise InputError(f'precision must be "float32" or "float64", got {precision!r}')
    if not hasattr(model, "ensemble"):
        raise InputError(f"a {type(model).__name__} cannot be exported: only HeteroskedasticRegressor(CV) can")
    ensemble = model.ensemble()
    names = getattr(model, "feature_names_in_", None)
    graph = _Graph(onnx.helper.make_node, onnx.numpy_helper.from_array, onnx.TensorProto, precision)
    mean, std = _moments(graph, ensemble)
    graph.cast(mean, precision, "mean")
    graph.cast(std, precision, "std")
    number = graph.types[precision]
    described = onnx.helper.make_graph(
        graph.nodes,
        "heteroscope",
        [onnx.helper.make_tensor_value_info("features", number, ["n_rows", len(ensemble.scaling.x_centre)])],
        [onnx.helper.make_tensor_value_info(name, number, ["n_rows"]) for name in ("mean", "std")],
        graph.constants,
    )
    whole = onnx.helper.make_model(
        described,
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="heteroscope",
    )
    onnx.helper.set_model_props(
        whole,
        {
            "distribution": "lognormal" if ensemble.lognormal else "normal" if np.isinf(ensemble.df) else "t",
            "df": repr(float(ensemble.df)),
            "feature_names": json.dumps(None if names is None else list(names)),
        },
    )
    onnx.checker.check_model(whole)
    path = Path(path).resolve()
    with atomic_write(path) as fresh:
        fresh.write_bytes(whole.SerializeToString())
    return path


class _Graph:
    """The nodes and constants of a graph that is being written; values are the names of nodes' outputs."""

    def __init__(
        self, make_node: Callable[..., Any], from_array: Callable[..., Any], types: Any, precision: Precision
    ) -> None:
        self._make_node, self._from_array = make_node, from_array
        self.types = {"float32": types.FLOAT, "float64": types.DOUBLE}
        self.precision = precision
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        output = output or f"value_{len(self.nodes)}"
        self.nodes.append(self._make_node(operator, list(inputs), [output], **attributes))
        return output

    def constant(self, value: Any, kind: str = "float64") -> str:
        """Add a constant and return its name."""
        name = f"constant_{len(self.constants)}"
        self.constants.append(self._from_array(np.asarray(value, kind), name))
        return name

    def cast(self, value: str, kind: str, output: str | None = None) -> str:
        """Convert a value to another type of number."""
        return self.add("Cast", value, output=output, to=self.types[kind])


def _moments(graph: _Graph, ensemble: FittedEnsemble) -> tuple[str, str]:
    """Return mean and std of the members' mixture, as `LoadedModel.predict` computes them."""
    scaling = ensemble.scaling
    given = graph.cast("features", "float64")
    low, high = (graph.constant(edge) for edge in scaling.edges())
    within = graph.add("Min", graph.add("Max", given, low), high)
    bent = _bent(graph, within, scaling.bends)
    shifted = graph.add("Sub", bent, graph.constant(scaling.x_centre))
    inputs = graph.cast(graph.add("Div", shifted, graph.constant(scaling.x_scale)), graph.precision)
    outputs = [_network(graph, network, inputs, ensemble.activation) for network in ensemble.members]
    y_scale = graph.constant(scaling.y_scale)
    means = graph.add("Add", graph.add("Mul", outputs[0], y_scale), graph.constant(scaling.y_centre))
    bounded = graph.add("Max", means, graph.constant(ensemble.mean_bounds[0]))
    bounded = graph.add("Min", bounded, graph.constant(ensemble.mean_bounds[1]))
    precision = graph.add("Add", _softplus(graph, outputs[1]), graph.constant(PRECISION_FLOOR))
    stds = graph.add(
        "Min", graph.add("Div", y_scale, graph.add("Sqrt", precision)), graph.constant(ensemble.widest_std)
    )
    apart = graph.add("Sub", means, graph.add("ReduceMean", means, axes=[0], keepdims=0))
    epistemic, aleatoric = (
        graph.add("ReduceMean", graph.add("Mul", part, part), axes=[0], keepdims=0) for part in (apart, stds)
    )
    epistemic = graph.add("Min", epistemic, graph.constant(ensemble.widest_std**2))
    std = graph.add("Sqrt", graph.add("Add", aleatoric, epistemic))
    mean = graph.add("ReduceMean", bounded, axes=[0], keepdims=0)
    scaled = graph.add("Mul", std, graph.constant(ensemble.std_scale))
    # rows far outside the fit: std^2 + (y_scale * distance)^2
    apart = graph.add("Sub", _bent(graph, given, scaling.bends), bent)
    outside = graph.add("Div", apart, graph.constant(scaling.x_scale))
    squares = graph.add("ReduceSum", graph.add("Mul", outside, outside), graph.constant([1], "int64"), keepdims=0)
    far = graph.add("Mul", squares, graph.constant(scaling.y_scale**2))
    variance = graph.add("Add", graph.add("Mul", scaled, scaled), far)
    return (
        _exponentiated(graph, mean, variance, scaling.y_scale)
        if ensemble.lognormal
        else (mean, graph.add("Sqrt", variance))
    )


def _bent(graph: _Graph, x: str, bends: Bends | None) -> str:
    """Return arcsinh(u) = sign(u) log(|u| + sqrt(u^2 + 1)) of the columns that are bent; some runtimes lack arcsinh."""
    if bends is None:
        return x
    curved = bends.width > 0
    shifted = graph.add("Sub", x, graph.constant(bends.pivot))
    u = graph.add("Div", shifted, graph.constant(np.where(curved, bends.width, 1.0)))
    size, one = graph.add("Abs", u), graph.constant(1.0)
    root = graph.add("Sqrt", graph.add("Add", graph.add("Mul", u, u), one))
    bent = graph.add("Mul", graph.add("Sign", u), graph.add("Log", graph.add("Add", size, root)))
    return graph.add("Where", graph.constant(curved, "bool"), bent, x)


def _exponentiated(graph: _Graph, mean: str, variance: str, spread: float) -> tuple[str, str]:
    """Return mean and std of the exponential of a Gaussian, as `exponentiated` computes them."""
    bounded = graph.add("Min", variance, graph.constant(max(LARGEST_LOG_STD, spread) ** 2))
    centre = graph.add("Exp", graph.add("Add", mean, graph.add("Mul", bounded, graph.constant(0.5))))
    excess = graph.add("Sub", graph.add("Exp", bounded), graph.constant(1.0))
    return centre, graph.add("Mul", centre, graph.add("Sqrt", excess))


def _network(graph: _Graph, network: Network, inputs: str, activation: str) -> str:
    """Return the first output of a network for every member and row, in double precision."""
    hidden = inputs
    for number, layer in enumerate(network):
        weight = graph.constant(layer.weight, graph.precision)
        bias = graph.constant(np.asarray(layer.bias)[:, np.newaxis, :], graph.precision)
        hidden = graph.add("Add", graph.add("MatMul", hidden, weight), bias)
        if number < len(network) - 1:
            hidden = _ACTIVATIONS[activation](graph, hidden)
    return graph.cast(graph.add("Squeeze", hidden, graph.constant([2], "int64")), "float64")


def _softplus(graph: _Graph, x: str) -> str:
    """Return max(x, 0) + log(1 + exp(-|x|)), which does not overflow."""
    small = graph.add("Exp", graph.add("Neg", graph.add("Abs", x)))
    rest = graph.add("Log", graph.add("Add", small, graph.constant(1.0)))
    return graph.add("Add", graph.add("Max", x, graph.constant(0.0)), rest)


def _half_and_tanh(graph: _Graph, x: str, argument: str) -> str:
    """Return x (1 + tanh(argument)) / 2."""
    one_plus = graph.add("Add", graph.add("Tanh", argument), graph.constant(1.0, graph.precision))
    return graph.add("Mul", graph.add("Mul", x, graph.constant(0.5, graph.precision)), one_plus)


def _silu(graph: _Graph, x: str) -> str:
    return _half_and_tanh(graph, x, graph.add("Mul", x, graph.constant(0.5, graph.precision)))


def _gelu(graph: _Graph, x: str) -> str:
    cube = graph.add("Mul", graph.add("Mul", x, x), x)
    bent = graph.add("Add", x, graph.add("Mul", cube, graph.constant(GELU_CUBE, graph.precision)))
    return _half_and_tanh(graph, x, graph.add("Mul", bent, graph.constant(np.sqrt(2.0 / np.pi), graph.precision)))


def _leaky_relu(graph: _Graph, x: str) -> str:
    return graph.add("Max", x, graph.add("Mul", x, graph.constant(LEAK, graph.precision)))


_ACTIVATIONS: dict[str, Callable[[_Graph, str], str]] = {
    "leaky_relu": _leaky_relu,
    "relu": lambda graph, x: graph.add("Max", x, graph.constant(0.0, graph.precision)),
    "silu": _silu,
    "gelu": _gelu,
    "tanh": lambda graph, x: graph.add("Tanh", x),
}
