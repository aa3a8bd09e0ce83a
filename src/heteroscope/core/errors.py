"""The one exception for a user's mistake. Its message is one line: the cause, then the cure."""

from numbers import Integral


class InputError(ValueError):
    """A value, file or setting of the caller that cannot be used; the message says on one line why and what to do."""


def error_text(error: BaseException) -> str:
    """Return the message of another library's error on one line, without its full stop, to quote it in ours."""
    return " ".join(str(error).split()).rstrip(".")


def check_positive_integer(name: str, value: object, least: int = 1) -> int:
    """Return `value` as an int of at least `least` (1 or 0); raise an `InputError` that names the parameter if not."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name} must be a positive integer{'' if least else ' or 0'}, got {value!r}")
    return int(value)
