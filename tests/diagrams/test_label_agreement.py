"""Agreement of two diagrams: a diagram against itself, and against one that was shifted by a known amount."""

import numpy as np
import pytest
import xarray as xr
from scipy.special import expit, logit

from heteroscope.diagrams.label_agreement import agreement, cohens_kappa

AXIS = expit(np.arange(-9.0, 9.5, 0.5))


def invented(shift_alpha=0.0, shift_beta=0.0, axis=AXIS):
    """Three regions bounded by lines of constant alpha and beta."""
    z_rho, gamma = logit(axis)[:, None], axis[None, :]
    log_alpha, log_beta = np.log(gamma) - z_rho + shift_alpha, np.log1p(-gamma) - z_rho + shift_beta
    phase = np.where(log_alpha > 0, "U_I", np.where(log_beta > -2, "S", "O_II"))
    return xr.Dataset({"phase": (("rho", "gamma", "seed"), phase[:, :, None])}, {"rho": axis, "gamma": axis})


def test_a_diagram_agrees_with_itself():
    assert agreement(invented(), invented()) == (1.0, 1.0, 0.0, 0.0, 1.0, 1.0, False)


def test_a_shift_is_found():
    found = agreement(invented(2.0, -1.5), invented())
    assert found.unshifted < 0.95
    assert found.share > 0.97
    assert (found.log_alpha, found.log_beta) == pytest.approx((2.0, -1.5), abs=0.5)


def test_grids_may_differ_and_cells_without_a_label_do_not_count():
    coarse = invented(axis=expit(np.arange(-8.0, 9.0, 2.0)))
    coarse["phase"][0, :, 0] = ""
    assert agreement(coarse, invented()).share > 0.97


def test_a_shift_at_the_edge_of_its_search_is_flagged():
    assert not agreement(invented(2.0, -1.5), invented()).at_edge
    assert agreement(invented(20.0, 20.0), invented()).at_edge


def test_kappa_is_cohens():
    labels, others = np.array(list("aabbbbcc")), np.array(list("aabbbacc"))
    assert cohens_kappa(labels, others) == pytest.approx((7 / 8 - 22 / 64) / (1 - 22 / 64))
    assert cohens_kappa(labels, labels) == 1.0
    assert np.isnan(cohens_kappa(np.array(["a", "a"]), np.array(["a", "a"])))
