"""One descent: every step lowers the energy, runaways diverge, and the end says how far it came."""

import numpy as np

from heteroscope import field
from heteroscope.field import Fields, Status
from heteroscope.field.descent import alternate, best_mean


def test_a_runaway_left_to_run_really_diverges(sine):
    """Exact alternations from the certified fields multiply the lowest precision by its ratio to the bound, or more."""
    x, y = sine(128)
    problem = field.state(field.chain(x), y, 0.999, 0.01)
    found = field.minimise(problem, Fields(np.zeros(128), np.ones(128)))
    assert found.status is Status.RUNAWAY
    bound, precision, energy = field.runaway_bound(problem), found.precision, found.energy
    for _ in range(4):
        mean = best_mean(problem, precision)
        assert np.abs(mean - y).max() <= np.sqrt(bound) / precision.min() + 1e-12
        lowest = precision.min()
        precision = alternate(problem, Fields(mean, precision), precision_steps=60).precision
        assert precision.min() > lowest * lowest / bound * (1 - 1e-6)
        assert field.energy(problem, Fields(mean, precision)) < energy
        energy = field.energy(problem, Fields(mean, precision))


def test_every_precision_step_descends_and_stays_positive(sine):
    """t = 1 / (1 + max(-d / precision)) is long enough to move and short enough to descend, from any positive start."""
    x, y = sine(64)
    rng = np.random.default_rng(0)
    for gamma in (0.01, 0.999999):
        problem = field.state(field.chain(x), y, 0.9, gamma)
        for _ in range(20):
            fields = Fields(rng.normal(size=64), np.exp(rng.normal(scale=5.0, size=64)))
            moved = Fields(fields.mean, alternate(problem, fields, precision_steps=1).precision)
            assert moved.precision.min() > 0
            assert field.energy(problem, moved) < field.energy(problem, fields)


def test_a_million_fold_stiff_cell_still_reaches_the_tolerance(sine):
    """At rho = 1e-6 the precision's curvature lies below the last digit of float64; the tail still resolves it."""
    found = field.solve(*sine(4096), 1e-6, 0.5)
    assert found.status is Status.CONVERGED
    assert found.residual <= 1e-10


def test_out_of_steps_says_so_with_its_residual(sine):
    found = field.solve(*sine(256), 0.999, 0.9999, max_steps=3)
    assert found.status is Status.OUT_OF_STEPS
    assert found.n_steps == 3
    assert found.residual > 1e-10
