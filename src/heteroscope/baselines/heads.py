"""What the second network stands for: a head turns its positive output o = softplus(f(x)) + 1e-8 into a precision.

variance head: variance = o, precision = 1 / o,    precision head: precision = o
"""

from collections.abc import Callable
from typing import Any, TypeAlias

Head: TypeAlias = Callable[[Any], Any]  # element by element, for NumPy's arrays and for JAX's


def variance_head(output: Any) -> Any:
    """1 / o: the network gives the variance, as in most of the literature."""
    return 1.0 / output


def precision_head(output: Any) -> Any:
    """o itself: the network gives the precision, as in `HeteroskedasticRegressor`."""
    return output
