"""Regressors on streams: predict block by block, and start a training run on a stream."""

from pathlib import Path

import numpy as np
from sklearn.utils.validation import check_is_fitted

from heteroscope.core import InputError, Parameter
from heteroscope.data import Stream, read_checked
from heteroscope.estimators.base import GaussianRegressor, Inputs
from heteroscope.networks import Prediction
from heteroscope.training import StreamRun, start_stream_run


class StreamRegressor(GaussianRegressor):
    """A regressor that also predicts the rows of a stream; subclasses decide whether `fit` takes a stream."""

    def predict_parts(self, X: Inputs) -> Prediction:
        """Predict the mean and the std of each row, and the two parts of the std.

        std^2 = aleatoric^2 + epistemic^2

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features) or Stream
            The rows. A stream is read block by block, so only the predictions stay in memory.

        Returns
        -------
        Prediction
            Named tuple of arrays of shape (n_rows,): `mean`, `std`, `aleatoric` (noise) and `epistemic` (disagreement
            of the members).
        """
        if not isinstance(X, Stream):
            return super().predict_parts(X)
        check_is_fitted(self)
        _check_features(self, X)
        parts = [self._predict_rows(read_checked(X, block)[0], block.first) for block in X.blocks()]
        return Prediction(*(np.concatenate(values) for values in zip(*parts, strict=True)))

    def _start_stream_run(self, stream: Stream, held_out: float, seed: int, store: str | Path | None) -> StreamRun:
        """Survey the stream and store its features and scaling; the caller trains with the returned run.

        `held_out` is the share of rows to hold out, `seed` that of the row order, `store` the checkpoint folder.
        """
        if store is not None and self.random_state is None:
            raise InputError(
                "a run that can be resumed needs a seed: set ",
                Parameter("random_state"),
                " beside ",
                Parameter("store"),
            )
        run = start_stream_run(stream, held_out, self.batch_size, seed, store, self.n_jobs, self.verbose)
        self.n_features_in_, self.scaling_ = stream.n_features, run.order.scaling
        if stream.named:
            self.feature_names_in_ = np.array(stream.feature_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_  # of an earlier fit
        return run


def refuse_stream(model: GaussianRegressor, rows: Inputs) -> None:
    """Raise if the rows are a stream, for methods that need all rows in memory."""
    if isinstance(rows, Stream):
        raise InputError(f"{type(model).__name__} is fitted to arrays in memory, not to a stream")


def refuse_store(store: str | Path | None) -> None:
    """Raise if a `store` is given for arrays in memory: only runs on streams are kept."""
    if store is not None:
        raise InputError("store keeps a run on a stream: open the data with heteroscope.data.open_stream")


def _check_features(model: GaussianRegressor, stream: Stream) -> None:
    """Raise unless the stream has the features of the fit, in the same order."""
    if stream.n_features != model.n_features_in_:
        raise InputError(f"the stream has {stream.n_features} features and the model expects {model.n_features_in_}")
    for number, name in enumerate(getattr(model, "feature_names_in_", [])):
        if stream.named and stream.feature_names[number] != name:
            raise InputError(
                f"column {number} of the stream is {stream.feature_names[number]!r}, and the model was fitted to "
                f"{name!r} there: give open_stream the `features` in the order of the fit"
            )
