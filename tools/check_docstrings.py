"""Check that every public name has a numpydoc docstring whose parameters are those of its signature.

Run by `make lint`. numpydoc's own validation does the work; a name is public if it stands in the `__all__` of a public
package, or is a public method that a public class of ours defines.
"""

import importlib
import inspect
import sys
from collections.abc import Iterator

from numpydoc.validate import validate

#: Packages and modules that users import from.
PUBLIC = (
    "heteroscope",
    "heteroscope.baselines",
    "heteroscope.datasets",
    "heteroscope.distributions",
    "heteroscope.field",
)
#: More public names, of packages whose other names are for our own packages.
NAMES = (
    "heteroscope.comparison.compare",
    "heteroscope.data.open_stream",
    "heteroscope.report.write_report",
    "heteroscope.training.use_backend",
)
#: A docstring; a one-line summary; parameters that are documented, exist and have a description; what is returned.
CODES = {"GL08", "SS01", "SS06", "PR01", "PR02", "PR07", "RT01"}


def public_objects() -> Iterator[str]:
    """Yield the dotted name of every public function, class and method."""
    for place in PUBLIC:
        module = importlib.import_module(place)
        for name in module.__all__:
            found = getattr(module, name)
            if not (inspect.isfunction(found) or inspect.isclass(found)):
                continue
            yield f"{place}.{name}"
            if inspect.isclass(found) and not issubclass(found, tuple):
                for method, defined in inspect.getmembers(found, inspect.isfunction):
                    if not method.startswith("_") and defined.__module__.startswith("heteroscope"):
                        yield f"{place}.{name}.{method}"
    yield from NAMES


def main() -> int:
    """Print what is missing; return 1 if anything is."""
    complaints = [
        f"{name}: {code} {text}"
        for name in sorted(set(public_objects()))
        for code, text in validate(name)["errors"]
        if code in CODES
    ]
    print("\n".join(complaints) or "every public name is documented")
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
