"""Words that the errors and notes of columns share."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from jaxtyping import Bool

from heteroscope.core import InputError, Parameter


class ColumnError(InputError):
    """A column that cannot be used as it is.

    Parameters
    ----------
    *parts : str or Parameter
        The message in pieces.
    cure : Parameter, default=None
        The choice with which the table could be used as it is; None if its values must be mended.
    """

    def __init__(self, *parts: str | Parameter, cure: Parameter | None = None) -> None:
        super().__init__(*parts)
        self.cure = cure


def refuse_missing(series: pd.Series, instead: str | None = None) -> None:
    """Raise a `ColumnError` that counts the missing values of a column, if there are any.

    It ends with what to do `instead` of filling them, if they must not be filled.
    """
    missing = series.isna().to_numpy(dtype=bool)
    if not missing.any():
        return
    found = f"column {series.name!r} has {missing.sum()} missing values, the first in {first_row(missing)}: "
    if instead is not None:
        raise ColumnError(f"{found}{instead}")
    cure = Parameter("missing", "impute")
    raise ColumnError(f"{found}fill them, drop those rows, or fit with ", cure, cure=cure)


def listing(names: Sequence[str], at_most: int = 20) -> str:
    """Return the names as text, such as "'a', 'b', 'c' and 40 more"."""
    shown = ", ".join(shorten(name) for name in names[:at_most])
    return shown if len(names) <= at_most else f"{shown} and {len(names) - at_most} more"


def shorten(value: object) -> str:
    """Return the value's repr in at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:56]}...{text[-1]}"


def first_row(mask: Bool[np.ndarray, " row"]) -> str:
    """Return "row N" for the first row in the mask, counted from one."""
    return f"row {int(mask.argmax()) + 1}"
