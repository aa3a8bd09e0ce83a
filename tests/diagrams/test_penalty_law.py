"""The law of the penalty: recovered from made-up cells, and only from those that count."""

import numpy as np
import pytest
import xarray as xr

from heteroscope.core import InputError
from heteroscope.diagrams import cells_that_count, fit_penalty_law, penalty_table

ALPHAS = np.array([0.001, 0.01, 0.1, 1.0, 2.0])
RHO = 1e-4


def diagram(energy, mse, gradient, spread=0.0):
    """One row of networks whose squared weights are 7 E^0.4."""
    gammas = ALPHAS * RHO / (1 - RHO)
    nll = 0.5 * (1.0 + np.log(mse)) + 0.5 * np.log(2 * np.pi)
    objective = nll - 0.5 * np.log(2 * np.pi) + ALPHAS * 7.0 * energy**0.4
    cell, split = ("rho", "gamma", "seed"), ("rho", "gamma", "seed", "split")
    values = {
        "nll": nll,
        "mean_mse": mse,
        "mean_energy": energy,
        "precision_energy": 0 * mse,
        "squared_score": 1 + 0 * mse,
    }
    return xr.Dataset(
        {name: (split, value[None, :, None, None]) for name, value in values.items()}
        | {
            "objective": (cell, objective[None, :, None]),
            "relative_gradient": (cell, gradient[None, :, None]),
            "log_precision_spread": (cell, np.full((1, 5, 1), spread)),
        },
        coords={"rho": [RHO], "gamma": gammas, "seed": [0], "split": ["train"]},
        attrs={"source": "networks"},
    )


ENERGY, MSE = np.array([300.0, 30.0, 3.0, 0.3, 0.03]), np.array([0.1, 0.2, 0.4, 0.8, 0.9])


def test_the_law_of_made_up_networks_is_found():
    law = fit_penalty_law(cells_that_count(penalty_table(diagram(ENERGY, MSE, np.zeros(5)), "mean")))
    assert law.factor == pytest.approx(7.0, rel=1e-6)
    assert law.power == pytest.approx(0.4, rel=1e-6)
    assert law.decades == pytest.approx(4.0)
    assert law.holds


def test_cells_that_have_not_settled_are_flat_or_memorise_do_not_count():
    gradient = np.array([0.0, 0.5, 0.0, 0.0, 0.0])
    mse = np.array([1e-4, 0.2, 0.4, 0.8, 0.99])
    assert penalty_table(diagram(ENERGY, mse, gradient), "mean")["counts"].tolist() == [False, False, True, True, False]
    assert not penalty_table(diagram(ENERGY, MSE, np.zeros(5), spread=0.2), "mean")["counts"].any()
    few = cells_that_count(penalty_table(diagram(ENERGY, mse, gradient), "mean"))
    assert fit_penalty_law(few) is None


def test_a_diagram_of_the_theory_has_no_weights():
    with pytest.raises(InputError, match="networks"):
        penalty_table(diagram(ENERGY, MSE, np.zeros(5)).assign_attrs(source="field theory"), "mean")
