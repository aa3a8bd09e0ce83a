"""Penalties chosen without training: against dense Gaussian processes, and against fits without each row."""

import numpy as np
import pytest
from scipy import stats

from heteroscope import field
from heteroscope.core import InputError, Status
from heteroscope.datasets.simulated import field_draw
from heteroscope.field import choosing


def dense(lattice):
    return np.array([lattice.laplacian(unit) for unit in np.eye(len(lattice.weights))])


def curve(lattice, y, power, variance=None):
    found = field.modes(lattice)
    return found, choosing._Curve.of(found, field.state(lattice, y, 0.5, 0.5, variance), power)


@pytest.fixture(scope="module")
def uneven():
    random = np.random.default_rng(3)
    x = np.sort(random.uniform(-1.7, 1.7, 25))
    y = np.sin(3 * x) + 0.4 * random.normal(size=25)
    return field.chain(x), (y - y.mean()) / y.std()


@pytest.mark.parametrize("power", [1, 2])
def test_the_evidence_is_that_of_a_dense_gaussian_process(power):
    lattice = field.chain(np.linspace(-1, 1, 12))
    y = np.random.default_rng(0).normal(size=12) + np.linspace(0, 3, 12)
    found, one = curve(lattice, y, power)
    stiff = (dense(lattice) / np.median(found.values[1:])).astype(float)
    flat = np.full((12, 1), 12**-0.5)
    contrasts = np.linalg.svd(np.eye(12) - flat @ flat.T)[0][:, :11]  # the level of the mean is free

    def log_evidence(log_q):
        """Of the contrasts, N(0, s2 (1 + q K^-m)), at the best s2."""
        covariance = np.eye(12) + np.exp(log_q) * np.linalg.pinv(np.linalg.matrix_power(stiff, power))
        inner = contrasts.T @ covariance @ contrasts
        noise = (contrasts.T @ y) @ np.linalg.solve(inner, contrasts.T @ y) / 11
        return stats.multivariate_normal(np.zeros(11), noise * inner).logpdf(contrasts.T @ y)

    log_qs = [-3.0, -1.0, 0.5, 2.0]
    ours = np.array([-one.loss(log_q, "evidence") for log_q in log_qs])
    theirs = np.array([log_evidence(log_q) for log_q in log_qs])
    np.testing.assert_allclose(ours - ours[0], theirs - theirs[0], atol=1e-8)


def test_a_row_left_out_of_a_linear_mean_is_predicted_exactly(uneven):
    lattice, y = uneven
    q = 2.0
    found, one = curve(lattice, y, 1)
    matrix = dense(lattice) / np.median(found.values[1:])
    squares = one.left_out(np.log(q))
    for row in (0, 7, 24):
        pull = q * lattice.weights
        pull[row] = 0.0
        without = np.linalg.solve(np.diag(pull) + matrix, pull * y)
        assert squares[row] == pytest.approx((without[row] - y[row]) ** 2, rel=1e-8)


def test_the_penalty_is_the_one_under_which_the_mean_is_the_theorys(uneven):
    lattice, y = uneven
    found, one = curve(lattice, y, 1)
    noise, log_q = 0.3, 1.0
    alpha, energy = one.penalty(log_q, noise)
    mean = lattice.solve(lattice.weights / noise, 2 * alpha, lattice.weights / noise * y)
    kept = found.vectors @ (one._kept(log_q) * one.coefficients)
    np.testing.assert_allclose(mean, kept, atol=1e-8)
    assert energy == pytest.approx(lattice.dirichlet(mean) / 25, rel=1e-8)


@pytest.mark.parametrize("power", [2, 3])
def test_for_other_powers_the_penalty_is_the_slope_of_the_residual_over_the_energy(uneven, power):
    lattice, y = uneven
    _, one = curve(lattice, y, power)
    step, noise = 1e-4, 0.3

    def residual(log_q):
        return np.sum((1 - one._kept(log_q)) ** 2 * one.coefficients**2)

    energies = [one.penalty(1.0 + sign * step, noise)[1] for sign in (-1, 1)]
    slope = (residual(1.0 + step) - residual(1.0 - step)) / (energies[1] - energies[0])
    assert one.penalty(1.0, noise)[0] == pytest.approx(-0.5 * slope / noise, rel=1e-5)


def test_one_newton_step_predicts_points_left_out_of_both_fields(uneven):
    lattice, y = uneven
    problem = field.state(lattice, y, 0.5, 0.5)._replace(alpha=0.2, beta=0.5)
    start = field.Fields(0 * y, 1 + 0 * y)
    solution = field.minimise(problem, start)
    assert solution.status is Status.CONVERGED
    fields = field.Fields(solution.mean, solution.precision)
    found = field.leave_one_out(problem, fields)
    without = []
    for row in range(25):
        weights = lattice.weights.copy()
        weights[row] *= 1e-9
        again = field.minimise(problem._replace(lattice=lattice._replace(weights=weights)), fields)
        without.append((again.mean[row], again.precision[row]))
    mean, precision = np.array(without).T
    moved = np.abs(mean - solution.mean)
    assert np.max(np.abs(found.mean - mean)) < 0.15 * moved.max()
    np.testing.assert_allclose(np.log(found.precision), np.log(precision), atol=0.15)
    nll = np.average(0.5 * (precision * (mean - y) ** 2 - np.log(precision)), weights=lattice.weights)
    assert found.nll == pytest.approx(nll, abs=0.06)
    own = 0.5 * (solution.precision * (solution.mean - y) ** 2 - np.log(solution.precision))
    assert nll > np.average(own, weights=lattice.weights) + 0.1, "without itself, a point is predicted worse"


def test_on_sine_the_evidence_chooses_what_was_worked_out_by_hand():
    x, y = field_draw("sine", 256)
    found = field.choose_penalties(field.chain(x), y, criterion="evidence")
    assert 0.55e-3 < found.alpha < 2.2e-3  # 1.1e-3, and the grid has steps of a factor of 1.6
    assert found.power == 1


def test_the_precision_varies_where_the_noise_does():
    random = np.random.default_rng(0)
    x = np.linspace(-1.7, 1.7, 300)
    noise = random.normal(size=300)
    for scale, varies in ((np.exp(x), True), (1.0, False)):
        y = scale * noise
        found = field.choose_penalties(field.chain(x), y / y.std(), criterion="evidence")
        assert found.varies is varies
        assert found.beta > 0
        assert found.precision_energy > 0


def test_on_a_table_rows_left_out_and_evidence_agree_about_a_smooth_surface():
    random = np.random.default_rng(1)
    x = random.normal(size=(150, 2))
    y = np.sin(x[:, 0]) + x[:, 1] + 0.3 * random.normal(size=150)
    rows = field.table(x, (y - y.mean()) / y.std())
    choices = [
        field.choose_penalties(rows.lattice, rows.y, rows.variance, criterion=criterion, powers=(1, 2))
        for criterion in choosing.CRITERIA
    ]
    share = 0.09 / y.var()
    for choice in choices:
        assert share < choice.noise < 3 * share
    assert abs(np.log(choices[0].mean_energy / choices[1].mean_energy)) < 1.5


def test_unknown_criteria_and_fields_that_are_no_minimum_are_refused(uneven):
    lattice, y = uneven
    with pytest.raises(InputError, match="criterion must be one of leave one out, evidence, got 'aic'"):
        field.choose_penalties(lattice, y, criterion="aic")
    far = field.Fields(y + 50.0, np.full(25, 30.0))
    with pytest.raises(InputError, match="no minimum of the free energy"):
        field.leave_one_out(field.state(lattice, y, 0.99, 0.5), far)
