"""Pack arrays into base64 text for the page: little-endian, last axis fastest. `assets/data.js` unpacks them.

Predictions are many and only drawn, so each model's are stored as 16-bit codes between its own extremes:
value = low + code / STEPS * (high - low), with an error of at most (high - low) / 131,068. Missing values have their
own code.
"""

from base64 import b64encode

import numpy as np
from jaxtyping import Float, Shaped

STEPS = 65534  # largest 16-bit code of a value
MISSING = 65535  # 16-bit code of a missing value
SHARES = 250  # 8-bit code of the share 1
NO_SHARE = 255  # 8-bit code of a missing share
LARGEST = float(np.finfo(np.float32).max)
SMALLEST = float(np.finfo(np.float32).tiny)


def pack_floats(values: Float[np.ndarray, "..."]) -> str:
    """Pack numbers as float32; clip finite numbers to its range."""
    inside = np.where(np.isfinite(values), np.clip(values, -LARGEST, LARGEST), values)
    return _text(inside.astype("<f4"))


def pack_bytes(codes: Shaped[np.ndarray, "..."]) -> str:
    """Pack integers from 0 to 255 as bytes."""
    return _text(codes.astype("<u1"))


def pack_shares(shares: Float[np.ndarray, "..."]) -> str:
    """Pack numbers between 0 and 1, or NaN, as bytes in steps of 1 / SHARES."""
    return pack_bytes(np.where(np.isfinite(shares), np.round(np.nan_to_num(shares) * SHARES), NO_SHARE))


def pack_rows(values: Float[np.ndarray, "*model row"]) -> dict[str, str]:
    """Pack each model's rows as 16-bit codes between its lowest and highest value, and these two values."""
    finite = np.isfinite(values)
    some = finite.any(axis=-1)
    low = np.where(some, np.where(finite, values, np.inf).min(axis=-1), 0.0)
    high = np.where(some, np.where(finite, values, -np.inf).max(axis=-1), 0.0)
    low, high = (np.clip(ends, -LARGEST, LARGEST).astype("<f4").astype(float)[..., None] for ends in (low, high))
    share = (np.where(finite, values, low) - low) / np.where(high > low, high - low, 1.0)
    codes = np.where(finite, np.round(np.clip(share, 0.0, 1.0) * STEPS), MISSING)
    return {"codes": _text(codes.astype("<u2")), "low": pack_floats(low[..., 0]), "high": pack_floats(high[..., 0])}


def pack_log_rows(values: Float[np.ndarray, "*model row"]) -> dict[str, str]:
    """Pack the logarithms of positive numbers in the same way, so that small numbers keep their digits."""
    with np.errstate(invalid="ignore"):
        return pack_rows(np.log(np.maximum(values, SMALLEST)))


def _text(values: Shaped[np.ndarray, "..."]) -> str:
    """Return the bytes of an array as base64 text."""
    return b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
