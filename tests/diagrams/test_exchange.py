"""Exchange of models: each cell continues with the lowest objective, checked against the sum written out."""

import numpy as np
import pytest

from heteroscope.core.status import Status
from heteroscope.data.rows import Rows
from heteroscope.data.scaling import Scaling
from heteroscope.diagrams.exchange import best_models, summarise_round, weights_to_params
from heteroscope.diagrams.sources import DiagramRows
from heteroscope.networks import Architecture, init_params, input_gradients
from heteroscope.training import mean_first_recipe
from heteroscope.training.tile import Fit


def test_every_cell_gets_the_model_of_the_lowest_objective_there():
    random = np.random.default_rng(0)
    objective_terms = np.column_stack([random.normal(size=40), random.exponential(50, 40), random.exponential(50, 40)])
    rho, gamma = random.uniform(0.01, 0.999, (2, 40))
    found = best_models(objective_terms, np.log(rho / (1 - rho)), np.log(gamma / (1 - gamma)))
    for cell in range(40):
        ratio = (1 - rho[cell]) / rho[cell]
        tried = [w[0] + ratio * (gamma[cell] * w[1] + (1 - gamma[cell]) * w[2]) for w in objective_terms]
        assert found[cell] == np.argmin(tried)


def test_equal_models_are_one_and_a_broken_one_is_never_taken():
    objective_terms = np.array([[np.nan, 1.0, 1.0], [0.5, 0.0, 0.0], [0.5, 0.0, 0.0], [np.inf, 0.0, 0.0]])
    assert list(best_models(objective_terms, np.zeros(4), np.zeros(4))) == [1, 1, 1, 1]


def test_a_mean_of_zero_may_stay_so_while_all_others_choose_freely():
    objective_terms = np.array([[0.5, 0.0, 0.0], [0.4, 0.0, 0.1], [-3.0, 0.1, 0.1], [-2.0, 0.1, 0.0]])
    zeros = np.zeros(4)
    assert list(best_models(objective_terms, zeros, zeros)) == [2, 2, 2, 2]
    assert list(best_models(objective_terms, zeros, zeros, keep_zero_means=True)) == [1, 1, 2, 2]
    assert list(best_models(objective_terms[[0, 1]], zeros[:2], zeros[:2], keep_zero_means=True)) == [1, 1]


@pytest.mark.parametrize("hidden", [(), (5,), (4, 3)])
def test_a_vector_of_weights_is_the_model_again(hidden):
    architecture = Architecture(2, hidden)
    params = init_params(3, architecture)
    random = np.random.default_rng(1)
    rows = Rows(random.normal(size=(9, 2)), random.normal(size=9), np.ones(9))
    scaling: Scaling = rows.scaling()
    fit = Fit(params, Status.CONVERGED, 0.0, 0.0, 17)
    recipe = mean_first_recipe(architecture, 10)
    data = DiagramRows.of({"train": rows}, scaling)
    summary = summarise_round([fit, fit], data, recipe)
    n_weights, to_params = weights_to_params(architecture)
    assert summary["weights"].shape == (2, n_weights)
    assert summary["weights"].dtype == np.float32
    for network, other in zip(params, to_params(summary["weights"][1]), strict=True):
        for layer, again in zip(network, other, strict=True):
            np.testing.assert_array_equal(again.weight, layer.weight)
            np.testing.assert_array_equal(again.bias, layer.bias)
    assert list(summary["steps"]) == [17, 17]


def test_the_terms_are_those_of_the_penalty():
    random = np.random.default_rng(1)
    rows = Rows(random.normal(size=(9, 2)), random.normal(size=9), np.ones(9))
    data, architecture = DiagramRows.of({"train": rows}, rows.scaling()), Architecture(2, (5,), "tanh")
    params = init_params(3, architecture)
    fit, x = Fit(params, Status.CONVERGED, 0.0, 0.0, 17), data.inputs["train"]
    weights, gradients = (
        summarise_round([fit], data, mean_first_recipe(architecture, 10, penalty=penalty))["objective_terms"][0]
        for penalty in ("weights", "gradients")
    )
    squares = [sum(float(np.sum(layer.weight**2)) for layer in network) for network in params]
    np.testing.assert_allclose(weights[1:], squares, rtol=1e-6)
    slopes = input_gradients(params, x, "tanh")
    np.testing.assert_allclose(gradients[1:], [np.mean(np.sum(one**2, axis=1)) for one in slopes], rtol=1e-4)
    assert weights[0] == gradients[0]
