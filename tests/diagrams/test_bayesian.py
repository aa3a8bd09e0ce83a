"""The diagram of the posterior mean and the surface of evidences: their cells are those of `field.posterior`."""

import numpy as np
import pytest

from heteroscope import field
from heteroscope.core.errors import InputError
from heteroscope.diagrams import posterior_diagram


@pytest.fixture(scope="module")
def draws():
    x = np.linspace(-1, 1, 24)
    rng = np.random.default_rng(0)
    return x, *(np.sin(3 * x) + 0.5 * rng.standard_normal((2, 24)))


def test_cells_are_posteriors(draws):
    x, y, y_test = draws
    seen = posterior_diagram(x, y, y_test=y_test, rhos=[0.01, 0.9, 0.9999], gammas=[0.01, 0.5])
    found = field.posterior(x, y, 0.9, 0.5, method="variational")
    cell = seen.sel(rho=0.9, gamma=0.5).isel(seed=0)
    for name in ("mean", "std", "aleatoric", "epistemic"):
        np.testing.assert_allclose(cell[name], getattr(found.predictive, name), rtol=1e-6)
    assert float(cell.log_evidence) == pytest.approx(found.log_evidence)
    residual = (y_test - found.predictive.mean) / found.predictive.std
    known = np.mean(0.5 * residual**2 + np.log(found.predictive.std) + 0.5 * np.log(2 * np.pi))
    assert float(cell.nll.sel(split="test")) == pytest.approx(known)
    assert dict(seen.sizes) == {"rho": 3, "gamma": 2, "seed": 1, "split": 2, "row": 24, "feature": 1}
    assert np.isfinite(seen.nll).all(), "there is no runaway"
    assert str(seen.phase.sel(rho=0.01, gamma=0.5).values[0]) == "U_I"
    assert np.isnan(seen.r_hat).all()


def test_the_surface_holds_evidence_and_held_out_nll(draws):
    x, y, y_test = draws
    seen = field.evidence_surface(x, y, [1.0, 0.01], [0.1, 1.0], y_test=y_test, method="laplace")
    np.testing.assert_array_equal(seen.alphas, [0.01, 1.0])
    alpha, beta = 0.01, 0.1
    found = field.posterior(x, y, 1 / (1 + alpha + beta), alpha / (alpha + beta))
    assert seen.log_evidence[0, 0] == pytest.approx(found.log_evidence, abs=1e-6)
    assert seen.held_out_nll[0, 0] == pytest.approx(-found.log_predictive_density(y_test).mean(), abs=1e-6)
    i, j = np.unravel_index(seen.log_evidence.argmax(), (2, 2))
    assert seen.best == (seen.alphas[i], seen.betas[j])
    assert np.isnan(field.evidence_surface(x, y, [1.0], [1.0]).held_out_nll).all()
    with pytest.raises(InputError, match="alphas must hold"):
        field.evidence_surface(x, y, [0.0], [1.0])
