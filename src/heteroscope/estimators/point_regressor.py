"""The base class of regressors whose final fit is at one point (rho, gamma): recipe, predictions and diagnosis."""

from collections.abc import Sequence
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import ClassVar

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.stats.distributions import rv_frozen
from sklearn.utils.validation import check_is_fitted

from heteroscope.core import resolve_batch_size, resolve_max_steps
from heteroscope.data import Rows
from heteroscope.distributions import frozen, quantiles
from heteroscope.estimators.base import Inputs
from heteroscope.estimators.fitted_fields import NETWORK_FIELDS, FieldKind, FittedFields
from heteroscope.estimators.sampled_rows import SampledRows
from heteroscope.estimators.streams import StreamRegressor
from heteroscope.networks import FittedEnsemble, Prediction
from heteroscope.phases import Diagnosis, HeldOutRows, Verdict, diagnose
from heteroscope.training import Fit, Recipe, StreamRun, mean_first_recipe


class PointRegressor(StreamRegressor):
    """The base class of regressors whose final fit is at one point (rho, gamma): its recipe, training and diagnosis."""

    fitted_fields: ClassVar[FittedFields] = {
        **NETWORK_FIELDS,
        "rho_": FieldKind.SHARE,
        "gamma_": FieldKind.SHARE,
        "std_scale_": FieldKind.POSITIVE,
        "verdict_": FieldKind.VERDICT,
        "held_out_": FieldKind.HELD_OUT_ROWS,
    }
    verdict_: Verdict | None
    held_out_: HeldOutRows | None
    _sample: SampledRows | None = None  # not in model files: a folder holds no inputs of the user's rows

    def diagnose(self) -> Diagnosis:
        """Describe the fit: whether its predictions can be trusted, how good they are, what to do, and its phase.

        Returns
        -------
        Diagnosis
            `print` shows it as text, a notebook as a table.
        """
        check_is_fitted(self)
        return diagnose(self)

    def report(
        self,
        path: str | PathLike[str],
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        target_name: str = "y",
        title: str | None = None,
    ) -> Path:
        """Write a page about the fit: one HTML file that works offline.

        It shows the verdict, calibration overall and by quarter of the std, residuals, intervals, the search's path,
        what drives the mean and what drives the std, rows that deserve a look, and a model card. Calibration is that of
        held-out rows.

        Parameters
        ----------
        path : str or path-like
            The file to write; its folder is created if needed.
        X : array-like of shape (n_rows, n_features), default=None
            Rows on which to show what drives mean and std. None takes rows of the fit, of which the estimator keeps at
            most 3,000 in memory; a model that was loaded from a folder has none, and its page lacks this part.
        y : array-like of shape (n_rows,), default=None
            Their targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Their weights.
        target_name : str, default="y"
            The name of the target, with its unit if it has one.
        title : str, default=None
            Title of the page.

        Returns
        -------
        pathlib.Path
            The file that was written.
        """
        check_is_fitted(self)
        found = import_module("heteroscope.explanation").explain(self, X, y, sample_weight, target_name=target_name)
        written: Path = import_module("heteroscope.report").write_fit_report(found, path, title=title)
        return written  # imported by name: both packages are made for fitted estimators

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, str]:
        """Return what a notebook shows: scikit-learn's picture of the parameters and, after a fit, the diagnosis."""
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if hasattr(self, "phase_"):
            found = self.diagnose()
            shown["text/plain"] += f"\n\n{found}"
            if "text/html" in shown:
                shown["text/html"] += found._repr_html_()
        return shown

    def _recipe(self, rows: Rows, share: float = 1.0) -> Recipe:
        """Return the training recipe for these rows, with a `share` of `max_steps`."""
        batch_size = resolve_batch_size(self.batch_size, len(rows.y))
        steps = resolve_max_steps(self.max_steps, len(rows.y))
        steps = steps if share == 1.0 else max(2, round(share * steps))
        return mean_first_recipe(self._architecture(rows), steps, self.schedule, batch_size, self.penalty)

    def _stream_recipe(self, run: StreamRun) -> Recipe:
        """Return the training recipe for a stream."""
        architecture = self._architecture(run.survey.sample)
        steps = resolve_max_steps(self.max_steps, run.order.stream.n_rows)
        return mean_first_recipe(architecture, steps, self.schedule, run.order.batch_size, self.penalty)

    def _keep_members(self, fits: Sequence[Fit]) -> None:
        super()._keep_members(fits)
        self.std_scale_ = 1.0

    def ensemble(self) -> FittedEnsemble:
        """Return all that predictions read: NumPy arrays and numbers; a loaded model reads the same from its files.

        Returns
        -------
        FittedEnsemble
            Networks, scaling, bounds and the degrees of freedom.
        """
        check_is_fitted(self)
        return FittedEnsemble(self.members_, self.scaling_, self.activation, self.std_scale_)

    def pred_dist(self, X: Inputs) -> rv_frozen:
        """Return the predictive distribution of each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features) or Stream
            The rows.

        Returns
        -------
        scipy.stats.rv_frozen
            A frozen `scipy.stats.norm` with one entry per row; a `scipy.stats.t` of the same std if the search has
            found heavy tails; or a `scipy.stats.lognorm` of the same mean and std if it predicts logarithms.
        """
        mean, std = self.predict(X, return_std=True)
        ensemble = self.ensemble()
        return frozen(mean, std, ensemble.df, ensemble.lognormal)

    def _predict_levels(self, X: Inputs, levels: Float[np.ndarray, " level"]) -> Float[np.ndarray, "point level"]:
        """Return quantiles as a model in a folder computes them, to the last bit."""
        mean, std = self.predict(X, return_std=True)
        ensemble = self.ensemble()
        return quantiles(mean, std, ensemble.df, levels, ensemble.lognormal)

    def _combine(self, x: Float[np.ndarray, "point feature"]) -> Prediction:
        """Return mean and variance of the mixture of all members, within their bounds and with the std scaled."""
        return self.ensemble().predict(x)
