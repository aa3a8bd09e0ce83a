"""Check and gather the rows of a diagram, from arrays or from a stream."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from sklearn.utils import check_X_y

from heteroscope.core import (
    Identity,
    InputError,
    check_identity,
    given_arrays,
    refuse_half_characters,
    resolve_diagram_batch_size,
)
from heteroscope.data import Rows, Scaling, Stream
from heteroscope.training import SEARCH_SHARE, StreamRun, refuse_with_stream, start_stream_run


class DiagramRows(NamedTuple):
    """Training rows, and test rows if there are any, in the user's units and standardised."""

    rows: dict[str, Rows]
    scaling: Scaling
    inputs: dict[str, Float[np.ndarray, "_ feature"]]
    targets: dict[str, Float[np.ndarray, "_"]]

    @classmethod
    def of(cls, rows: dict[str, Rows], scaling: Scaling) -> "DiagramRows":
        """Standardise the rows of each split by the given scaling."""
        inputs = {split: scaling.inputs(part.x) for split, part in rows.items()}
        targets = {split: scaling.targets(part.y).astype(np.float64) for split, part in rows.items()}
        return cls(rows, scaling, inputs, targets)


class DiagramSource(NamedTuple):
    """The rows of a diagram, the names of their columns, what identifies them, and how they are read in training."""

    data: DiagramRows
    features: list[str]
    target: str
    identity: Identity
    batch_size: int | None  # rows per step; None for all
    stream_run: StreamRun | None  # None for arrays

    @property
    def n_rows(self) -> int:
        """The number of training rows in memory."""
        return len(self.data.rows["train"].y)


def gather_arrays(
    X: ArrayLike,
    y: ArrayLike | None,
    X_test: ArrayLike | None,
    y_test: ArrayLike | None,
    batch_size: int | str | None,
    identity: Identity | None,
) -> DiagramSource:
    """Check arrays or data frames; without `identity` their bytes identify them."""
    features, target = _column_names(X, y)
    data = _check_rows(X, y, X_test, y_test)
    n_batch = resolve_diagram_batch_size(batch_size, len(data.rows["train"].y))
    known = given_arrays(X, y, X_test, y_test) if identity is None else check_identity(identity)
    return DiagramSource(data, features, target, known, n_batch, None)


def gather_stream(
    stream: Stream,
    y: ArrayLike | None,
    X_test: ArrayLike | None,
    y_test: ArrayLike | None,
    batch_size: int | str | None,
    schedule: str,
    identity: Identity | None,
    seed: int,
    store: str | Path | None,
) -> DiagramSource:
    """Survey a stream: its sample stands for the training rows, its held-out rows are the test rows."""
    refuse_with_stream(y, None, schedule)
    if identity is not None:
        raise InputError("identity is for arrays, and a stream is identified by its files: leave it out")
    if X_test is not None or y_test is not None:
        raise InputError("a stream holds out test rows of its own: leave out X_test and y_test")
    run = start_stream_run(stream, SEARCH_SHARE, batch_size, seed, store, None, False)
    data = DiagramRows.of({"train": run.survey.sample, "test": run.survey.held}, run.order.scaling)
    return DiagramSource(
        data, list(stream.feature_names), stream.target_name, stream.identity(), run.order.batch_size, run
    )


def _check_rows(X: ArrayLike, y: ArrayLike | None, X_test: ArrayLike | None, y_test: ArrayLike | None) -> DiagramRows:
    """Return the rows as float64, or raise an error of one line."""
    x, target = check_X_y(X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
    rows = {"train": Rows(x, target.astype(np.float64), np.ones(len(target)))}
    if np.ptp(target) == 0:
        raise InputError(f"the target is constant ({target[0]:g}), so there is nothing to learn; check the target")
    if (X_test is None) != (y_test is None):
        raise InputError("X_test and y_test belong together: give both, or neither")
    if X_test is not None:
        names, test_names = (list(getattr(table, "columns", [])) for table in (X, X_test))
        if names and test_names and names != test_names:
            raise InputError("X_test has other columns than X, or in another order: give the same columns")
        x_test, target_test = check_X_y(X_test, y_test, dtype=np.float64, y_numeric=True)
        if x_test.shape[1] != x.shape[1]:
            raise InputError(f"X_test has {x_test.shape[1]} columns and X has {x.shape[1]}: give the same columns")
        rows["test"] = Rows(x_test, target_test.astype(np.float64), np.ones(len(target_test)))
    return DiagramRows.of(rows, rows["train"].scaling(bend=False))


def _column_names(X: ArrayLike, y: ArrayLike | None) -> tuple[list[str], str]:
    """Return the names of a data frame's columns and of the target; x0, x1, ... and y for arrays."""
    columns = getattr(X, "columns", None)
    n_features = np.shape(X)[1] if np.ndim(X) == 2 else 0
    features = [f"x{k}" for k in range(n_features)] if columns is None else [str(column) for column in columns]
    target = str(getattr(y, "name", None) or "y")
    refuse_half_characters([*features, target])
    return features, target
