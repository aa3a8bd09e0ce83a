"""Types and shapes are checked in tests, although each check is prepared at the first call only."""

import numpy as np
import pytest
from jaxtyping import Float, TypeCheckError, config, jaxtyped

from heteroscope.core.grids import diagonal_logits
from tests.lazy_checks import check_calls


def adder(size):
    """Return a function defined anew, whose arguments and result have `size` entries."""

    @jaxtyped(typechecker=check_calls)
    def add(x: Float[np.ndarray, size], y: Float[np.ndarray, size]) -> Float[np.ndarray, size]:
        return x[: len(x) - int(y[0])]

    return add


@pytest.mark.parametrize("size", ["n", "3"])
def test_arguments_and_results_have_their_shapes(size):
    shorten = adder(size)
    assert shorten(np.zeros(3), np.zeros(3)).shape == (3,)
    with pytest.raises(TypeCheckError, match="parameters"):
        shorten(np.zeros(3), np.zeros(4))
    with pytest.raises(TypeCheckError, match="return value"):
        shorten(np.ones(3), np.ones(3))


def test_functions_of_one_name_keep_their_own_shapes():
    adder("n")(np.zeros(4), np.zeros(4))
    with pytest.raises(TypeCheckError):
        adder("3")(np.zeros(4), np.zeros(4))


def test_the_package_is_checked():
    assert not config.jaxtyping_disable
    with pytest.raises(TypeCheckError):
        diagonal_logits("not a number", 3)
