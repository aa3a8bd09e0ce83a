"""Run the benchmarks behind BENCHMARKS.md: `python -m benchmarks` runs all, `python -m benchmarks NAME ...` some.

Those that take hours and add to the records run only by name. What they print is kept in benchmarks/records/printed.
"""

import sys
from importlib import import_module
from pathlib import Path

from benchmarks._printed import keep_printed

TAKES_HOURS = ("penalty_law", "theory_search")


def names() -> list[str]:
    """Return the names of the benchmarks: each module of this folder is one, and its `main()` prints Markdown."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_"))


def main(chosen: list[str]) -> int:
    """Run the chosen benchmarks, or all, one after another; return the exit code."""
    unknown = [name for name in chosen if name not in names()]
    if unknown:
        print(f"no benchmark is called {', '.join(unknown)}; there are: {', '.join(names())}", file=sys.stderr)
        return 2
    for name in chosen or [name for name in names() if name not in TAKES_HOURS]:
        keep_printed(name, import_module(f"benchmarks.{name}").main)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
