"""Count the recorded networks of Figures 2 and 7 by their labels, seed by seed."""

from collections import Counter
from pathlib import Path

from heteroscope.diagrams import kinds, relabel
from heteroscope.paper import EXHIBITS, SCALES, part_name
from heteroscope.paper.part_records import load_part

RECORDS = Path(__file__).parent / "records" / "parts"
COLUMNS = {
    "U_I": "U_I",
    "U_II": "U_II",
    "S_constant": "S, constant std",
    "S_adapts": "S, std adapts",
    "O_II": "O_II",
    "O_I": "O_I",
    "none": "none",
}


def main() -> None:
    """Print the two tables of docs/results.md."""
    for exhibit, n_seeds in (("summary", 2), ("synthetic-networks", 1)):
        print(f"| set, seed | {' | '.join(COLUMNS.values())} |")
        print(f"|---|{'---:|' * len(COLUMNS)}")
        for part in EXHIBITS[exhibit].parts(SCALES["full"].with_seeds(n_seeds)).values():
            if part.kind == "networks":
                for seed, piece in enumerate(part.pieces()):
                    kept = load_part(RECORDS, part_name(piece))
                    if kept is not None:
                        counted = Counter(kinds(relabel(kept.result)).values.ravel().tolist())
                        print(f"| {part.data}, {seed} | {' | '.join(str(counted[kind]) for kind in COLUMNS)} |")
        print()


if __name__ == "__main__":
    main()
