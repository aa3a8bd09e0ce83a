"""R-hat and effective sample sizes against ArviZ."""

import warnings

import numpy as np
import pytest

from heteroscope.field.bayesian.diagnostics import ess_bulk, ess_tail, r_hat


@pytest.fixture(scope="module")
def arviz():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("arviz")


@pytest.mark.parametrize("correlation", [0.0, 0.9, -0.5, 0.99])
@pytest.mark.parametrize("n_draws", [21, 100])
def test_the_numbers_are_those_of_arviz(arviz, correlation, n_draws):
    rng = np.random.default_rng(0)
    draws = rng.standard_normal((4, n_draws, 2))
    for k in range(1, n_draws):
        draws[:, k] += correlation * draws[:, k - 1]
    draws[0] += 0.3
    for measure, name in ((r_hat, "rank"), (ess_bulk, "bulk"), (ess_tail, "tail")):
        known = [
            arviz.rhat(draws[..., k]) if name == "rank" else arviz.ess(draws[..., k], method=name) for k in range(2)
        ]
        np.testing.assert_allclose(measure(draws), known, rtol=1e-10)


def test_constants_count_in_full():
    np.testing.assert_array_equal(ess_bulk(np.ones((2, 10, 3))), 20)
