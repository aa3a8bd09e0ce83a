"""The one name of scikit-learn that is needed and not public.

A search over several scorers that is fitted with weights calls `_accept_sample_weight()` of each scorer (scikit-learn
1.7 and later; earlier versions pass weights to no scorer). Scorers of `make_scorer` have it, but those see only one
array of predictions, and ours need a mean and a std. `tests/test_sklearn_internals.py` fails when the name moves.
"""


class AcceptsSampleWeight:
    """A scorer whose `__call__(estimator, X, y, sample_weight=None)` takes weights."""

    def _accept_sample_weight(self) -> bool:
        """Tell scikit-learn's searches to pass weights on."""
        return True
