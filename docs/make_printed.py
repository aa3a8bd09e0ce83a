"""Put tables that benchmarks have printed into the pages: `python docs/make_printed.py`.

A block between `<!-- begin printed NAME K -->` and its `end` gets the K-th table of benchmarks/records/printed/NAME.md,
which `python -m benchmarks NAME` writes. The block `printed runs` gets a table of all of them: when and where they ran.
"""

import json
import re
from pathlib import Path

from make_results import filled

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "benchmarks" / "records" / "printed"
PAGES = [ROOT / "BENCHMARKS.md", *sorted((ROOT / "docs").rglob("*.md"))]
BEGIN = re.compile(r"<!-- begin (printed (\w+)(?: (\d+))?) -->")


def main() -> None:
    """Rewrite the blocks of all pages."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if (made := with_tables(text)) != text:
            page.write_text(made, encoding="utf-8")


def with_tables(page: str) -> str:
    """Return the page with its blocks filled from the records."""
    for block, name, number in BEGIN.findall(page):
        page = filled(page, block, tables(name)[int(number) - 1] if number else runs())
    return page


def tables(name: str) -> list[str]:
    """Return the tables that a benchmark has printed."""
    lines = (RECORDS / f"{name}.md").read_text(encoding="utf-8").splitlines()
    text = "\n".join(line if line.startswith("|") else "" for line in lines)
    return [table for table in re.split(r"\n{2,}", text.strip("\n")) if table]


def runs() -> str:
    """Return a table of the records: when and where each benchmark ran."""
    rows = ["| benchmark | run on | processor | cores | load when it began |", "|---|---|---|---:|---:|"]
    for path in sorted(RECORDS.glob("*.md")):
        origin = json.loads(path.read_text(encoding="utf-8").splitlines()[0].removeprefix("<!-- ").removesuffix(" -->"))
        load = origin["load when it began"]
        cells = (path.stem, origin["date"], origin["processor"], origin["cores"], "" if load is None else load)
        rows.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(rows)


if __name__ == "__main__":
    main()
