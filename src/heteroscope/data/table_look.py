"""Look at a table before a fit, and say in one line each what will matter. Nothing is refused or changed here."""

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd
from jaxtyping import Float64, Int

from heteroscope.data.column_encoders import NumericColumn
from heteroscope.data.column_words import listing
from heteroscope.data.rows import FENCE, RARE, Rows
from heteroscope.data.table_encoder import TableEncoder

SKEWED = 2.0  # skewness of an exponential distribution
FEW_VALUES, ENOUGH_ROWS = 10, 50  # a target of so few different values in so many rows is a count or a grade
COPY = 1.0 - 1e-9  # squared correlation from which a feature repeats the target
MOST_NAMED = 3  # columns that one line names
REPEATED = 0.05  # share of rows with the inputs of other rows, from which it matters
_TOTAL = re.compile(r"(?i:(grand )?total|sum|subtotal|gesamt|summe|average|mean|all)")
_ID_NAME = re.compile(r"(?i:(^|[_ .-])(id|ids|nr|no|num|number|index|idx|key|code|uuid|row)$)|[a-z](Id|ID|Nr|No)$")


def look_at_table(frame: pd.DataFrame, encoder: TableEncoder) -> tuple[str, ...]:
    """Return what will matter in a fit to these rows: a skewed target, outliers, repeated inputs, identifiers and such.

    Parameters
    ----------
    frame : pandas.DataFrame
        The training rows.
    encoder : TableEncoder
        Their encoding.

    Returns
    -------
    tuple of str
        One sentence for each finding, without a full stop; rows are counted from one. Empty if nothing stands out.
    """
    x, (y, weight) = encoder.features(frame), encoder.known_targets(frame)
    known = np.arange(len(y)) if weight is None else np.flatnonzero(weight)
    numeric = {c.name: encoder.feature_names.index(c.name) for c in encoder.columns if isinstance(c, NumericColumn)}
    columns = {name: x[:, k] for name, k in numeric.items()}
    return (
        *_unknown_targets(len(y) - len(known), len(y)),
        *_target(encoder.target, x[known], y[known], known),
        *_identifiers(columns),
        *_dates_as_numbers(columns),
        *_outliers(columns),
        *_copies_of_target({name: values[known] for name, values in columns.items()}, encoder.target, y[known]),
        *_repeated(x[known], y[known]),
        *_width(x[known]),
        *_totals(frame),
    )


def _unknown_targets(n_unknown: int, n_rows: int) -> Iterator[str]:
    """Yield how many rows have no target."""
    if n_unknown:
        are = "has no target and is" if n_unknown == 1 else "have no target and are"
        yield f"{n_unknown} of {n_rows} rows {are} left out of the fit"


def _totals(frame: pd.DataFrame) -> Iterator[str]:
    """Yield a warning of a last row that sums up those above it."""
    if len(frame) < 2:
        return
    for name, cell in frame.iloc[-1].items():
        if isinstance(cell, str) and _TOTAL.fullmatch(cell.strip()) and (frame[name] == cell).sum() == 1:
            yield f"the last row may sum up the others ({cell!r} in column {str(name)!r}): remove it if it does"
            return


def _target(
    name: str, x: Float64[np.ndarray, "row feature"], y: Float64[np.ndarray, " row"], number: Int[np.ndarray, " row"]
) -> Iterator[str]:
    """Yield what stands out among the targets: few values, a few wild ones, or a long tail."""
    different = len(np.unique(y))
    if different <= FEW_VALUES and len(y) >= ENOUGH_ROWS:
        yield f"the target {name!r} has only {different} different values: they are predicted as numbers, not classes"
        return
    long_tail = y.min() > 0 and _skewness(y) > max(SKEWED, 2.0 * abs(_skewness(np.log(y))))
    scaled = np.log(y) if long_tail else y
    low, high = Rows(x, scaled, np.ones(len(y))).target_fences()
    wild = (scaled < low) | (scaled > high)
    if wild.any():
        first = int(wild.argmax())
        yield (
            f"{wild.sum()} of {len(y)} targets lie far from the others, such as {y[first]:.6g} in row "
            f"{number[first] + 1}: check them; models are trained without them, intervals are calibrated with them"
        )
    if long_tail:
        yield (
            f"the target {name!r} has a long upper tail (half of the rows are below {np.median(y):.4g}, the largest is "
            f"{y.max():.4g}): its logarithm is more even and may be predicted better; the search tries both"
        )


def _identifiers(columns: dict[str, Float64[np.ndarray, " row"]]) -> Iterator[str]:
    """Yield the columns of integers that number the rows, or that are different in every row and named like an id."""
    found = [name for name, values in columns.items() if _is_identifier(name, values)]
    if found:
        yield (
            f"{_named(found)} may only number the rows: every value is another integer. Leave such columns out, unless "
            "their order says something about the target"
        )


def _is_identifier(name: str, values: Float64[np.ndarray, " row"]) -> bool:
    if len(values) < 3 or (values != np.floor(values)).any() or len(np.unique(values)) < len(values):
        return False
    counts = np.ptp(values) == len(values) - 1 and values.min() in (0, 1)
    return bool(counts or _ID_NAME.search(name))


def _dates_as_numbers(columns: dict[str, Float64[np.ndarray, " row"]]) -> Iterator[str]:
    """Yield the columns of integers such as 20240531, whose differences are no numbers of days."""
    found = [name for name, values in columns.items() if _are_dates(values)]
    if found:
        yield f"{_named(found)} may hold dates written as numbers, such as 20240531: write them as 2024-05-31"


def _are_dates(values: Float64[np.ndarray, " row"]) -> bool:
    if (values != np.floor(values)).any() or values.min() < 19000101 or values.max() > 21001231:
        return False
    text = pd.Series(values).astype(np.int64).astype(str)
    return bool(pd.to_datetime(text, format="%Y%m%d", errors="coerce").notna().all())


def _outliers(columns: dict[str, Float64[np.ndarray, " row"]]) -> Iterator[str]:
    """Yield the columns with a few values that lie as far from the others as wild targets."""
    found = []
    for name, values in columns.items():
        low, high = np.quantile(values, [0.25, 0.75])
        far = np.abs(values - np.clip(values, low, high)) > FENCE * (high - low)
        if high > low and 0 < far.mean() <= RARE:
            first = int(far.argmax())
            found.append(f"{name!r} ({values[first]:.6g} in row {first + 1})")
    if found:
        shown = ", ".join(found[:MOST_NAMED]) + (
            f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
        )
        yield f"a few values lie far from the others of their column, as a slip or a code for a gap would: {shown}"


def _copies_of_target(
    columns: dict[str, Float64[np.ndarray, " row"]], target: str, y: Float64[np.ndarray, " row"]
) -> Iterator[str]:
    """Yield the columns that repeat the target, but for their unit."""
    if len(y) < 4 or not np.ptp(y) > 0:
        return
    centred = y - y.mean()
    found = []
    for name, values in columns.items():
        own = values - values.mean()
        square = (own @ centred) ** 2
        if square > 0 and square >= COPY * (own @ own) * (centred @ centred):
            found.append(name)
    if found:
        yield f"{_named(found)} repeats the target {target!r} but for its unit: leave it out if new rows lack it"


def _repeated(x: Float64[np.ndarray, "row feature"], y: Float64[np.ndarray, " row"]) -> Iterator[str]:
    """Yield how many rows are copies of others, or repeat their inputs with other targets."""
    n_different = len(np.unique(x, axis=0))
    n_pairs = len(np.unique(np.column_stack([x, y]), axis=0))
    if n_pairs < len(x):
        yield (
            f"{len(x) - n_pairs} of {len(x)} rows are copies of others: each row is used once, with a weight of its "
            "number of copies"
        )
    if n_pairs - n_different > REPEATED * len(x):
        yield (
            f"{len(x)} rows have only {n_different} different inputs: rows of the same inputs can be told apart by "
            "nothing, and a held-out row may repeat the inputs of a training row"
        )


def _width(x: Float64[np.ndarray, "row feature"]) -> Iterator[str]:
    """Yield a warning of tables that have more features than rows."""
    if x.shape[1] > len(x):
        yield f"{len(x)} rows have {x.shape[1]} features: expect little; fewer features may be predicted from better"


def _skewness(values: Float64[np.ndarray, " row"]) -> float:
    spread = values.std()
    return float(np.mean(((values - values.mean()) / spread) ** 3)) if spread > 0 else 0.0


def _named(names: list[str]) -> str:
    """Return "column 'a'" or "columns 'a', 'b' and 3 more"."""
    return f"{'column' if len(names) == 1 else 'columns'} {listing(names, MOST_NAMED)}"
