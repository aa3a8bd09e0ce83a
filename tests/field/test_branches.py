"""Branches turn at the fold and are unstable beyond it."""

import numpy as np
import pytest

from heteroscope import field
from heteroscope.core.errors import InputError
from heteroscope.field import Fields, Status


def test_branch_turns_at_the_fold_and_is_unstable_beyond_it(sine):
    x, y = sine(256)
    branch = field.branch(x, y, 0.9, 0.01, max_points=60)
    turn = int(np.argmax(branch.logit_rho))
    assert 0 < turn < len(branch.logit_rho) - 1
    assert branch.logit_rho[turn] == pytest.approx(field.fold(x, y, 0.01).logit_rho, abs=1e-2)
    assert branch.stable[: turn - 1].all()
    assert not branch.stable[turn + 2 :].any()
    for s, mean, precision in zip(branch.logit_rho, branch.mean, branch.precision, strict=True):
        problem = field.state(field.chain(x), y, 1 / (1 + np.exp(-s)), 0.01)
        assert field.equations(problem, Fields(mean, precision)).relative < 1e-3


def test_a_descent_that_starts_at_a_saddle_leaves_it(sine):
    """The unstable branch is stationary to rounding, and still no answer: descent ends in a minimum or a runaway."""
    x, y = sine(256)
    branch = field.branch(x, y, 0.9, 0.01, max_points=30)
    unstable = int(np.flatnonzero(~branch.stable)[-1])
    saddle = Fields(branch.mean[unstable], branch.precision[unstable])
    found = field.solve(x, y, 1 / (1 + np.exp(-branch.logit_rho[unstable])), 0.01, start=saddle)
    assert found.status is not Status.OUT_OF_STEPS
    assert np.abs(np.log(found.precision / saddle.precision)).mean() > 0.1


def test_branch_needs_a_finite_solution_to_start_from(sine):
    with pytest.raises(InputError, match="smaller rho"):
        field.branch(*sine(64), 0.9999, 0.01)
    with pytest.raises(InputError, match="rho = 1"):
        field.branch(*sine(64), 1.0, 0.01)
