"""Read the training and test rows of a diagram: a named data set, or a table of which a third is held out."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from heteroscope.cli.printing import terminal_width
from heteroscope.cli.table_features import (
    TableOptions,
    fit_encoder,
    named_features,
    print_notes,
    read_user_table,
)
from heteroscope.core import Identity, InputError, Parameter, refuse_misplaced

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
    from heteroscope.data import is_table

    return not is_table(data)


def chosen_rows(data: str, target: str | None, options: TableOptions) -> DiagramRows:
    """Return the rows of a named data set or of a table."""
    return _named_set(data, target, options) if is_named(data) else _table_rows(Path(data), target, options)


def _named_set(data: str, target: str | None, options: TableOptions) -> DiagramRows:
    """Return the rows of a named data set."""
    import pandas as pd

    from heteroscope import datasets

    if target is not None:
        raise InputError(f"--target names a column of a table, but {data} is no table file such as .csv")
    refuse_misplaced([Parameter(name) for name in options.given()], "tables", f"for {data}, which is a named set")
    split = datasets.load(data)
    x, x_test = (pd.DataFrame(x, columns=list(split.feature_names)) for x in (split.x_train, split.x_test))
    y = pd.Series(split.y_train, name=split.target_name)
    return DiagramRows(x, y, x_test, split.y_test, split.name, split.identity)


def _table_rows(path: Path, target: str | None, options: TableOptions) -> DiagramRows:
    """Return the rows of a table, a third of them as test rows, encoded as the training rows require."""
    import pandas as pd

    from heteroscope import datasets
    from heteroscope.core import table_file
    from heteroscope.data import rows_with_target

    if target is None:
        raise InputError(f"{path} is a table: name the column to predict with --target")
    frame = read_user_table(path, options.reading)
    fit_encoder(frame, target, options.columns)  # raises for a bad table, with row numbers of the whole table
    frame = rows_with_target(frame, target)
    training, test = (frame.iloc[rows] for rows in datasets.paper_split(len(frame)))
    encoder = fit_encoder(training, target, {**options.columns, "unknown": "zeros"})
    print_notes(encoder, terminal_width())
    y, y_test = (pd.Series(encoder.targets(part), name=target) for part in (training, test))
    identity = table_file(path, target=target, protocol="paper", seed=0, **options.identity())
    return DiagramRows(named_features(encoder, training), y, named_features(encoder, test), y_test, path.stem, identity)
