"""The solver against independent answers: a dense minimiser, manufactured solutions, and the limits of Table 1."""

import numpy as np
import pytest
from scipy.optimize import minimize

from heteroscope import field
from heteroscope.core.errors import InputError
from heteroscope.field import Fields, Status


def dense_minimum(x, y, rho, gamma):
    """The paper's sum in (mean, log precision), written densely, by scipy's trust-region Newton from the flat field.

    Rounding of the value stops the trust region at a slope of about 1e-7; Newton steps, which need no value, finish.
    """
    n, h = len(x), x[1] - x[0]
    difference = np.diff(np.eye(n), axis=0) / h
    laplacian = difference.T @ difference
    alpha, beta = gamma * (1 - rho) / rho, (1 - gamma) * (1 - rho) / rho

    def value(z):
        m, q = z[:n], np.exp(z[n:])
        return 0.5 * np.sum(q * (m - y) ** 2 - z[n:]) + alpha * m @ laplacian @ m + beta * q @ laplacian @ q

    def slope(z):
        m, q = z[:n], np.exp(z[n:])
        by_precision = 0.5 * (m - y) ** 2 + 2 * beta * laplacian @ q
        return np.concatenate((q * (m - y) + 2 * alpha * laplacian @ m, by_precision * q - 0.5))

    def curvature(z):
        m, q = z[:n], np.exp(z[n:])
        cross = np.diag(q * (m - y))
        by_precision = 0.5 * (m - y) ** 2 + 2 * beta * laplacian @ q
        corner = 2 * beta * q[:, None] * laplacian * q + np.diag(by_precision * q)
        return np.block([[np.diag(q) + 2 * alpha * laplacian, cross], [cross, corner]])

    found = minimize(value, np.zeros(2 * n), jac=slope, hess=curvature, method="trust-exact", options={"gtol": 1e-12})
    assert np.abs(slope(found.x)).max() < 1e-3
    z = found.x
    for _ in range(3):
        z = z - np.linalg.solve(curvature(z), slope(z))
    assert np.abs(slope(z)).max() < 1e-8
    return z[:n], np.exp(z[n:]), value(z)


@pytest.mark.parametrize(
    ("rho", "gamma"),
    [(0.01, 0.5), (0.5, 0.5), (0.9, 0.1), (0.99, 0.99), (0.1, 1e-3), (0.7, 0.999)],
)
def test_agrees_with_a_dense_minimiser(sine, rho, gamma):
    x, y = sine(64)
    mean, precision, energy = dense_minimum(x, y, rho, gamma)
    found = field.solve(x, y, rho, gamma)
    assert found.status is Status.CONVERGED
    np.testing.assert_allclose(found.mean, mean, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.precision, precision, rtol=1e-8)
    assert found.energy == pytest.approx(energy, abs=1e-9)


def manufactured_error(n, stretch, slant):
    """The error at a known solution: y and the variance follow from m and l through the stationarity conditions."""
    rho, gamma = 0.95, 0.5
    alpha = beta = 0.5 * (1 - rho) / rho
    s = -1 + (2 * np.arange(n) + 1) / n
    x = s + stretch * np.sin(np.pi * s) / np.pi
    wave, slope = np.cos(np.pi * x), -np.pi * np.sin(np.pi * x)
    density = 1 + slant * wave
    curvature = -(np.pi**2) * wave + slant * slope / density * slope  # (p f')' / p for f = cos(pi x)
    mean, precision = wave, 1.2 + 0.2 * wave
    residual = 2 * alpha * curvature / precision
    variance = 1 / precision + 4 * beta * 0.2 * curvature - residual**2
    found = field.solve(x, mean - residual, rho, gamma, density=density, variance=variance)
    assert found.status is Status.CONVERGED
    return max(np.abs(found.mean - mean).max(), np.abs(found.precision - precision).max())


@pytest.mark.parametrize(("stretch", "slant"), [(0.0, 0.0), (0.0, 0.4), (0.5, 0.0), (0.5, 0.4)])
def test_manufactured_solutions_converge_at_second_order(stretch, slant):
    errors = [manufactured_error(n, stretch, slant) for n in (64, 128, 256, 512)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(orders, 2.0, atol=0.1)


def test_rho_to_zero_gives_constants():
    """Table 1: the data is ignored, both fields are flat. (U_I)"""
    x = np.linspace(-1, 1, 500)
    y = np.random.default_rng(0).normal(3.0, 2.0, 500)
    found = field.solve(x, y, 1e-9, 0.5)
    assert found.status is Status.CONVERGED
    np.testing.assert_allclose(found.mean, y.mean(), atol=1e-6)
    np.testing.assert_allclose(found.precision, 1 / y.var(), rtol=1e-6)


@pytest.mark.parametrize("gamma", [1e-6, 0.01, 0.5, 0.99, 1 - 1e-6])
def test_rho_to_one_interpolates_and_has_no_minimum(sine, gamma):
    """Table 1 and Proposition 1 (i): overfit across all gamma, and in the end no solution. (O_I)"""
    found = field.solve(*sine(256), 1 - 1e-9, gamma)
    assert found.status is Status.RUNAWAY
    assert np.mean((found.mean - sine(256)[1]) ** 2) < 0.02


def test_gamma_to_one_matches_the_residuals(sine):
    """Table 1: a flat mean, and a free precision that matches each residual. (O_II)"""
    x, y = sine(256)
    found = field.solve(x, y, 0.5, 1 - 1e-12)
    assert found.status is Status.CONVERGED
    assert np.mean((found.precision**-0.5 - np.abs(found.mean - y)) ** 2) < 1e-3
    assert np.ptp(found.mean) < 0.5 * np.ptp(y)


def test_gamma_to_zero_interpolates_under_a_flat_precision(sine):
    """Table 1: an unregularised mean under a strongly regularised precision overfits until there is no minimum."""
    x, y = sine(256)
    found = field.solve(x, y, 0.5, 1e-9)
    assert found.status is Status.RUNAWAY
    assert np.ptp(found.precision) < 0.01 * found.precision.mean()
    assert np.mean((found.mean - y) ** 2) < 0.05


@pytest.mark.parametrize(("rho", "gamma"), [(0.0, 0.5), (1.0, 0.5), (0.5, 0.0), (0.5, 1.0)])
def test_the_edges_of_proposition_1_are_refused(sine, rho, gamma):
    with pytest.raises(InputError, match=r"rho = |gamma = ") as caught:
        field.solve(*sine(32), rho, gamma)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("n_points", [256, 512, 1024, 2048])
def test_results_do_not_depend_on_the_number_of_points_without_noise(sine, n_points):
    for rho, gamma in [(0.5, 0.5), (0.9, 0.1), (0.99, 0.9), (0.99, 0.1)]:
        fine, coarse = (field.solve(*sine(n, noise=0.0), rho, gamma) for n in (4096, n_points))
        assert fine.status == coarse.status
        if fine.status is Status.CONVERGED:
            for few, many in zip(coarse.fields, fine.fields, strict=True):
                on_coarse = np.interp(np.linspace(-1, 1, n_points), np.linspace(-1, 1, 4096), many)
                assert np.abs(few - on_coarse).max() < 8.0 / n_points * np.abs(many).max()


def test_known_variance_never_runs_away(sine):
    """Averaged over the noise the likelihood bounds the precision: by 1 / variance where that is constant."""
    x, y = sine(256, noise=0.0)
    found = field.solve(x, y, 0.999999, 0.01, variance=np.full(256, 0.25))
    assert found.status is Status.CONVERGED
    np.testing.assert_allclose(found.precision, 4.0, rtol=1e-3)
    np.testing.assert_allclose(found.mean, y, atol=1e-3)


def test_the_start_does_not_matter_where_there_is_one_minimum(sine):
    x, y = sine(512)
    flat = field.solve(x, y, 0.5, 0.5)
    for start in ("mean first", (y, np.full(512, 0.2))):
        other = field.solve(x, y, 0.5, 0.5, start=start)
        np.testing.assert_allclose(other.mean, flat.mean, atol=1e-9)
        np.testing.assert_allclose(other.precision, flat.precision, rtol=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.full(32, np.nan)}, "NaN"),
        ({"y": np.zeros(31)}, "one y for each x"),
        ({"y": np.ones(32)}, "constant"),
        ({"variance": -np.ones(32)}, "variance"),
        ({"start": "random"}, "not known"),
        ({"start": (np.zeros(31), np.ones(31))}, "shape"),
        ({"start": (np.zeros(32), np.zeros(32))}, "positive"),
    ],
)
def test_bad_input_gets_one_line(sine, change, message):
    x, y = sine(32)
    with pytest.raises(InputError, match=message) as caught:
        field.solve(**({"x": x, "y": y, "rho": 0.5, "gamma": 0.5} | change))
    assert "\n" not in str(caught.value)


def test_minima_are_distinct_stationary_and_sorted(sine):
    x, y = sine(512)
    rho, gamma = 1 / (1 + np.exp(-11)), 0.9
    found = field.minima(x, y, rho, gamma)
    assert len(found) >= 2
    assert [one.energy for one in found] == sorted(one.energy for one in found)
    problem = field.state(field.chain(x), y, rho, gamma)
    for one in found:
        again = field.minimise(problem, Fields(one.mean, one.precision))
        assert again.energy == pytest.approx(one.energy, abs=1e-8)
    assert found[1].energy - found[0].energy > 1.0


def test_one_minimum_where_regularisation_is_strong_and_none_beyond_the_fold(sine):
    x, y = sine(256)
    assert len(field.minima(x, y, 0.5, 0.5)) == 1
    assert field.minima(x, y, 1 - 1e-9, 0.5) == []
