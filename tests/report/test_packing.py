"""Packed arrays: what a reader decodes agrees with what was packed, to the tolerance that is stated."""

from base64 import b64decode

import numpy as np
import pytest

from heteroscope.report.packing import pack_bytes, pack_floats, pack_log_rows, pack_rows, pack_shares


def read(text, kind):
    return np.frombuffer(b64decode(text), kind)


def decode(packed, shape):
    codes = read(packed["codes"], "<u2").reshape(shape)
    low, high = (read(packed[end], "<f4").astype(float).reshape(shape[:-1])[..., None] for end in ("low", "high"))
    return np.where(codes == 65535, np.nan, low + codes / 65534 * (high - low))


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e6])
def test_rows_come_back_within_half_a_step(size):
    values = size * (np.random.default_rng(0).normal(size=(3, 2, 50)) + 2)
    back = decode(pack_rows(values), values.shape)
    step = np.ptp(values, axis=-1, keepdims=True) / 65534
    assert np.all(np.abs(back - values) <= 0.51 * step + 1e-7 * np.abs(values).max())


def test_positive_rows_keep_their_digits_over_many_decades():
    values = 10 ** np.random.default_rng(0).uniform(-12, 3, size=(4, 60))
    back = np.exp(decode(pack_log_rows(values), values.shape))
    np.testing.assert_allclose(back, values, rtol=4e-4)


def test_missing_constant_and_extreme_rows():
    values = np.array([[np.nan, np.nan], [2.0, 2.0], [1e300, -np.inf], [0.0, np.nan]])
    back = decode(pack_rows(values), values.shape)
    assert np.isnan(back[0]).all()
    np.testing.assert_array_equal(back[1], [2.0, 2.0])
    assert back[2, 0] == np.finfo(np.float32).max
    assert np.isnan(back[2, 1])
    np.testing.assert_array_equal(back[3], [0.0, np.nan])
    assert np.isfinite(decode(pack_log_rows(np.array([[0.0, 1.0]])), (1, 2))).all()


def test_floats_bytes_and_shares():
    np.testing.assert_array_equal(read(pack_floats(np.array([0.5, np.nan, np.inf])), "<f4"), [0.5, np.nan, np.inf])
    assert read(pack_floats(np.array([1e300])), "<f4")[0] == np.finfo(np.float32).max
    np.testing.assert_array_equal(read(pack_bytes(np.array([0, 4, 255])), "<u1"), [0, 4, 255])
    np.testing.assert_array_equal(read(pack_shares(np.array([0.0, 0.5, 1.0, np.nan])), "<u1"), [0, 125, 250, 255])
