"""Numbers and tables as text for people."""

import math

import numpy as np
import pandas as pd


def plus_minus(values: pd.Series) -> str:
    """Mean ± standard deviation over runs, three digits; an infinite value has no spread, and says so."""
    with np.errstate(invalid="ignore"):
        return f"{number(float(values.mean()))} ± {number(float(values.std(ddof=1)), 2)}"


def number(value: float, digits: int = 3) -> str:
    """Plain where that is short, else as 1.3e5."""
    if not math.isfinite(value):
        return f"{value}"
    text = f"{value:.{digits}g}"
    if "e" not in text:
        return text
    lead, exponent = text.split("e")
    return f"{lead}e{int(exponent)}"


def markdown(table: pd.DataFrame) -> str:
    """The table as Markdown, a name on the left and numbers on the right."""
    lines = [f"| {' | '.join(map(str, table.columns))} |", f"|---|{'---:|' * (len(table.columns) - 1)}"]
    for row in table.itertuples(index=False):
        cells = [number(cell) if isinstance(cell, float) else str(cell) for cell in row]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
