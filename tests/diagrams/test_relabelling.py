"""Labels made anew from what a diagram keeps are those of the rows themselves."""

import numpy as np
import pytest

from heteroscope import field_diagram, phase_diagram
from heteroscope.core.errors import InputError
from heteroscope.core.status import Status
from heteroscope.datasets import simulated
from heteroscope.diagrams.dataset import without_rows
from heteroscope.diagrams.relabelling import observables, relabel
from heteroscope.phases import observe, observe_held_out


def forgotten(diagram):
    """The diagram without its rows and with no label but that of a runaway, which has no numbers."""
    return without_rows(
        diagram.assign(phase=diagram.phase.where(diagram.status == Status.RUNAWAY, "U_I").astype("<U7"))
    )


@pytest.mark.parametrize("with_test", [True, False])
def test_the_theory_is_labelled_as_its_fields_are(with_test):
    x, y, y_test = simulated.field_draws("sine", 128)
    axis = [1e-4, 0.1, 0.5, 0.9, 0.99, 0.9999]
    found = field_diagram(x, 3.0 * y, y_test=3.0 * y_test if with_test else None, rhos=axis, gammas=axis)
    assert len(np.unique(found.phase)) > 2
    np.testing.assert_array_equal(relabel(forgotten(found)).phase, found.phase)


def test_networks_are_labelled_and_observed_as_their_rows_are():
    split, _ = simulated.draw("sine", n_train=30, n_test=30)
    found = phase_diagram(
        split.x_train,
        split.y_train,
        X_test=split.x_test,
        y_test=split.y_test,
        rhos=[0.1, 0.9],
        gammas=[0.01, 0.9],
        hidden=(4,),
        max_steps=20,
        exchange=False,
    )
    assert (relabel(forgotten(found)).phase == found.phase).all()
    seen = observables(found, np.ones((2, 2, 1), bool))[1]
    cell = found.isel(rho=0, gamma=1, seed=0)
    y, mean, std = (
        {s: cell[name].values[cell.row_split == s].astype(float) for s in ("train", "test")}
        for name in ("y", "mean", "std")
    )
    held_out = observe_held_out(y["test"], mean["test"], std["test"], y["train"])
    expected = observe(y["train"], mean["train"], std["train"], held_out=held_out)
    np.testing.assert_allclose(seen[:5], expected[:5], rtol=1e-4)
    np.testing.assert_allclose(seen.held_out, held_out, rtol=1e-4)


def test_a_diagram_without_the_numbers_is_refused_in_one_line():
    x, y = simulated.field_draw("sine", 32)
    found = field_diagram(x, y, rhos=[0.5], gammas=[0.5]).drop_vars("mean_spread")
    with pytest.raises(InputError, match="no 'mean_spread'"):
        relabel(found)
