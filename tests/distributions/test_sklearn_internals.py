"""scikit-learn passes weights to scorers that declare themselves as ours do: this fails when its private name moves."""

import numpy as np
import pytest
import sklearn
from packaging.version import Version
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import GridSearchCV

from heteroscope.distributions.sklearn_internals import AcceptsSampleWeight


class Recorder(AcceptsSampleWeight):
    def __init__(self):
        self.weights = []

    def __call__(self, estimator, X, y, sample_weight=None):
        self.weights.append(sample_weight)
        return 0.0


@pytest.mark.skipif(Version(sklearn.__version__) < Version("1.7"), reason="no scorer of a search is given weights")
@pytest.mark.parametrize("n_scorers", [1, 2])
def test_a_weighted_search_gives_weights_to_its_scorers(n_scorers):
    recorders = {f"scorer {number}": Recorder() for number in range(n_scorers)}
    scoring = recorders if n_scorers > 1 else recorders["scorer 0"]
    x = np.random.default_rng(0).normal(size=(20, 1))
    search = GridSearchCV(BayesianRidge(), {"alpha_1": [1e-6, 1e-2]}, scoring=scoring, refit=False, cv=2)
    search.fit(x, x[:, 0], sample_weight=np.full(20, 3.0))
    for recorder in recorders.values():
        assert len(recorder.weights) == 4
        for weight in recorder.weights:
            np.testing.assert_array_equal(weight, np.full(10, 3.0))
