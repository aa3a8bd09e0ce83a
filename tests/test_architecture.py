"""Data flows one way: a module imports only from those above it in the list, wherever in the file the import stands."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "heteroscope"

ORDER = [
    "defaults",
    "errors",
    "files",
    "identity",
    "status",
    "progress",
    "regularisation",
    "grids",
    "networks",
    "objective",
    "solvers",
    "stages",
    "constant",
    "inspection",
    "tile",
    "programs",
    "joblib_internals",
    "engine",
    "scaling",
    "rows",
    "predictive",
    "streams",
    "datasets",
    "student",
    "sklearn_internals",
    "metrics",
    "phases",
    "field",
    "diagnosis",
    "search",
    "lockstep",
    "diagram",
    "theory",
    "agreement",
    "backends",
    "store",
    "measuring",
    "exchange",
    "training",
    "sweep",
    "gaussian",
    "estimators",
    "tuning",
    "baselines",
    "storage",
    "comparison",
    "plots",
    "report",
    "demo",
    "reproduce",
    "cli",
    "__main__",
]

FILES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path != PACKAGE / "__init__.py"
}


def imported(path: Path) -> set[str]:
    """The project's own modules that a file imports, without the leading package name."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: imports name the whole path, as everywhere in the project"
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.removeprefix("heteroscope.") for name in names if name and name.startswith("heteroscope.")} & set(
        FILES
    )


def unit(module: str) -> str:
    return module.split(".")[0]


def test_every_module_has_its_place_in_the_list():
    assert {unit(module) for module in FILES} <= set(ORDER)


@pytest.mark.parametrize("module", FILES)
def test_imports_point_up_the_list(module):
    place = ORDER.index(unit(module))
    below = {name for name in imported(FILES[module]) if ORDER.index(unit(name)) > place}
    assert not below, f"{module} imports {sorted(below)}, which the list has below it"


def test_no_two_files_import_each_other_even_by_detours():
    # a package's own __init__ only gathers names: those who import it depend on all that it gathers
    order = TopologicalSorter({module: imported(path) - {module} for module, path in FILES.items()}).static_order()
    assert set(order) >= set(FILES)


def test_nothing_imports_the_command_line_but_the_program():
    assert [module for module, path in FILES.items() if "cli" in imported(path)] == ["__main__"]
