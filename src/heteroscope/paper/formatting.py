"""Format numbers and tables as text."""

import math

import numpy as np
import pandas as pd


def plus_minus(values: pd.Series) -> str:
    """Return "mean ± standard deviation" over runs, with three and two digits; an infinite mean has the spread nan."""
    with np.errstate(invalid="ignore"):
        return f"{number(float(values.mean()))} ± {number(float(values.std(ddof=1)), 2)}"


def number(value: float, digits: int = 3) -> str:
    """Return the number with so many significant digits: in plain form if that is short, else as 1.3e5."""
    if not math.isfinite(value):
        return f"{value}"
    text = f"{value:.{digits}g}"
    if "e" not in text:
        return text
    lead, exponent = text.split("e")
    return f"{lead}e{int(exponent)}"


def markdown(table: pd.DataFrame) -> str:
    """Return the table as Markdown, the first column aligned left and the others right."""
    lines = [f"| {' | '.join(map(str, table.columns))} |", f"|---|{'---:|' * (len(table.columns) - 1)}"]
    for row in table.itertuples(index=False):
        cells = [number(cell) if isinstance(cell, float) else str(cell) for cell in row]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
