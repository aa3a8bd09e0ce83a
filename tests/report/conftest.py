"""A real browser that opens written pages, and the diagrams that the pages show."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import xarray as xr

from heteroscope.datasets.simulated import field_draw
from heteroscope.diagrams.theory import field_diagram
from heteroscope.explanation import Explanation
from heteroscope.report import write_fit_report, write_report
from tests.explanation.made_up import explanation, many_categories
from tests.report.made_up import COARSE, EVIL, network_diagram, unfinished, with_columns

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
INSTALL = "no browser is installed: `apt-get install chromium` (Debian, Ubuntu) brings one"


@pytest.fixture(scope="session")
def diagrams() -> dict[str, xr.Dataset]:
    """By the name of their page; `theory` goes beside `pair`."""
    (x, y), (_, y_test) = (field_draw("sine", n_points=32, seed=seed) for seed in (0, 1))
    line, table = network_diagram(), network_diagram(COARSE[::2], n_seeds=1, n_features=3, n_rows=80)
    names = [EVIL, "</script><img src=x onerror=alert(2)>", *(f"a column with a long name {k}" for k in range(198))]
    return {
        "line": line,
        "pair": line,
        "theory": field_diagram(x, y, y_test=y_test, rhos=[1e-4, 0.1, 0.5, 0.9, 0.9999], gammas=[1e-4, 0.5, 0.9999]),
        "table": table,
        "evil": with_columns(table, names).assign_attrs(data_set=EVIL, target=EVIL),
        "unfinished": unfinished(line),
        "thin": line.isel(gamma=[5], seed=[0]),
    }


@pytest.fixture(scope="session")
def pages(diagrams: dict[str, xr.Dataset], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    return {
        name: write_report(diagram, folder / f"{name}.html", theory=diagrams["theory"] if name == "pair" else None)
        for name, diagram in diagrams.items()
    }


@pytest.fixture(scope="session")
def explanations() -> dict[str, Explanation]:
    """By the name of their page: a fit, a std that is too small, forecasts alone, evil names, no rows, and others."""
    names = [EVIL, "</script><img src=x onerror=alert(3)>", "a", "b", "a column with a long name " * 4]
    fit = explanation()
    unknown = replace(fit.diagnosis, verdict=None, answer=("Can they be trusted? Not known.",))
    return {
        "fit": fit,
        "narrow": explanation(std_factor=0.3),
        "forecasts": fit._replace(path=None, importance=None, slopes=None, effects=(), far=None),
        "evil fit": explanation(EVIL, names, {name: [name] for name in names}),
        "logarithms": explanation(lognormal=True),
        "categories": fit._replace(effects=[many_categories(), *fit.effects]),
        "no rows": fit._replace(rows=None, calibration=None, missed=(), diagnosis=unknown),
    }


@pytest.fixture(scope="session")
def fit_pages(explanations: dict[str, Explanation], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("fit_pages")
    return {name: write_fit_report(found, folder / f"{name}.html") for name, found in explanations.items()}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One headless Chromium for a module."""
    driver = pytest.importorskip("playwright.sync_api", reason="`pip install playwright` drives the browser")
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(INSTALL)
    with driver.sync_playwright() as player:
        running = player.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def visit(browser: Any, request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """Opens a page by name; afterwards it must have logged nothing, asked for nothing and raised no dialogue."""
    contexts, problems = [], []

    def places() -> dict[str, Path]:  # pages of the kind that the test's module is about
        kind = "fit_pages" if request.module.__name__.endswith("test_fit_page") else "pages"
        found: dict[str, Path] = request.getfixturevalue(kind)
        return found

    def open_page(name: str, width: int = 1200, scheme: str = "light") -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialogue: (problems.append(dialogue.message), dialogue.dismiss()))
        address = places()[name].as_uri()
        page.on("request", lambda request: request.url in (address, "data:,") or problems.append(request.url))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []
