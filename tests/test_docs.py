"""Check the documentation: every Python block runs, every link and anchor exists, every public name is explained.

Tables of accuracy agree with the scores of the single fits in `benchmarks/records`.
"""

import re
from pathlib import Path

import make_accuracy  # of docs/, see pyproject.toml
import make_methods
import make_printed
import matplotlib.pyplot as plt
import pandas as pd
import pytest

import heteroscope
from heteroscope.baselines import BASELINES
from heteroscope.baselines import METHODS as ALL_METHODS
from heteroscope.comparison import summary
from heteroscope.core import defaults

ROOT = Path(__file__).parents[1]
RECORDS = sorted((ROOT / "benchmarks" / "records").glob("*.csv"))
METHODS = make_accuracy.TITLES
# Tables of numbers outside of blocks that scripts fill: headings, and why they may stand there.
BY_HAND = {
    "## How good is it?": "compared with the records of single fits below",
    "## Accuracy": "compared with the records of single fits below",
    "# Results: the paper, figure by figure": "settings, not results",
    "## Where the files come from": "sizes of files",
    "## What it does to the phases": "half an hour of sampling, by docs/make_images.py bayesian-maps",
    "## Networks and theory": "from the observations on the page of results",
}
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def scripts():
    """Yield the Python blocks of each page as one script, since a reader goes from top to bottom."""
    for page in PAGES:
        if found := re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL):
            yield pytest.param("\n".join(found), id=page.name)


@pytest.mark.parametrize("script", list(scripts()))
def test_python_blocks_run(script, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(defaults, "FEWEST_STEPS", 200)  # where a block leaves the steps to us
    try:
        exec(compile(script, "blocks", "exec"), {"__name__": "__main__"})
    finally:
        plt.close("all")
    shown = capsys.readouterr().out
    assert shown.count("\n") >= script.count("print("), "every print is reached, that of an expected error too"


def heading_anchors(page):
    """Return the anchors that GitHub gives to a page's headings."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_and_images_exist(page):
    for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", page.read_text()):
        if not target.startswith(("http://", "https://")):
            linked = page.parent / target if target else page
            assert linked.exists(), f"{page.name} points to {target}, which does not exist"
            assert not anchor or anchor in heading_anchors(linked), f"{linked.name} has no heading #{anchor}"


def test_every_public_name_is_in_the_documentation():
    text = "\n".join(page.read_text() for page in PAGES)
    missing = [name for name in heteroscope.__all__ if name not in text and not name.startswith("__")]
    assert missing == []


def cells(page, name):
    """Return the rows of a page's tables that begin with the name of a set, as lists of texts."""
    start = f"| {name.replace('_', ' ')}"
    lines = [line for line in (ROOT / page).read_text().splitlines() if line.lower().startswith(start)]
    return [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_table_of_benchmarks_is_that_of_the_records(path):
    table = summary(pd.read_csv(path))
    rows = [row for row in cells("BENCHMARKS.md", path.stem) if row[1].removesuffix(", ours too") in METHODS]
    assert len(rows) == len(table.index.intersection(METHODS.values()))
    for _, title, fits, nll, difference, crps, rmse, coverage in rows:
        scores = table.loc[METHODS[title.removesuffix(", ours too")]]
        assert int(fits) == scores["fits"]
        assert nll == f"{scores['nll']:.2f} ± {scores['nll_sd']:.2f}"
        assert difference == ("" if title == "ours" else f"{scores['nll_difference']:+.2f} ± {scores['nll_se']:.2f}")
        assert (crps, rmse) == (f"{scores['crps']:.3g}", f"{scores['rmse']:.3g}")
        assert coverage == f"{scores['interval_coverage']:.0%}".replace("%", " %")


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_table_of_the_readme_is_that_of_the_records(path):
    table = summary(pd.read_csv(path))
    ((_, _, fits, *scores, coverage),) = cells("README.md", path.stem)
    assert int(fits) == table.loc["ours", "fits"]
    for name, score in zip(("ours", "mle-ensemble", "gp", "ngboost", "catboost"), scores, strict=True):
        assert score == (f"{table.loc[name, 'nll']:.2f}" if name in table.index else "")
    assert coverage == f"{table.loc['ours', 'interval_coverage']:.0%}".replace("%", " %")


@pytest.mark.parametrize("name", ["yacht", "housing", "concrete", "power"])
def test_table_of_methods_is_that_of_the_records(name):
    table = summary(pd.read_csv(ROOT / "benchmarks" / "records" / f"{name}.csv"))
    rows = cells("docs/baselines.md", name)
    assert {row[1] for row in rows} == set(table.index) - {"gp", "ngboost", "catboost"}
    for _, method, fits, nll, difference, *_ in rows:
        scores = table.loc[method]
        assert int(fits) == scores["fits"]
        assert nll == f"{scores['nll']:.3g} ± {scores['nll_sd']:.2g}"
        assert difference == ("" if method == "ours" else f"{scores['nll_difference']:+.2f} ± {scores['nll_se']:.2f}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_printed_tables_are_those_on_record(page):
    text = page.read_text()
    assert make_printed.with_tables(text) == text, "run `python docs/make_printed.py`"


def numeric_tables(text):
    """Yield heading, enclosing block or None, and first line of each table with six numbers or more."""
    heading, block, table = "", None, []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            table.append(line)
            continue
        cells = [cell for row in table[2:] for cell in row.strip("|").split("|")]
        if sum(bool(re.match(r"\s*\**[-+]?\d", cell)) for cell in cells) >= 6:
            yield heading, block, table[0]
        table = []
        if line.startswith("#"):
            heading = line
        elif found := re.match(r"<!-- (begin|end) (.+?) -->", line):
            block = found[2] if found[1] == "begin" else None


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name != "research"], ids=lambda page: page.name)
def test_every_table_of_numbers_is_made_by_a_script(page):
    by_hand = [
        (heading, first)
        for heading, block, first in numeric_tables(page.read_text())
        if block is None and heading not in BY_HAND
    ]
    assert by_hand == []


def test_table_of_rivals_is_that_of_the_methods():
    page = (ROOT / "docs" / "compare.md").read_text()
    table = page.split("<!-- begin rivals -->")[1].split("<!-- end rivals -->")[0]
    assert table.strip() == make_methods.rivals()
    assert {"ours", *BASELINES, *make_methods.RIVALS} == set(ALL_METHODS)
