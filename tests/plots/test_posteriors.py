"""Figures of posteriors: everything that is said to be drawn is there."""

import numpy as np
import pytest

from heteroscope import field
from heteroscope.core.errors import InputError
from heteroscope.field import EvidenceSurface
from heteroscope.plots import epistemic_figure, evidence_figure, posterior_figure, posterior_maps

X = np.linspace(-1, 1, 20)


@pytest.fixture(scope="module")
def found():
    y = np.sin(3 * X) + 0.3 * np.random.default_rng(0).standard_normal(20)
    return field.posterior(X, y, 0.9, 0.5, method="variational")


def test_bands_of_both_fields(found, shown_texts):
    figure = posterior_figure(found, np.sin(3 * X), np.full(20, 0.3), "made up")
    upper, lower = figure.axes
    lines = {line.get_label(): line.get_ydata() for line in (*upper.lines, *lower.lines)}
    np.testing.assert_allclose(lines["median"], np.median(found.samples.precision**-0.5, axis=(0, 1)))
    np.testing.assert_allclose(lines["truth"], 0.3)
    assert len(upper.collections) == 2
    top = upper.collections[0].get_paths()[0].vertices[:, 1].max()
    assert top == pytest.approx((found.mean + 2 * found.predictive.std).max())
    assert "made up" in shown_texts(figure)
    with pytest.raises(InputError, match="no line"):
        posterior_figure(found._replace(x=None))


def test_the_best_of_evidence_and_of_held_out_nll_are_marked():
    alphas, betas = np.array([0.01, 0.1, 1.0]), np.array([0.1, 1.0])
    evidence = np.array([[0.0, 1.0], [np.nan, 3.0], [-50.0, 2.0]])
    nll = np.array([[1.5, 1.4], [1.2, 1.3], [3.0, 2.0]])
    surface = EvidenceSurface(alphas, betas, evidence, np.zeros((3, 2)), nll)
    figure = evidence_figure(surface)
    star, circle = figure.axes[0].lines
    assert (star.get_xdata()[0], star.get_ydata()[0]) == (0.1, 1.0)
    assert (circle.get_xdata()[0], circle.get_ydata()[0]) == (0.1, 0.1)
    with pytest.raises(InputError, match="y_test"):
        evidence_figure(surface._replace(held_out_nll=np.full((3, 2), np.nan)))


def test_maps_show_phases_above_and_scores_below(theory, networks, shown_texts, hatched_cells):
    minimum, averaged = theory(), networks(n_seeds=1)
    figure = posterior_maps({"minimum": minimum, "posterior mean": averaged})
    texts = shown_texts(figure)
    assert {"minimum", "posterior mean", "runaway from the flat field"} <= set(texts)
    runaways = (minimum.status.isel(seed=0) == "runaway").values
    hatched = hatched_cells(figure.axes[0], minimum.rho.values, minimum.gamma.values)
    np.testing.assert_array_equal(hatched, runaways)
    drawn = figure.axes[2].collections[0].get_array().T
    np.testing.assert_allclose(drawn[~runaways], minimum.nll.isel(seed=0).sel(split="test").values[~runaways])


def test_epistemic_stds_of_all_methods(shown_texts):
    x = np.linspace(-2, 2, 9)
    figure = epistemic_figure(x, {"field": 0.1 + x**2, "networks": np.full(9, 0.3)}, X, (-1.0, 1.0))
    lines = {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}
    np.testing.assert_allclose(lines["field"], 0.1 + x**2)
    assert len(figure.axes[0].patches) == 2, "outside of the data"
    assert {"field", "networks"} <= set(shown_texts(figure))
