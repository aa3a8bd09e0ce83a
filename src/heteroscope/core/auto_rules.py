"""What each "auto" means: the rules for batch size, number of steps, schedule and cross-validation.

Each `resolve_*` function takes the value that the user gave and returns the value to use. A value that cannot be used
raises an `InputError`. The numbers in the rules are those of `defaults.py`.
"""

from numbers import Integral
from typing import TypeVar

from heteroscope.core import defaults
from heteroscope.core.errors import InputError, Parameter, check_positive_integer

CrossValidation = TypeVar("CrossValidation")


def resolve_batch_size(batch_size: object, n_rows: int) -> int | None:
    """Return the number of rows per training step, or None for all rows.

    "auto" is half of the rows, but at most 128 up to 2,000 rows and at most 256 beyond; up to 32 rows it is all rows.
    Models trained in batches predict better than models trained with exact gradients.
    """
    if batch_size == "auto":
        most = defaults.BATCH_OF_FEW_ROWS if n_rows <= defaults.FEW_ROWS else defaults.BATCH_OF_MANY_ROWS
        return None if n_rows <= defaults.NO_BATCHES_UP_TO else min(most, -(-n_rows // 2))
    if batch_size is None:
        return None
    if isinstance(batch_size, bool) or not isinstance(batch_size, Integral) or batch_size < 1:
        raise InputError(Parameter("batch_size"), f' must be a positive integer, None or "auto", got {batch_size!r}')
    return int(batch_size)


def resolve_stream_batch_size(batch_size: object) -> int:
    """Return the number of rows per training step on a stream: "auto" is 256, and None (all rows) is refused."""
    if batch_size is None:
        raise InputError(
            Parameter("batch_size"), "=None asks for all rows at once: a stream needs a number, such as 256"
        )
    if batch_size == "auto":
        return defaults.BATCH_OF_MANY_ROWS
    return resolve_batch_size(batch_size, 0) or defaults.BATCH_OF_MANY_ROWS


def resolve_diagram_batch_size(batch_size: object, n_rows: int) -> int | None:
    """Return the number of rows per training step of a diagram, or None for all rows.

    "auto" is all rows up to 512 rows and 256 beyond. A diagram shows minima of the objective, and exact gradients come
    closer to them than batches do.
    """
    if batch_size == "auto":
        return None if n_rows <= defaults.EXACT_UP_TO else defaults.BATCH_OF_MANY_ROWS
    return resolve_batch_size(batch_size, n_rows)


def resolve_max_steps(max_steps: object, n_rows: int) -> int:
    """Return the number of training steps per model; "auto" is one per row, at least 1,000 and at most 20,000."""
    if max_steps == "auto":
        return min(max(n_rows, defaults.FEWEST_STEPS), defaults.MOST_STEPS)
    if isinstance(max_steps, bool) or not isinstance(max_steps, Integral) or max_steps < 1:
        raise InputError(Parameter("max_steps"), f' must be a positive integer or "auto", got {max_steps!r}')
    return int(max_steps)


def resolve_diagram_steps(
    max_steps: object, n_rows: int, batch_size: int | None, start: str | float = "he", schedule: str = "auto"
) -> int:
    """Return the number of training steps per model of a diagram.

    "auto" is 4,000 in batches; with all rows per step it is 8,000 up to 128 rows and 5,000 beyond. From a small start
    (any `start` but "he") the "fast" schedule takes twice as many, since its first half is needed to leave zero.
    """
    if max_steps != "auto":
        return check_positive_integer("max_steps", max_steps)
    if batch_size is not None:
        return defaults.BATCH_STEPS
    steps = defaults.LONG_STEPS if n_rows <= defaults.LONG_UP_TO else defaults.EXACT_STEPS
    return steps if start == "he" or schedule not in ("auto", "fast") else 2 * steps


def resolve_schedule(schedule: str, batch_size: int | None) -> str:
    """Return the name of the learning-rate schedule; "auto" is "fast" for exact gradients and "cosine" for batches."""
    if schedule != "auto":
        return schedule
    return "fast" if batch_size is None else "cosine"


def resolve_diagram_schedule(schedule: str, batch_size: int | None, streamed: bool) -> str:
    """Return the learning-rate schedule of a diagram.

    "auto" is "levelled" for batches of rows in memory, because it ends in deeper minima. In all other cases "auto" is
    returned as it is, for `resolve_schedule` to decide.
    """
    if schedule == "auto" and batch_size is not None and not streamed:
        return "levelled"
    return schedule


def halves_points(n_rows: int, n_folds: int) -> bool:
    """Return whether the search along the diagonal is one by halving: many rows, of which a share is held out once."""
    return n_rows >= defaults.HALVING_FROM and n_folds == 1


def has_automatic_folds(cv: object) -> bool:
    """Return whether the cross-validation is left to `resolve_folds`."""
    return cv is None or (isinstance(cv, str) and cv == "auto")


def resolve_folds(cv: CrossValidation, n_rows: int) -> CrossValidation | int | float:
    """Return the cross-validation: a number of folds, the share of rows to hold out once, or `cv` itself.

    None and "auto" are five folds up to 2,000 rows, and a fifth of the rows, at most 10,000, held out once beyond.
    """
    if has_automatic_folds(cv):
        if n_rows <= defaults.FEW_ROWS:
            return defaults.FOLDS_OF_FEW_ROWS
        return min(defaults.HELD_OUT_OF_MANY_ROWS, defaults.MOST_HELD_OUT / n_rows)
    return cv
