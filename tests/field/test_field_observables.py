"""Observables against their definitions, and averages over noise against draws done by hand and the averaged energy."""

import numpy as np
import pytest

from heteroscope import field
from heteroscope.core.errors import InputError
from heteroscope.distributions.metrics import dirichlet_energy
from heteroscope.field import Status

RHOS, GAMMAS = [0.1, 0.9, 1 - 1e-9], [0.1, 0.9]


def truth(n):
    x = np.linspace(-1, 1, n)
    return x, np.sin(2 * np.pi * x), 0.3 + 0.2 * x


def test_observables_are_their_definitions(sine):
    x, y = sine(100)
    grid = field.solve_grid(x, y, RHOS, GAMMAS)
    found = field.observables(field.chain(x), y, grid)
    mean, precision = grid.mean[1, 0], grid.precision[1, 0]
    assert grid.status[1, 0] == Status.CONVERGED
    assert found.mean_mse[1, 0] == pytest.approx(np.mean((mean - y) ** 2))
    assert found.std_mse[1, 0] == pytest.approx(np.mean((precision**-0.5 - np.abs(mean - y)) ** 2))
    assert found.mean_energy[1, 0] == pytest.approx(dirichlet_energy(x, mean))
    assert found.precision_energy[1, 0] == pytest.approx(dirichlet_energy(x, precision))


def test_a_runaway_has_no_observables(sine):
    x, y = sine(100)
    grid = field.solve_grid(x, y, RHOS, GAMMAS)
    runaway = grid.status == Status.RUNAWAY
    assert runaway[2].all()
    for values in field.observables(field.chain(x), y, grid):
        np.testing.assert_array_equal(np.isnan(values), runaway)


def test_averages_and_spreads_are_those_of_the_draws():
    x, mean, std = truth(128)
    seen = []
    found = field.noise_average(
        x, mean, std, RHOS, GAMMAS, n_draws=3, seed=5, progress=lambda done, total: seen.append((done, total))
    )
    assert seen[-1] == (9, 9)
    rng = np.random.default_rng(5).spawn(3)[1]
    y = mean + std * rng.standard_normal(128)
    by_hand = field.observables(field.chain(x), y, field.solve_grid(x, y, RHOS, GAMMAS))
    np.testing.assert_array_equal(found.draws.std_mse[1], by_hand.std_mse)
    np.testing.assert_allclose(found.average.mean_mse[:2], found.draws.mean_mse[:, :2].mean(axis=0))
    np.testing.assert_allclose(found.spread.mean_mse[:2], found.draws.mean_mse[:, :2].std(axis=0))
    assert np.isnan(found.average.mean_mse[2]).all()
    np.testing.assert_allclose(found.runaway, [[0, 0], [0, 0], [1, 1]])


def test_draws_close_in_on_the_solution_of_the_averaged_energy():
    """Smooth fields average the noise of many points: the distance falls as the root of their number."""

    def distance(n):
        x, mean, std = truth(n)
        averaged = field.solve(x, mean, 0.99, 0.5, variance=std**2)
        draws = [mean + std * np.random.default_rng(k).standard_normal(n) for k in range(4)]
        return np.sqrt(np.mean([(field.solve(x, y, 0.99, 0.5).mean - averaged.mean) ** 2 for y in draws]))

    assert distance(1_000) / distance(64_000) == pytest.approx(8.0, rel=0.5)


@pytest.mark.parametrize(("change", "message"), [({"std": -np.ones(9)}, "negative"), ({"n_draws": 0}, "at least 1")])
def test_bad_noise_gets_one_line(change, message):
    x, mean, std = truth(9)
    with pytest.raises(InputError, match=message):
        field.noise_average(**({"x": x, "mean": mean, "std": std, "rhos": [0.5], "gammas": [0.5]} | change))
