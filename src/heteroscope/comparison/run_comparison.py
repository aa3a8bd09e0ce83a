"""Every method on every split of a data set, one record each."""

import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from heteroscope import datasets
from heteroscope.baselines import BASELINES, choose_methods
from heteroscope.comparison.fit_records import SCORES, Record, keep_record, kept_record, open_folder, run_folder
from heteroscope.comparison.splits import StreamSplit, is_named, make_splits
from heteroscope.core import (
    Identity,
    InputError,
    Progress,
    check_positive_integer,
    given_arrays,
    settings_of,
    table_file,
)
from heteroscope.data import Missing, Rows, Stream
from heteroscope.datasets import PROCESSES, Protocol, Split
from heteroscope.distributions import metrics

N_SPLITS = 20


def compare(
    data: str | Path | Stream,
    methods: Sequence[str] | Mapping[str, Any] | None = None,
    *,
    target: str | None = None,
    test: Rows | None = None,
    settings: Mapping[str, Any] | None = None,
    protocol: Protocol | None = None,
    n_splits: int = N_SPLITS,
    seed: int = 0,
    missing: Missing = "refuse",
    out: str | Path | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """One row a (method, split) with its scores on the test rows; `summary` makes one row a method of them.

    `data` is a named set of `heteroscope.datasets`, or a .csv or .parquet file whose column `target` is predicted.
    `methods` are names of `METHODS` (unless given, all that are installed and can bear the rows), or a mapping from
    your own names to estimators. `protocol` is "literature" (90/10 splits) unless the set is simulated, which has
    "paper" only. With `out`, every finished fit is kept in that folder, and a second call goes on from there. A method
    that fails on a split gets a row without scores that says why in `error`; the next call tries it again.

    `data` may be a stream, with the rows to `test` on: its "splits" then are seeds, one is enough, and with `out` a fit
    that is killed goes on where it was. `settings` are parameters for all methods that have them.
    """
    streamed = isinstance(data, Stream)
    check_positive_integer("n_splits", n_splits)
    protocol = protocol or ("paper" if not streamed and data in PROCESSES else "literature")
    splits: Sequence[Split | StreamSplit]
    if isinstance(data, Stream):
        if test is None or target is not None:
            raise InputError("a stream brings its target and needs rows to test on: give test, leave out target")
        named = pd.DataFrame(test.x, columns=list(data.feature_names)) if data.named else test.x
        splits = [StreamSplit(data, None, named, test.y, data.target_name)] * n_splits
        methods = methods or ("ours", *(name for name, baseline in BASELINES.items() if baseline.takes_streams))
    else:
        splits = make_splits(data, target, protocol, n_splits, seed, missing)
    estimators = {
        name: _with(clone(estimator), n_jobs=n_jobs, **settings or {})
        for name, estimator in choose_methods(methods, len(splits[0].x_train)).items()
    }
    folder = None
    if out is not None:
        folder = open_folder(Path(out), _identify(data, target, missing, test), protocol, seed)
    records: list[Record] = []
    for number, split in enumerate(splits):
        for name, estimator in estimators.items():
            record = None if folder is None else kept_record(folder, name, number, settings_of(estimator))
            if record is None:
                seeded = _with(clone(estimator), random_state=_seed(seed, number))
                store = {"store": run_folder(folder, name, number)} if streamed and folder is not None else {}
                record = _judge(name, number, seeded, split, **store)
                if folder is not None:
                    keep_record(folder, record)
            records.append(record)
            if progress:
                progress(len(records), len(splits) * len(estimators))
    return pd.DataFrame(
        [
            {
                "method": r.method,
                "split": r.split,
                "n_train": r.n_train,
                "n_test": r.n_test,
                **r.scores,
                "error": r.error,
            }
            for r in records
        ]
    )


def _judge(name: str, number: int, estimator: Any, split: Split | StreamSplit, **store: Path) -> Record:
    sizes, parameters = (len(split.x_train), len(split.y_test)), settings_of(estimator)
    start = time.perf_counter()
    try:
        forecast = metrics.forecast_of(estimator.fit(split.x_train, split.y_train, **store), split.x_test)
        scores = metrics.evaluate(split.y_test, *forecast)
    except Exception as error:  # of any library: one method that fails must not cost the others their hours
        nothing = dict.fromkeys(SCORES, math.nan)
        return Record(
            name, number, *sizes, nothing, parameters, f"{type(error).__name__}: {' '.join(str(error).split())}"
        )
    scores["seconds"] = time.perf_counter() - start
    return Record(name, number, *sizes, {score: float(scores[score]) for score in SCORES}, parameters)


def _with(estimator: Any, **parameters: Any) -> Any:
    """The estimator with those parameters that it has and that are not None."""
    known = estimator.get_params(deep=False)
    return estimator.set_params(**{k: value for k, value in parameters.items() if k in known and value is not None})


def _identify(data: str | Path | Stream, target: str | None, missing: Missing, test: Rows | None) -> Identity:
    """What all records of a folder are of: a named set, the bytes of a table, or the files of a stream."""
    if isinstance(data, Stream):
        rows = (None, None) if test is None else (test.x, test.y)
        return data.identity() | {"test": given_arrays(*rows)}
    if is_named(data):
        return datasets.identify(str(data))
    return table_file(data, target=target, missing=missing)


def _seed(seed: int, number: int) -> int:
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
