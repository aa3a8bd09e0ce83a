"""Run the benchmarks whose tables are in BENCHMARKS.md: `python -m benchmarks` for all, or by name."""

import sys
from importlib import import_module
from pathlib import Path


def names() -> list[str]:
    """Every module of this folder is a benchmark: its `main()` prints one Markdown section."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_"))


def main(chosen: list[str]) -> int:
    """Run the chosen benchmarks, or all of them, one after the other."""
    unknown = [name for name in chosen if name not in names()]
    if unknown:
        print(f"no benchmark is called {', '.join(unknown)}; there are: {', '.join(names())}", file=sys.stderr)
        return 2
    for name in chosen or names():
        import_module(f"benchmarks.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
