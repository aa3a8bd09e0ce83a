"""The dressed theory: a law of c = p = 1 is the plain theory, the jump is that of its formula, ramps by other means."""

import numpy as np
import pytest

from heteroscope import field
from heteroscope.core import InputError, Status
from heteroscope.datasets import simulated
from heteroscope.diagrams import PenaltyLaw, dressed_diagram, dressed_theory, mean_jump, ramp_onset

IDENTITY = PenaltyLaw(1.0, 1.0, 0.0, 3.0, 9)
SINE = PenaltyLaw(np.exp(1.97), 0.438, 0.1, 3.0, 9)


@pytest.fixture(scope="module")
def rows():
    x, y, _ = simulated.row_draws("sine")
    return x, y


def test_a_law_of_one_is_the_plain_theory(rows, monkeypatch):
    monkeypatch.setattr(dressed_theory, "_LOG_PENALTIES", np.linspace(0.2, 1.2, 5))
    x, y = rows
    rho, gamma = 0.2, 0.5  # alpha = beta = 2, inside the solutions
    found = dressed_diagram(x, y, IDENTITY, IDENTITY, rhos=[rho], gammas=[gamma])
    plain = field.solve(x, y, rho, gamma, density="points")
    assert plain.status is Status.CONVERGED
    energy = field.chain(x, "points").dirichlet(plain.mean) / len(x)
    assert float(found.mean_energy.squeeze()) == pytest.approx(energy, rel=0.5)  # the next solution is 0.25 away in log
    assert found.attrs["source"] == "dressed field theory"


def test_a_strong_penalty_is_flat_and_a_weak_one_runs_away(rows, monkeypatch):
    monkeypatch.setattr(dressed_theory, "_LOG_PENALTIES", np.append(np.arange(-12.0, 8.0, 5.0), 30.0))
    found = dressed_diagram(*rows, SINE, SINE, rhos=[1e-6, 0.9999], gammas=[0.5])
    assert found.phase.values.ravel()[0] == "U_I"
    assert found.status.values.ravel().tolist() == ["converged", "runaway"]


def test_the_jump_is_where_alive_and_flat_have_equal_objectives(rows):
    x, y = rows
    lattice = field.chain(x, "points")
    jump = mean_jump(lattice, y, SINE)
    best = -np.inf
    for q in np.exp(np.linspace(-8, 12, 2001)):
        residual = lattice.solve(np.full(64, q), 1.0, lattice.laplacian(y))
        share = np.mean(residual**2) / np.var(y)
        if 1e-3 < share < 0.999:
            energy = lattice.dirichlet(y - residual) / 64
            best = max(best, -0.5 * np.log(share) / (SINE.factor * energy**SINE.power))
    assert jump.alpha == pytest.approx(best, rel=1e-3)
    assert jump.largest_alpha >= jump.alpha


def test_the_onset_of_one_hidden_layer_is_that_of_small_networks(rows):
    x, y = rows
    slopes = [
        np.mean((y - y.mean()) * np.maximum(sign * (x - b), 0)) for b in np.linspace(-2, 2, 2000) for sign in (1, -1)
    ]
    assert ramp_onset(x, y, 1) == pytest.approx(np.max(np.abs(slopes)) / (2 * np.var(y)), rel=1e-3)


def test_deeper_networks_leave_the_flat_state_later(rows):
    onsets = [ramp_onset(*rows, depth) for depth in (1, 2, 3)]
    assert onsets == sorted(onsets, reverse=True)
    with pytest.raises(InputError, match="at least 1"):
        ramp_onset(*rows, 0)
