"""Numbers as a person would write them."""

import math

MOST_DIGITS = 9  # before the point; longer numbers get an exponent
LEAST_POWER = -4  # smaller numbers get an exponent


def number_text(value: float, digits: int = 4) -> str:
    """Format a number with so many significant digits, and with an exponent only if it is very large or very small.

    Parameters
    ----------
    value : float
        Any number.
    digits : int, default=4
        Significant digits; digits before the point are never replaced by zeros.

    Returns
    -------
    str
        Such as "0.0135", "12.35", "70823" or "3.1e+12".
    """
    short = f"{value:.{digits}g}"
    if "e" not in short:
        return short
    power = math.floor(math.log10(abs(value)))
    return f"{value:.0f}" if LEAST_POWER <= power < MOST_DIGITS else short
