"""The training and test rows of a comparison: splits of a named set or a table, or a stream with test rows."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, get_args

import numpy as np
import pandas as pd

from heteroscope import datasets
from heteroscope.core import InputError, Parameter, refuse_misplaced
from heteroscope.data import Rows, Stream, TableEncoder, read_table, rows_with_target
from heteroscope.datasets import Indices, Protocol, Split, literature_splits, paper_split, published_splits


class StreamSplit(NamedTuple):
    """A stream to train on, which brings its own target, and test rows in memory; with the attributes of `Split`."""

    x_train: Stream
    y_train: None
    x_test: np.ndarray | pd.DataFrame
    y_test: np.ndarray
    target_name: str


AnySplit: TypeAlias = Split | StreamSplit


class TableChoices(NamedTuple):
    """Arguments of `read_table` and of `TableEncoder.fit` that are not at their defaults."""

    reading: Mapping[str, Any]
    columns: Mapping[str, Any]


def make_splits(
    data: str | Path, target: str | None, protocol: Protocol, n_splits: int, seed: int, choices: TableChoices
) -> list[AnySplit]:
    """Return the splits of a named set or of a table file; a table is encoded anew for the training rows of each."""
    if is_named(data):
        given = [Parameter(name) for name in (*choices.reading, *choices.columns)]
        given += [] if target is None else [Parameter("target", target)]
        refuse_misplaced(given, "tables", f"for {data}, which is a named set")
        return [*datasets.splits(str(data), protocol=protocol, n_splits=n_splits, seed=seed)]
    if target is None:
        raise InputError(f"{data} is a table: name the column to predict, such as ", Parameter("target", "price"))
    frame = read_table(Path(data), **choices.reading)
    if protocol not in get_args(Protocol):
        raise InputError(f"no protocol is called {protocol!r}: choose one of {', '.join(get_args(Protocol))}")
    TableEncoder.fit(frame, target, **choices.columns)  # raises for a bad table, with row numbers of the whole table
    frame = rows_with_target(frame, target)
    if protocol == "published":
        cuts = published_splits(Path(data).name, frame[target].to_numpy(dtype=float), n_splits)
    elif protocol == "literature":
        cuts = list(literature_splits(len(frame), n_splits, seed))
    else:
        cuts = [paper_split(len(frame), seed + k) for k in range(n_splits)]
    return [_table_split(Path(data).name, frame, target, choices, cut) for cut in cuts]


def stream_splits(stream: Stream, target: str | None, test: Rows | None, n_splits: int) -> list[AnySplit]:
    """Return the stream with its test rows, `n_splits` times; the methods have another seed each time."""
    if test is None or target is not None:
        raise InputError("a stream has its own target but no test rows: give test, and leave target out")
    x_test = pd.DataFrame(test.x, columns=list(stream.feature_names)) if stream.named else test.x
    return [StreamSplit(stream, None, x_test, test.y, stream.target_name)] * n_splits


def is_named(data: str | Path) -> bool:
    """Return whether `data` is the name of a set, known or misspelt, rather than a file."""
    a_file = isinstance(data, Path) or Path(data).suffix != "" or Path(data).exists()
    return data in datasets.names() or not a_file


def _table_split(name: str, frame: pd.DataFrame, target: str, choices: TableChoices, cut: Indices) -> Split:
    """Return one split of a table, encoded by the columns and categories of its training rows."""
    train, test = (frame.iloc[rows] for rows in cut)
    encoder = TableEncoder.fit(train, target, **choices.columns, unknown="zeros")
    return Split(
        name,
        encoder.features(train),
        encoder.targets(train),
        encoder.features(test),
        encoder.targets(test),
        encoder.feature_names,
        target,
        "",
    )
