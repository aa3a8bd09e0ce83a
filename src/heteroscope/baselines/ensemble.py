"""An ensemble of any estimator here: members that differ in their seeds alone, as one Gaussian.

mean = average of means,    variance = average of (std^2 + mean^2) - mean^2
"""

from typing import Any

import numpy as np
from jaxtyping import Float
from sklearn.base import clone
from sklearn.utils import check_random_state

from heteroscope.baselines.mle import MLERegressor
from heteroscope.core import InputError, check_positive_integer, progress_bar
from heteroscope.estimators import GaussianRegressor, StreamRegressor, member_seeds, refuse_stream
from heteroscope.networks import Prediction


class EnsembleRegressor(StreamRegressor):
    """mean = average of means, variance = average of (std^2 + mean^2) - mean^2, over clones of one estimator.

    Unlike `MLEEnsembleRegressor` and `n_members`, which average fits at one choice of the regularisation, every member
    here makes all its choices for itself. The moments of heavy tails are matched too: the forecast is a Gaussian.

    Parameters
    ----------
    estimator : a regressor of this project, unfitted; None is `MLERegressor()`.
    n_members : how many clones of it.
    n_jobs : processes of a member's fit; None leaves it to the estimator. Members are fitted one after the other.
    random_state : seed of the members' seeds.
    verbose : 1 for a progress bar.

    Attributes
    ----------
    estimators_ : the fitted members. `phase_`, `status_`, `observables_`, `n_iter_` : as in
    `HeteroskedasticRegressor`, of all members together; the held-out score is the median of theirs.
    """

    estimators_: list[GaussianRegressor]

    def __init__(
        self,
        estimator: Any = None,
        n_members: Any = 5,
        *,
        n_jobs: Any = None,
        random_state: Any = None,
        verbose: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.n_members = n_members
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "EnsembleRegressor":
        """Fit every member on all rows, as they are given: a splitter of theirs may count on the order."""
        template = MLERegressor() if self.estimator is None else self.estimator
        if not isinstance(template, GaussianRegressor):
            raise InputError(
                f"estimator must be a regressor of heteroscope such as MLERegressor(), got {type(template).__name__}"
            )
        n_members = check_positive_integer("n_members", self.n_members)
        refuse_stream(self, X)
        given, rows = self._check_fit_input(X, y, sample_weight)
        seeds = member_seeds(check_random_state(self.random_state), n_members)
        shared = {} if self.n_jobs is None else {"n_jobs": self.n_jobs}
        self.estimators_ = []
        with progress_bar("fitting", bool(self.verbose)) as progress:
            for seed in seeds:
                member = clone(template).set_params(random_state=seed, **shared)
                self.estimators_.append(member.fit(given.x, given.y, given.weight))
                if progress:
                    progress(len(self.estimators_), n_members)
        self.status_ = tuple(status for member in self.estimators_ for status in member.status_)
        self.n_iter_ = max(member.n_iter_ for member in self.estimators_)
        scores = [member.observables_.held_out_score for member in self.estimators_]
        known = [score for score in scores if score is not None]
        held_out = float(np.median(known)) if len(known) == n_members else None
        self._observe(rows, held_out)
        return self

    def _combine(self, x: Float[np.ndarray, "point feature"]) -> Prediction:
        """Members that know an epistemic part of their own keep it there."""
        parts = [member.predict_parts(x) for member in self.estimators_]
        mean, aleatoric, epistemic = (
            np.array([getattr(part, name) for part in parts]) for name in ("mean", "aleatoric", "epistemic")
        )
        noise = np.sqrt(np.mean(aleatoric**2, axis=0))
        ignorance = np.sqrt(np.mean(epistemic**2, axis=0) + np.var(mean, axis=0))
        return Prediction(mean.mean(axis=0), np.hypot(noise, ignorance), noise, ignorance)
