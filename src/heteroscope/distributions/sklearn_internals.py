"""Provide the one private name of scikit-learn that this project needs.

When a search over several scorers is fitted with weights, scikit-learn 1.7 and later call `_accept_sample_weight()` of
each scorer; earlier versions pass weights to no scorer. Scorers of `make_scorer` have this method, but they receive one
array of predictions, and ours need a mean and a std. `tests/distributions/test_sklearn_internals.py` fails if the name
changes.
"""


class AcceptsSampleWeight:
    """Base class of scorers whose `__call__(estimator, X, y, sample_weight=None)` takes weights."""

    def _accept_sample_weight(self) -> bool:
        """Return True, so that scikit-learn passes weights to the scorer."""
        return True
