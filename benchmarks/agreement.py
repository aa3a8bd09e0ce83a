"""How far networks and the field theory agree on the phases of the six simulated sets, after the best shift.

The networks are those of Figure 7 of docs/results.md, seed 0 on the paper's grid, as they are on record; the theory is
solved here on 1024 points.
"""

from pathlib import Path

from heteroscope import field_diagram
from heteroscope.agreement import agreement
from heteroscope.datasets import simulated
from heteroscope.diagram import majority_phase
from heteroscope.reproduce import RECIPES, SCALES
from heteroscope.reproduce.records import recall
from heteroscope.reproduce.run import part_name

THEORY_POINTS = 1024
RECORDS = Path(__file__).parent / "records" / "parts"


def main() -> None:
    """Print the table of docs/diagrams.md."""
    print("| data set | most common phase | equal cells | after the best shift | shift of log alpha | of log beta |")
    print("|---|---:|---:|---:|---:|---:|")
    for part in RECIPES["synthetic-networks"].parts(SCALES["full"].with_seeds(1)).values():
        (seed,) = part.pieces()
        kept = recall(RECORDS, part_name(seed))
        if kept is None:
            raise SystemExit(f"{part_name(seed)} is not in {RECORDS}: make it with `heteroscope reproduce`")
        x, y, y_test = simulated.field_draws(part.data, THEORY_POINTS)
        found = agreement(kept.found, field_diagram(x, y, y_test=y_test))
        labels = majority_phase(kept.found).to_series()
        shares = (labels.value_counts(normalize=True).max(), found.unshifted, found.share)
        texts = " | ".join(f"{100 * share:.0f} %" for share in shares)
        print(f"| {part.data} | {texts} | {found.log_alpha:+.1f} | {found.log_beta:+.1f} |", flush=True)
