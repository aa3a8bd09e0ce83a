"""Fit and score every method on every split of a data set."""

import math
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone

from heteroscope import datasets
from heteroscope.baselines import BASELINES, AnyEstimator, choose_methods
from heteroscope.comparison.fit_records import SCORES, FitRecord, load_record, open_folder, run_folder, save_record
from heteroscope.comparison.processor_time import processor_seconds
from heteroscope.comparison.splits import AnySplit, TableChoices, is_named, make_splits, stream_splits
from heteroscope.core import (
    FarRowsWarning,
    Identity,
    Progress,
    check_positive_integer,
    computed_with,
    given_arrays,
    settings_of,
    table_file,
    warn_of_mixture,
)
from heteroscope.data import Missing, Rows, Stream
from heteroscope.datasets import PROCESSES, Protocol
from heteroscope.distributions import metrics

N_SPLITS = 20  # as in the literature on these data sets


def compare(
    data: str | Path | Stream,
    methods: Sequence[str] | Mapping[str, AnyEstimator] | None = None,
    *,
    target: str | None = None,
    test: Rows | None = None,
    settings: Mapping[str, object] | None = None,
    protocol: Protocol | None = None,
    n_splits: int = N_SPLITS,
    seed: int = 0,
    missing: Missing = "refuse",
    reading: Mapping[str, object] | None = None,
    columns: Mapping[str, object] | None = None,
    out: str | Path | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Fit every method on the training rows of every split and score it on the test rows.

    Parameters
    ----------
    data : str, Path or Stream
        A named set of `heteroscope.datasets`, a table file, or a stream. For a stream the splits differ
        only in the seed of the methods, so one is enough.
    methods : sequence of str, or mapping from str to estimator, default=None
        Names of `heteroscope.baselines.METHODS`, or your own estimators by names of your own. In a folder
        `out`, the name and the parameters identify a method: give another class another name. None is every method
        that is installed and can take the rows; for a stream, every method that takes streams.
    target : str, default=None
        The column to predict; for table files only, and required there.
    test : Rows, default=None
        The test rows; for streams only, and required there.
    settings : mapping from str to object, default=None
        Parameters to set on every method that has them, such as `{"max_steps": 1000}`.
    protocol : {"literature", "published", "paper"}, default=None
        How rows are split: 90/10 at random, 90/10 in the splits on which the literature publishes its scores, or as in
        the paper; see `heteroscope.datasets.splits`. None is "paper" for simulated sets, which have no other, and
        "literature" for the rest.
    n_splits : int, default=20
        The number of splits.
    seed : int, default=0
        Seed of the splits and of the methods.
    missing : {"refuse", "impute"}, default="refuse"
        What to do about gaps in a table file.
    reading : mapping from str to object, default=None
        Further arguments of `read_table` for a table file, such as `{"sheet": "prices"}`.
    columns : mapping from str to object, default=None
        Further arguments of `TableEncoder.fit` for a table file, such as `{"dates": "days", "drop": ["id"]}`.
    out : str or Path, default=None
        A folder that keeps every finished fit: a second call with the same folder fits only what is missing. A fit to
        a stream that was killed is resumed.
    n_jobs : int, default=None
        Number of processes for each method that has this parameter; None keeps the method's own.
    progress : callable, default=None
        Called with (fits done, all fits) after each fit.

    Returns
    -------
    DataFrame
        One row per method and split: `method`, `split`, `n_train`, `n_test`, the scores of `SCORES`,
        `processor_seconds` (of this process and its workers), and `error`, which is None
        unless the fit failed. A fit that failed has no scores, and the next call with `out` tries it again.

    See Also
    --------
    summary : One row per method.

    Examples
    --------
    >>> from heteroscope.comparison import compare, markdown, summary
    >>> records = compare("yacht", ["ours", "beta-nll"], n_splits=5)  # doctest: +SKIP
    >>> print(markdown(summary(records)))  # doctest: +SKIP
    """
    streamed = isinstance(data, Stream)
    gaps = {} if missing == "refuse" else {"missing": missing}
    choices = TableChoices(reading or {}, gaps | dict(columns or {}))
    check_positive_integer("n_splits", n_splits)
    protocol = protocol or ("paper" if not streamed and data in PROCESSES else "literature")
    if isinstance(data, Stream):
        splits = stream_splits(data, target, test, n_splits)
        methods = methods or ("ours", *(name for name, baseline in BASELINES.items() if baseline.takes_streams))
    else:
        splits = make_splits(data, target, protocol, n_splits, seed, choices)
    estimators = {
        name: with_parameters(clone(estimator), n_jobs=n_jobs, **settings or {})
        for name, estimator in choose_methods(methods, len(splits[0].x_train)).items()
    }
    folder = None
    if out is not None:
        folder = open_folder(Path(out), _identify(data, target, missing, choices, test), protocol, seed)
    records: list[FitRecord] = []
    for number, split in enumerate(splits):
        for name, estimator in estimators.items():
            record = None if folder is None else load_record(folder, name, number, settings_of(estimator))
            if record is None:
                seeded = with_parameters(clone(estimator), random_state=method_seed(seed, number))
                store = {"store": run_folder(folder, name, number)} if streamed and folder is not None else {}
                record = fit_and_score(name, number, seeded, split, **store)
                if folder is not None:
                    save_record(folder, record)
            records.append(record)
            if progress:
                progress(len(records), len(splits) * len(estimators))
    if folder is not None:
        warn_of_mixture(folder, "fits", [record.computed_with for record in records])
    return pd.DataFrame([record.as_row() for record in records])


def fit_and_score(name: str, number: int, estimator: AnyEstimator, split: AnySplit, **store: Path) -> FitRecord:
    """Return the record of one fit; an exception of the method becomes the record's error."""
    sizes, parameters = (len(split.x_train), len(split.y_test)), settings_of(estimator)
    start, processor_start = time.perf_counter(), processor_seconds()
    try:
        estimator.fit(split.x_train, split.y_train, **store)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FarRowsWarning)  # the scores judge these rows
            forecast = metrics.forecast_of(estimator, split.x_test)
        scores = metrics.evaluate(split.y_test, *forecast)
    except Exception as error:  # any library may raise anything, and the other methods must go on
        nothing = dict.fromkeys(SCORES, math.nan)
        return FitRecord(
            name,
            number,
            *sizes,
            nothing,
            parameters,
            f"{type(error).__name__}: {' '.join(str(error).split())}",
            computed_with(),
        )
    scores["seconds"] = time.perf_counter() - start
    found = {score: float(scores[score]) for score in SCORES}
    spent = processor_seconds() - processor_start
    return FitRecord(name, number, *sizes, found, parameters, None, computed_with(), spent)


def with_parameters(estimator: AnyEstimator, **parameters: object) -> AnyEstimator:
    """Set those parameters that the estimator has and that are not None; return the estimator."""
    known = estimator.get_params(deep=False)
    return estimator.set_params(**{k: value for k, value in parameters.items() if k in known and value is not None})


def _identify(
    data: str | Path | Stream, target: str | None, missing: Missing, choices: TableChoices, test: Rows | None
) -> Identity:
    """Return the identity of the data that all records of a folder share."""
    if isinstance(data, Stream):
        rows = (None, None) if test is None else (test.x, test.y)
        return data.identity() | {"test": given_arrays(*rows)}
    if is_named(data):
        return datasets.identify(str(data))
    return table_file(data, target=target, **{"missing": missing, **choices.reading, **choices.columns})


def method_seed(seed: int, number: int) -> int:
    """Return the seed of the methods on one split."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
