"""What methods are compared on: splits of a named set or of a table, or a stream with rows to test on."""

from pathlib import Path
from typing import Any, NamedTuple, get_args

import pandas as pd

from heteroscope import datasets
from heteroscope.core import InputError, Parameter
from heteroscope.data import Missing, Stream, TableEncoder, read_table
from heteroscope.datasets import Indices, Protocol, Split, literature_splits, paper_split


class StreamSplit(NamedTuple):
    """A stream to train on, which brings its own target, and rows to test on in memory: the same under every seed."""

    x_train: Stream
    y_train: None
    x_test: Any
    y_test: Any
    target_name: str


def make_splits(
    data: str | Path, target: str | None, protocol: Protocol, n_splits: int, seed: int, missing: Missing
) -> list[Split]:
    """The splits of a named set, or of a table by what each one's training rows show."""
    if is_named(data):
        if target is not None:
            raise InputError(Parameter("target", target), f" is for tables, and {data} is a named set: leave it out")
        return datasets.splits(str(data), protocol=protocol, n_splits=n_splits, seed=seed)
    if target is None:
        raise InputError(
            f"{data} is a table: say which of its columns to predict, such as ", Parameter("target", "price")
        )
    frame = read_table(Path(data))
    if protocol not in get_args(Protocol):
        raise InputError(f"no protocol is called {protocol!r}: choose one of {', '.join(get_args(Protocol))}")
    TableEncoder.fit(frame, target, missing=missing)  # what is wrong with the table is said about the whole of it
    if protocol == "literature":
        cuts = list(literature_splits(len(frame), n_splits, seed))
    else:
        cuts = [paper_split(len(frame), seed + k) for k in range(n_splits)]
    return [_table_split(Path(data).name, frame, target, missing, cut) for cut in cuts]


def is_named(data: str | Path) -> bool:
    """Whether this is the name of a set, be it a wrong one, and not that of a file."""
    a_file = isinstance(data, Path) or Path(data).suffix != "" or Path(data).exists()
    return data in datasets.names() or not a_file


def _table_split(name: str, frame: pd.DataFrame, target: str, missing: Missing, cut: Indices) -> Split:
    """One cut of a table, encoded by what its training rows show."""
    train, test = (frame.iloc[rows] for rows in cut)
    encoder = TableEncoder.fit(train, target, missing=missing, unknown="zeros")
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
