"""Put the table of real sets into docs/datasets.md: `python docs/make_datasets.py`.

The block between `<!-- begin sources -->` and `<!-- end sources -->` is made from `heteroscope.datasets.SOURCES`, and
the number of features from the files, so that all extras must be installed.
"""

from pathlib import Path

from make_results import filled

from heteroscope.datasets import SOURCES, sample

PAGE = Path(__file__).parent / "datasets.md"


def main() -> None:
    """Rewrite the block."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), "sources", table()), encoding="utf-8")


def table() -> str:
    """Return one row per set: size, target, package, source, licence, and whether it has chosen a default."""
    lines = [
        "| name | rows x columns | features | target | extra: package | source | licence | has chosen a default |",
        "|---|---:|---:|---|---|---|---|---|",
    ]
    for name, source in SOURCES.items():
        unit = f", {source.target_unit}" if source.target_unit not in ("", source.target_name) else ""
        cells = [
            f"`{name}`",
            f"{source.n_rows} x {len(source.feature_names)}",
            str(len(sample(name).feature_names)),
            f"{source.target_name}{unit}",
            f"`{source.extra}`: `{source.package}`",
            source.origin,
            source.licence,
            "yes" if source.used_to_choose else "no",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
