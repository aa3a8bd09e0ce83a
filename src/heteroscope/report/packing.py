"""Arrays as base64 text for the page: little-endian, last axis fastest.

Predictions are many and are only drawn, so each model's are coded in 16 bits between its own extremes:
value = low + code / STEPS * (high - low), which is off by (high - low) / 131,068 at most. A missing value has a code of
its own.
"""

from base64 import b64encode

import numpy as np
from jaxtyping import Float, Shaped

STEPS = 65534
MISSING = 65535  # the one code of 16 bits that is left
SHARES = 250  # steps from 0 to 1 of a share in 8 bits
NO_SHARE = 255
LARGEST = float(np.finfo(np.float32).max)
SMALLEST = float(np.finfo(np.float32).tiny)


def pack_floats(values: Float[np.ndarray, "..."]) -> str:
    """Float32; a finite number beyond its range becomes the nearest that it holds."""
    inside = np.where(np.isfinite(values), np.clip(values, -LARGEST, LARGEST), values)
    return _text(inside.astype("<f4"))


def pack_bytes(codes: Shaped[np.ndarray, "..."]) -> str:
    """Unsigned integers below 256."""
    return _text(codes.astype("<u1"))


def pack_shares(shares: Float[np.ndarray, "..."]) -> str:
    """Numbers between 0 and 1 in steps of 1 / SHARES, or NaN."""
    return pack_bytes(np.where(np.isfinite(shares), np.round(np.nan_to_num(shares) * SHARES), NO_SHARE))


def pack_rows(values: Float[np.ndarray, "*model row"]) -> dict[str, str]:
    """16-bit codes of each model's rows, and the low and high that they lie between."""
    finite = np.isfinite(values)
    some = finite.any(axis=-1)
    low = np.where(some, np.where(finite, values, np.inf).min(axis=-1), 0.0)
    high = np.where(some, np.where(finite, values, -np.inf).max(axis=-1), 0.0)
    low, high = (np.clip(ends, -LARGEST, LARGEST).astype("<f4").astype(float)[..., None] for ends in (low, high))
    share = (np.where(finite, values, low) - low) / np.where(high > low, high - low, 1.0)
    codes = np.where(finite, np.round(np.clip(share, 0.0, 1.0) * STEPS), MISSING)
    return {"codes": _text(codes.astype("<u2")), "low": pack_floats(low[..., 0]), "high": pack_floats(high[..., 0])}


def pack_log_rows(values: Float[np.ndarray, "*model row"]) -> dict[str, str]:
    """The same for positive numbers, coded in the logarithm, so that the smallest keep their digits."""
    with np.errstate(invalid="ignore"):
        return pack_rows(np.log(np.maximum(values, SMALLEST)))


def _text(values: Shaped[np.ndarray, "..."]) -> str:
    return b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
