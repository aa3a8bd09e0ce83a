"""(rho, gamma) <-> (alpha, beta) against exact rational arithmetic, and a sentence at each edge of the square."""

from fractions import Fraction
from math import log

import numpy as np
import pytest

from heteroscope.core.errors import InputError
from heteroscope.core.grids import FIELD_GRID, NETWORK_GRID
from heteroscope.core.regularisation import alpha_beta, check_rho_gamma, logits, logits_from_alpha_beta, strengths

PAIRS = [(rho, gamma) for rho in NETWORK_GRID[::3] for gamma in FIELD_GRID[::3]]


@pytest.mark.parametrize(("rho", "gamma"), PAIRS)
def test_every_coefficient_equals_its_formula_in_exact_arithmetic(rho, gamma):
    exact_rho, exact_gamma = Fraction(float(rho)), Fraction(float(gamma))
    rest = 1 - exact_rho
    where = logits(rho, gamma)
    # a logit is rounded to 1e-16 of its own size, and an exponential turns that into a relative error
    tolerance = 1e-14
    assert strengths(*where) == pytest.approx(
        [float(exact_rho), float(rest * exact_gamma), float(rest * (1 - exact_gamma))], rel=tolerance
    )
    assert alpha_beta(*where) == pytest.approx(
        [float(exact_gamma * rest / exact_rho), float((1 - exact_gamma) * rest / exact_rho)], rel=tolerance
    )


@pytest.mark.parametrize(("rho", "gamma"), PAIRS)
def test_alpha_beta_leads_back_to_the_same_logits(rho, gamma):
    where = logits(rho, gamma)
    assert logits_from_alpha_beta(*alpha_beta(*where)) == pytest.approx(where, rel=1e-13, abs=1e-13)


def test_a_gamma_that_rounds_to_one_keeps_its_distance_from_one():
    logit_gamma = -log(1e-30)  # 1 - gamma = 1e-30, up to a relative 1e-30
    found = strengths(0.0, logit_gamma)
    assert found.mean_penalty == pytest.approx(0.5, rel=1e-15)
    assert found.precision_penalty == pytest.approx(0.5e-30, rel=1e-13)
    alpha, beta = alpha_beta(0.0, logit_gamma)
    assert (alpha, beta) == (pytest.approx(1.0, rel=1e-15), pytest.approx(1e-30, rel=1e-13))
    assert logits_from_alpha_beta(alpha, beta) == (pytest.approx(0.0, abs=1e-15), pytest.approx(logit_gamma, rel=1e-14))


@pytest.mark.parametrize("t", [1e-11, 0.1, 0.5, 0.9, 0.9999])
def test_on_the_diagonal_the_precision_penalty_is_the_distance_from_maximum_likelihood(t):
    logit_rho, _ = logits(t, 0.5)
    alpha, beta = alpha_beta(logit_rho, -logit_rho)
    assert beta == pytest.approx(1 - t, rel=1e-12)
    assert alpha == pytest.approx(beta**2 / t, rel=1e-12)


def test_coefficients_are_float64_and_work_on_arrays():
    found = strengths(np.float32(0.3), np.array([0.1, 40.0], np.float32))
    assert all(np.asarray(part).dtype == np.float64 for part in found)
    assert found.precision_penalty[1] > 0


@pytest.mark.parametrize(
    ("rho", "gamma", "words"),
    [
        (1.0, 0.5, ["rho = 1 ", "maximum likelihood", "no minimum exists", "rho < 1"]),
        (0.0, 0.5, ["rho = 0 ", "ignores the data", "none is unique", "rho > 0"]),
        (0.5, 1.0, ["gamma = 1 ", "precision without a penalty", "no minimum exists", "gamma < 1"]),
        (0.5, 0.0, ["gamma = 0 ", "mean without a penalty", "interpolates", "no minimum exists", "gamma > 0"]),
        (1, 0.5, ["rho = 1 ", "maximum likelihood"]),
        (np.float32(1.0), 0.5, ["rho = 1 ", "maximum likelihood"]),
    ],
)
def test_each_edge_of_the_square_says_which_limit_it_is_and_why_it_has_no_solution(rho, gamma, words):
    with pytest.raises(InputError) as caught:
        check_rho_gamma(rho, gamma)
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message


@pytest.mark.parametrize("name", ["rho", "gamma"])
@pytest.mark.parametrize("value", ["0.5", None, True, False, np.True_, [0.5], 1j])
def test_what_is_not_a_number_is_refused_by_name(name, value):
    with pytest.raises(InputError, match=f"^{name} must be a number between 0 and 1"):
        check_rho_gamma(**{"rho": 0.5, "gamma": 0.5, name: value})


@pytest.mark.parametrize("name", ["rho", "gamma"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), -0.1, 1.1, 2])
def test_a_number_outside_the_open_interval_is_refused_by_name(name, value):
    with pytest.raises(InputError, match=f"^{name} must lie strictly between 0 and 1, got"):
        check_rho_gamma(**{"rho": 0.5, "gamma": 0.5, name: value})


def test_any_real_number_type_is_accepted():
    assert check_rho_gamma(np.float32(0.5), Fraction(1, 4)) == (0.5, 0.25)


@pytest.mark.parametrize(("alpha", "beta"), [(0.0, 1.0), (1.0, 0.0), (-1.0, 1.0), (float("nan"), 1.0)])
def test_without_either_penalty_there_are_no_logits(alpha, beta):
    with pytest.raises(InputError, match="alpha and beta must both be positive"):
        logits_from_alpha_beta(alpha, beta)
