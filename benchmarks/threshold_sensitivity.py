"""Measure how many labels change if a threshold of the phase rule is halved or doubled.

Prints one row per data set: the share of the recorded networks of Figures 2 and 7 (3 x 128, the paper's grid, all seeds
on record) whose label changes. MEMORISED and HONEST_SCORE are ratios, so they move between 1.25 and 2, and 1.5 and 3.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import xarray as xr

from heteroscope.diagrams import relabel
from heteroscope.paper import EXHIBITS, SCALES, part_name
from heteroscope.paper.part_records import load_part
from heteroscope.phases import labels

RECORDS = Path(__file__).parent / "records" / "parts"
CHANGES = {
    "FLAT_MEAN": (0.025, 0.1),
    "FLAT_PRECISION": (0.025, 0.1),
    "MEMORISED": (1.25, 2.0),
    "HONEST_SCORE": (1.5, 3.0),
}


def main() -> None:
    """Print the table of docs/diagrams.md."""
    columns = [f"{name} {value:g}" for name, values in CHANGES.items() for value in values]
    print(f"| data set | models | {' | '.join(columns)} |")
    print(f"|---|---:|{'---:|' * len(columns)}")
    parts = {
        part.data: part
        for exhibit in ("summary", "synthetic-networks")
        for part in EXHIBITS[exhibit].parts(SCALES["full"]).values()
        if part.kind == "networks"
    }
    for data, part in parts.items():
        kept = [load_part(RECORDS, part_name(seed)) for seed in part.pieces()]
        diagrams = [one.result for one in kept if one is not None]
        n_models = sum(one["phase"].size for one in diagrams)
        shares = [changed(diagrams, name, value) for name, values in CHANGES.items() for value in values]
        print(f"| {data} | {n_models} | {' | '.join(f'{100 * share:.1f} %' for share in shares)} |", flush=True)


def changed(diagrams: list[xr.Dataset], name: str, value: float) -> float:
    """Return the share of models whose label changes with another value of one threshold."""
    with threshold(name, value):
        return float(np.mean([(relabel(one)["phase"] != one["phase"]).mean() for one in diagrams]))


@contextmanager
def threshold(name: str, value: float) -> Iterator[None]:
    """Give a threshold of the rule another value within a `with` block."""
    before = getattr(labels, name)
    setattr(labels, name, value)
    try:
        yield
    finally:
        setattr(labels, name, before)


if __name__ == "__main__":
    main()
