"""Every default, and what each "auto" means.

The values are read at the call, so that a test can shrink them. Functions named `resolve_*` take what the user gave and
return what is used; what cannot be used raises an `InputError`.
"""

from numbers import Integral

from heteroscope.core.errors import InputError, Parameter, check_positive_integer

# Estimators and the command line share these; "PAPER_" values are those of phase diagrams.
HIDDEN, PAPER_HIDDEN = (64, 64, 64), (128, 128, 128)
ACTIVATION, PAPER_ACTIVATION = "silu", "leaky_relu"
SELECTION = "nll"
FOLDS = "auto"
COARSE_POINTS, FINE_POINTS, ASIDE_POINTS, FINALISTS = 8, 6, 4, 3
POINT_MEMBERS, SEARCH_MEMBERS = 1, 5
POINT_STEPS = 4000  # of a fit at one point
SEARCH_STEPS = "auto"  # of each model of a search or a baseline
DIAGRAM_STEPS = "auto"  # of each model of a diagram

# What "auto" means.
FEW_ROWS = 2000  # up to here folds are many and batches small
FOLDS_OF_FEW_ROWS, HELD_OUT_OF_MANY_ROWS = 5, 0.2
BATCH_OF_FEW_ROWS, BATCH_OF_MANY_ROWS = 128, 256
NO_BATCHES_UP_TO = 32  # rows, below which every step sees all of them
FEWEST_STEPS, MOST_STEPS = 1000, 20_000  # of a search; between them, one step per row
EXACT_UP_TO = 512  # rows of a diagram, below which every step sees all of them
LONG_UP_TO = 128  # rows of a diagram, below which its models train longest
LONG_STEPS, EXACT_STEPS, BATCH_STEPS = 8000, 5000, 4000  # few rows; all rows at each step; batches


def resolve_batch_size(batch_size: object, n_rows: int) -> int | None:
    """Return how many rows a step sees, or None for all of them.

    "auto" is half of the rows, but at most 128 of few rows and 256 of many, and all rows if there are at most 32: steps
    with noise in them end in models that predict better than steps with exact gradients do.
    """
    if batch_size == "auto":
        most = BATCH_OF_FEW_ROWS if n_rows <= FEW_ROWS else BATCH_OF_MANY_ROWS
        return None if n_rows <= NO_BATCHES_UP_TO else min(most, -(-n_rows // 2))
    if batch_size is None:
        return None
    if isinstance(batch_size, bool) or not isinstance(batch_size, Integral) or batch_size < 1:
        raise InputError(Parameter("batch_size"), f' must be a positive integer, None or "auto", got {batch_size!r}')
    return int(batch_size)


def resolve_stream_batch_size(batch_size: object) -> int:
    """Return how many rows a step on a stream sees; a stream has no batch of all rows."""
    if batch_size is None:
        raise InputError("batch_size=None asks for all rows at once: a stream needs a number, such as 256")
    if batch_size == "auto":
        return BATCH_OF_MANY_ROWS
    return resolve_batch_size(batch_size, 0) or BATCH_OF_MANY_ROWS


def resolve_diagram_batch_size(batch_size: object, n_rows: int) -> int | None:
    """Return how many rows a step of a diagram sees: a diagram is about minima, so "auto" is all of up to 512 rows."""
    if batch_size == "auto":
        return None if n_rows <= EXACT_UP_TO else BATCH_OF_MANY_ROWS
    return resolve_batch_size(batch_size, n_rows)


def resolve_max_steps(max_steps: object, n_rows: int) -> int:
    """Return how many steps a model takes; "auto" is one per row, but at least 1,000 and at most 20,000."""
    if max_steps == "auto":
        return min(max(n_rows, FEWEST_STEPS), MOST_STEPS)
    if isinstance(max_steps, bool) or not isinstance(max_steps, Integral) or max_steps < 1:
        raise InputError(Parameter("max_steps"), f' must be a positive integer or "auto", got {max_steps!r}')
    return int(max_steps)


def resolve_diagram_steps(
    max_steps: object, n_rows: int, batch_size: int | None, start: str | float = "he", schedule: str = "auto"
) -> int:
    """Return how many steps a model of a diagram takes; "auto" is 4,000 in batches, else 5,000, or 8,000 of few rows.

    From a small start the "fast" schedule takes twice as many: the first half is for leaving zero.
    """
    if max_steps != "auto":
        return check_positive_integer("max_steps", max_steps)
    if batch_size is not None:
        return BATCH_STEPS
    steps = LONG_STEPS if n_rows <= LONG_UP_TO else EXACT_STEPS
    return steps if start == "he" or schedule not in ("auto", "fast") else 2 * steps


def resolve_schedule(schedule: str, batch_size: int | None) -> str:
    """Return the schedule's name; "auto" is "fast" where gradients are exact and "cosine" for batches."""
    if schedule != "auto":
        return schedule
    return "fast" if batch_size is None else "cosine"


def resolve_diagram_schedule(schedule: str, batch_size: int | None, streamed: bool) -> str:
    """Return a diagram's schedule; "auto" is "levelled" for batches in memory: it ends in deeper minima."""
    if schedule == "auto" and batch_size is not None and not streamed:
        return "levelled"
    return schedule


def resolve_folds(cv: object, n_rows: int) -> object:
    """Return the cross-validation; None or "auto" is five folds of up to 2,000 rows, and a fifth held out of more."""
    if cv is None or (isinstance(cv, str) and cv == "auto"):
        return FOLDS_OF_FEW_ROWS if n_rows <= FEW_ROWS else HELD_OUT_OF_MANY_ROWS
    return cv
