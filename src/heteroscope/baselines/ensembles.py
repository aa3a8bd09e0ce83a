"""Ensembles: several models with different seeds, matched into one Gaussian per row.

mean = average of means,    variance = average of (std^2 + mean^2) - mean^2

`MLEEnsembleRegressor` trains all members at one weight decay (deep ensembles; Lakshminarayanan, Pritzel & Blundell
2017). `EnsembleRegressor` fits clones of any regressor of this project, each with all its own choices.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state

from heteroscope.baselines.base import RandomSeed
from heteroscope.baselines.mle_and_beta_nll import MLERegressor
from heteroscope.core import InputError, check_positive_integer, progress_bar
from heteroscope.data import Stream
from heteroscope.estimators import (
    COMMON_FIELDS,
    FieldKind,
    FittedFields,
    GaussianRegressor,
    StreamRegressor,
    member_seeds,
    refuse_stream,
)
from heteroscope.networks import Prediction
from heteroscope.phases import HeldOut


@dataclass(eq=False, repr=False)
class MLEEnsembleRegressor(MLERegressor):
    """Deep ensemble: several maximum-likelihood models with different starts, matched into one Gaussian per row.

    All members are trained on the same rows and differ in their starts and batches. The weight decay is chosen by the
    held-out likelihood of two members together: an ensemble needs a weaker penalty than one model.

    Parameters
    ----------
    n_members : int, default=6
        Models in the ensemble.
    held_out, hidden, activation, start, max_steps, batch_size, n_jobs, random_state, verbose, weight_decay
        As in `MLERegressor`, as are the attributes.

    See Also
    --------
    MLERegressor : One model; describes the other parameters and the attributes.
    EnsembleRegressor : An ensemble of any regressor.
    """

    n_members: int = 6

    def member_count(self) -> int:
        """Return `n_members`."""
        return check_positive_integer("n_members", self.n_members)


class EnsembleRegressor(StreamRegressor):
    """Ensemble of clones of one regressor with different seeds, matched into one Gaussian per row.

    mean = average of means, variance = average of (std^2 + mean^2) - mean^2. Unlike `MLEEnsembleRegressor`, and unlike
    `n_members` of other regressors, each member chooses its own regularisation. If the members predict distributions
    with heavy tails, their mean and variance are matched, too: the forecast is a Gaussian.

    Parameters
    ----------
    estimator : GaussianRegressor, default=None
        An unfitted regressor of this project; None is `MLERegressor()`.
    n_members : int, default=5
        How many clones are fitted, one after the other.
    n_jobs : int, default=None
        Number of processes for the fit of one member; None keeps the estimator's own.
    random_state : int or RandomState, default=None
        Seed of the members' seeds.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    estimators_ : list of GaussianRegressor
        The fitted members.
    phase_, status_, observables_, n_iter_
        As in `HeteroskedasticRegressor`, of all members together; held-out numbers are medians over the members.
    """

    fitted_fields: ClassVar[FittedFields] = {**COMMON_FIELDS, "estimators_": FieldKind.ESTIMATORS}

    estimators_: list[GaussianRegressor]

    def __init__(
        self,
        estimator: GaussianRegressor | None = None,
        n_members: int = 5,
        *,
        n_jobs: int | None = None,
        random_state: RandomSeed = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_members = n_members
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self, X: ArrayLike | Stream, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> "EnsembleRegressor":
        """Fit every member on all rows.

        The members get the rows in the order given, since a member's cross-validation splitter may depend on it.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The inputs; a stream is refused.
        y : array-like of shape (n_rows,)
            The target.
        sample_weight : array-like of shape (n_rows,), default=None
            One weight >= 0 per row; None weighs all rows equally.

        Returns
        -------
        EnsembleRegressor
            The fitted estimator itself.
        """
        template = MLERegressor() if self.estimator is None else self.estimator
        if not isinstance(template, GaussianRegressor):
            raise InputError(
                f"estimator must be a regressor of heteroscope such as MLERegressor(), got {type(template).__name__}"
            )
        n_members = check_positive_integer("n_members", self.n_members)
        refuse_stream(self, X)
        given, rows = self._check_fit_input(X, y, sample_weight)
        seeds = member_seeds(check_random_state(self.random_state), n_members)
        shared: dict[str, Any] = {} if self.n_jobs is None else {"n_jobs": self.n_jobs}
        self.estimators_ = []
        with progress_bar("fitting", bool(self.verbose)) as progress:
            for seed in seeds:
                member = clone(template).set_params(random_state=seed, **shared)
                self.estimators_.append(member.fit(given.x, given.y, given.weight))
                if progress:
                    progress(len(self.estimators_), n_members)
        self.status_ = tuple(status for member in self.estimators_ for status in member.status_)
        self.n_iter_ = max(member.n_iter_ for member in self.estimators_)
        known = [member.observables_.held_out for member in self.estimators_ if member.observables_.held_out]
        held_out = HeldOut(*np.median(known, axis=0).tolist()) if len(known) == n_members else None
        self._observe(rows, held_out)
        return self

    def _combine(self, x: Float[np.ndarray, "point feature"]) -> Prediction:
        """Return the moments of the mixture; the members' own epistemic variance is part of the ensemble's."""
        parts = [member.predict_parts(x) for member in self.estimators_]
        mean, aleatoric, epistemic = (
            np.array([getattr(part, name) for part in parts]) for name in ("mean", "aleatoric", "epistemic")
        )
        noise = np.sqrt(np.mean(aleatoric**2, axis=0))
        uncertainty = np.sqrt(np.mean(epistemic**2, axis=0) + np.var(mean, axis=0))
        return Prediction(mean.mean(axis=0), np.hypot(noise, uncertainty), noise, uncertainty)
