"""Tables and pictures written whole or not at all, in places that were checked before the work began."""

import sys
from pathlib import Path
from typing import Any

from heteroscope.core import InputError


def named_features(encoder: Any, frame: Any) -> Any:
    """A table's encoded features as a frame, so that the model knows their names."""
    import pandas as pd

    return pd.DataFrame(encoder.features(frame), columns=list(encoder.feature_names))


def write_table(frame: Any, out: Path | None) -> None:
    """A table as the file's name says, or as CSV on standard output; row labels are kept if the table had any."""
    import pandas as pd

    from heteroscope.core import atomic_write

    labelled = not isinstance(frame.index, pd.RangeIndex)
    if out is None:
        frame.to_csv(sys.stdout, index=labelled)
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(out) as partial:
        if out.suffix.lower() == ".csv":
            frame.to_csv(partial, index=labelled)
        else:
            frame.to_parquet(partial, index=labelled)


def refuse_unwritable(target: Path) -> None:
    """Say before the work, not after it, that the result could not be written."""
    import tempfile

    parent = target.resolve().parent
    while not parent.exists():
        parent = parent.parent
    try:
        with tempfile.TemporaryFile(dir=parent):
            pass
    except OSError as error:
        reason = "is a file" if parent.is_file() else f"cannot be written to ({error.strerror})"
        raise InputError(f"{parent} {reason}: name another place with --out") from error
