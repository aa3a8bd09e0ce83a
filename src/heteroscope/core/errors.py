"""The one exception a user's mistake raises: a sentence of cause and a sentence of cure, on one line."""

from numbers import Integral
from typing import Any


class InputError(ValueError):
    """What the caller gave cannot be used; the message says what is wrong and what to do, on one line."""


def error_text(error: BaseException) -> str:
    """What another library has to say, on one line and without its full stop, to be quoted in a message of ours."""
    return " ".join(str(error).split()).rstrip(".")


def check_positive_integer(name: str, value: Any, least: int = 1) -> int:
    """`value` as an int, or an error that names the parameter; zero counts as well if it is the `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name} must be a positive integer{'' if least else ' or 0'}, got {value!r}")
    return int(value)
