"""Check types in tests from a function's first call on, since most functions that a test imports are never called.

jaxtyping hands over a generated function that has the signature of the one to check and nothing else: equal signatures
share one check, so that functions inside of functions are not prepared again each time they are defined.
"""

from collections.abc import Callable, Hashable
from functools import wraps

from beartype import beartype

CHECKS: dict[Hashable, Callable[..., object]] = {}


def check_calls(signature: Callable[..., object]) -> Callable[..., object]:
    """Return a function that checks its arguments as `beartype` would, prepared at its first call."""

    @wraps(signature)
    def check(*args: object, **kwargs: object) -> object:
        hints = tuple(signature.__annotations__.items())
        key = (signature.__module__, signature.__qualname__, signature.__code__, hints)
        if key not in CHECKS:
            CHECKS[key] = beartype(signature)
        return CHECKS[key](*args, **kwargs)

    return check
