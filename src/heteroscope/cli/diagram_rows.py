"""Read the training and test rows of a diagram: a named data set, or a table of which a third is held out."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from heteroscope.cli.table_features import fit_encoder, named_features
from heteroscope.core import Identity, InputError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


class DiagramRows(NamedTuple):
    """Training and test rows of a diagram, the name of their data set and their identity."""

    x: "pd.DataFrame"
    y: "pd.Series"
    x_test: "pd.DataFrame"
    y_test: "pd.Series | np.ndarray"
    name: str
    identity: Identity | None


def is_named(data: str) -> bool:
    """Return whether `data` names a data set rather than a table's file."""
    return Path(data).suffix.lower() not in (".csv", ".parquet")


def named_set(data: str, target: str | None) -> DiagramRows:
    """Return the rows of a named data set."""
    import pandas as pd

    from heteroscope import datasets

    if target is not None:
        raise InputError(f"--target names a column of a table, but {data} is no .csv or .parquet file")
    split = datasets.load(data)
    x, x_test = (pd.DataFrame(x, columns=list(split.feature_names)) for x in (split.x_train, split.x_test))
    y = pd.Series(split.y_train, name=split.target_name)
    return DiagramRows(x, y, x_test, split.y_test, split.name, split.identity)


def table_rows(path: Path, target: str | None, missing: Literal["refuse", "impute"]) -> DiagramRows:
    """Return the rows of a table, a third of them as test rows, encoded as the training rows require."""
    import pandas as pd

    from heteroscope import datasets
    from heteroscope.core import table_file
    from heteroscope.data import read_table

    if target is None:
        raise InputError(f"{path} is a table: name the column to predict with --target")
    frame = read_table(path)
    training, test = (frame.iloc[rows] for rows in datasets.paper_split(len(frame)))
    encoder = fit_encoder(training, target, missing, "zeros")
    y, y_test = (pd.Series(encoder.targets(part), name=target) for part in (training, test))
    identity = table_file(path, target=target, missing=missing, protocol="paper", seed=0)
    return DiagramRows(named_features(encoder, training), y, named_features(encoder, test), y_test, path.stem, identity)
