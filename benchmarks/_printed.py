"""Keep what a benchmark prints, with where and when: `benchmarks/records/printed/NAME.md` is the source of its tables.

`python docs/make_printed.py` puts the tables into the pages.
"""

import io
import json
import os
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from datetime import UTC, datetime
from pathlib import Path

from heteroscope.core import atomic_write, computed_with

FOLDER = Path(__file__).parent / "records" / "printed"


class _Copying(io.StringIO):
    """Keeps what is written, and writes it to the terminal as well."""

    def write(self, text: str) -> int:
        sys.__stdout__.write(text)
        sys.__stdout__.flush()
        return super().write(text)


def keep_printed(name: str, run: Callable[[], None]) -> None:
    """Run a benchmark; if it ends well, keep what it printed, below a line that says when and where it ran."""
    load = os.getloadavg()[0]
    with redirect_stdout(_Copying()) as printed:
        run()
    found = computed_with()
    origin = {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": found.pop("processor"),
        "cores": os.cpu_count(),
        "load when it began": round(load, 1),
        "versions": found,
    }
    with atomic_write(FOLDER / f"{name}.md") as path:
        path.write_text(f"<!-- {json.dumps(origin)} -->\n\n{printed.getvalue()}", encoding="utf-8")
