"""The page in a real browser: every way to ask it something, compared with the Dataset that it shows."""

import re

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.colors import to_hex
from scipy.special import logit

from heteroscope.diagrams import diagonal_cells, kinds
from tests.report.made_up import EVIL

NETWORKS, THEORY = 0, 1


def view(page, number=NETWORKS):
    return page.locator(".view").nth(number)


def cell_of(page, cell, number=NETWORKS):
    return view(page, number).locator(f'.cells rect[data-cell="{cell[0]},{cell[1]}"]')


def point_at(page, cell, number=NETWORKS):
    box = cell_of(page, cell, number).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def click(page, cell, number=NETWORKS):
    point_at(page, cell, number)
    page.mouse.down()
    page.mouse.up()


def marked(page, kind="selected", number=NETWORKS):
    text = view(page, number).locator(f".mark.{kind}").get_attribute("data-cell")
    return tuple(int(part) for part in text.split(","))


def choose(page, group, words):
    page.locator(f"#{group}").get_by_text(words, exact=True).click()


def number(text):
    """The first number of a text, exponents raised or not."""
    plain = text.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹\N{MINUS SIGN}\N{MULTIPLICATION SIGN}", "-0123456789-x"))
    found = re.search(r"(-?[\d.]+)(?: ± [\d.]+\))?(?: x 10(-?\d+))?", plain)
    return float(found[1]) * 10.0 ** int(found[2] or 0)


def shown_number(page, which=NETWORKS):
    return number(view(page, which).locator(".tip strong").inner_text())


def table_number(page, row, column, which=NETWORKS):
    line = view(page, which).locator("tbody tr", has=page.get_by_role("rowheader", name=row, exact=True))
    return number(line.locator("td").nth(column).inner_text())


def test_opens_on_the_best_cell_of_the_diagonal(visit, diagrams):
    page = visit("line")
    score = diagrams["line"].nll.sel(split="test").mean("seed").values
    assert page.locator(".cells rect[data-cell]").count() == score.size
    assert marked(page) == min(diagonal_cells(diagrams["line"]), key=lambda cell: score[cell])
    assert page.title() == page.locator("h1").inner_text() == "Phase diagram of made up"


def test_hover_shows_the_numbers_of_the_cell(visit, diagrams):
    page = visit("line")
    page.select_option("#measure", "mean_mse")
    for cell in [(0, 0), (5, 3), (10, 10)]:
        point_at(page, cell)
        assert marked(page, "hover") == cell
        expected = diagrams["line"].mean_mse.sel(split="test").mean("seed").values[cell]
        assert shown_number(page) == pytest.approx(expected, rel=6e-3)
    page.mouse.move(5, 5)
    assert page.locator(".tip").is_hidden()
    assert page.locator(".mark.hover").count() == 0


def test_metric_split_and_seed_switches_change_the_number(visit, diagrams):
    page, cell = visit("line"), (6, 4)
    for metric, split, seeds, expected in [
        ("nll", "Train", "mean", lambda values: values.mean("seed")),
        ("nll", "Test", "std", lambda values: values.std("seed")),
        ("crps", "Test", "1", lambda values: values.isel(seed=1)),
        ("log_precision_spread", "Train", "0", lambda values: values.isel(seed=0)),
    ]:
        page.select_option("#measure", metric)
        choose(page, "split", split)
        page.select_option("#seed", seeds)
        point_at(page, (0, 0))
        point_at(page, cell)
        values = diagrams["line"][metric]
        values = values.sel(split=split.lower()) if "split" in values.dims else values
        assert shown_number(page) == pytest.approx(expected(values).values[cell], rel=6e-3)


def test_colours_rise_with_the_values(visit, diagrams):
    page = visit("line")
    page.select_option("#measure", "std_mse")
    page.select_option("#seed", "0")
    colours = {to_hex(colour): k for k, colour in enumerate(colormaps["cividis"](range(256)))}
    fills = page.locator(".cells rect[data-cell]").evaluate_all("cells => cells.map(cell => cell.getAttribute('fill'))")
    places = np.array([colours[fill] for fill in fills])
    values = diagrams["line"].std_mse.sel(split="test").isel(seed=0).values.ravel()
    assert np.all(np.diff(places[np.argsort(values)]) >= 0)
    assert np.ptp(places) == 255
    ticks = [number(text) for text in page.locator(".colour-bar text").all_text_contents()]
    assert len(ticks) >= 3
    assert min(values) <= min(ticks) < max(ticks) <= max(values)


def test_click_draws_that_model(visit, diagrams):
    page, cell, diagram = visit("line"), (10, 1), diagrams["line"]
    page.select_option("#seed", "1")
    click(page, cell)
    assert "10\N{MINUS SIGN}7" in view(page).locator("h3").inner_text().replace("\n", "")
    order = np.argsort(diagram.x.values[:, 0], kind="stable")
    drawn = view(page).locator(".curve").get_attribute("d")
    heights = np.array([float(point.split(",")[1]) for point in re.split("[ML]", drawn)[1:]])
    expected = diagram["mean"].isel(rho=10, gamma=1, seed=1).values[order]
    assert len(heights) == len(expected)
    assert np.corrcoef(-heights, expected)[0, 1] > 0.9999
    assert view(page).locator(".band").count() == 4  # one and two std, over x and against the residuals
    assert table_number(page, "mean MSE", 1) == pytest.approx(
        float(diagram.mean_mse.isel(rho=10, gamma=1, seed=1).sel(split="test")), rel=6e-3
    )


def test_a_table_shows_calibration_and_residuals(visit, diagrams):
    page, cell, diagram = visit("table"), (4, 3), diagrams["table"]
    click(page, cell)
    assert view(page).locator(".curve").count() == 0
    assert view(page).locator(".rows circle").count() == 80
    choose(page, "split", "Train")
    model = diagram.isel(rho=4, gamma=3, seed=0)
    train = model.row_split.values == "train"
    dots = view(page).locator(".rows circle")
    across, up = (np.array(dots.evaluate_all(f"all => all.map(dot => dot.{c}.baseVal.value)")) for c in ("cx", "cy"))
    assert np.corrcoef(across, model["std"].values[train])[0, 1] > 0.999
    assert np.corrcoef(-up, (model.y - model["mean"]).values[train])[0, 1] > 0.999
    assert view(page).locator("path.split-train[data-split=train]").count() == 2  # calibration and diagonal
    assert page.locator("#seed-field").is_hidden()


def test_arrow_keys_walk_the_diagonal(visit, diagrams):
    page, diagonal = visit("line"), diagonal_cells(diagrams["line"])
    place = diagonal.index(marked(page))
    page.keyboard.press("ArrowRight")  # nothing is in focus yet
    assert marked(page) == diagonal[place + 1]
    view(page).locator(".map .drawing").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    assert marked(page) == diagonal[place - 1]
    assert int(page.locator(".here").get_attribute("data-place")) == place - 1
    page.keyboard.press("Shift+ArrowUp")
    off = (diagonal[place - 1][0], diagonal[place - 1][1] + 1)
    assert marked(page) == off
    page.keyboard.press("ArrowRight")  # back onto the diagonal
    assert marked(page) in diagonal
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    assert marked(page) == diagonal[-1]


def test_everything_can_be_done_by_keyboard(visit, diagrams):
    page = visit("pair")
    visited = []
    for _ in range(20):
        page.keyboard.press("Tab")
        focus = page.evaluate(
            """() => {
              const at = document.activeElement;
              const ring = at.matches('input') ? at.nextElementSibling : at;
              const name = at.id || at.name || at.getAttribute('aria-label') || at.tagName;
              return [name, getComputedStyle(ring).outlineStyle];
            }"""
        )
        if focus[0] == "BODY":
            break
        visited.append(focus)
    names = [name for name, _ in visited]
    for wanted in ("measure", "split", "seed", "boundaries", "walk", "theme", "SUMMARY"):
        assert wanted in names
    assert sum("heat map" in name for name in names) == 2
    assert {style for _, style in visited} == {"solid"}, "focus is always visible"

    page.locator("#measure").focus()
    page.keyboard.press("ArrowDown")
    assert page.locator("#measure").input_value() == "mean_mse"
    page.locator("#walk input:checked").focus()
    page.keyboard.press("ArrowRight")
    page.locator(".map .drawing").nth(0).focus()
    before = marked(page)
    page.keyboard.press("ArrowUp")
    assert marked(page) == (before[0], before[1] + 1)
    value = diagrams["pair"].mean_mse.sel(split="test").mean("seed").values[marked(page)]
    said = page.locator("#live").inner_text()
    assert said.startswith("rho 0.9, gamma ")
    assert number(said.split("mean MSE")[1]) == pytest.approx(value, rel=6e-3)
    assert "phase" in said
    assert page.locator("#live").get_attribute("aria-live") == "polite"


def test_cursors_of_networks_and_theory_are_linked(visit, diagrams):
    page, networks, theory = visit("pair"), diagrams["pair"], diagrams["theory"]

    def nearest(there, here, cell):
        return tuple(
            int(np.argmin(np.abs(logit(here[axis].values) - logit(there[axis].values[place]))))
            for axis, place in zip(("rho", "gamma"), cell, strict=True)
        )

    point_at(page, (2, 9))
    assert marked(page, "hover.linked", THEORY) == nearest(networks, theory, (2, 9))
    click(page, (3, 1), THEORY)
    assert marked(page, "selected.linked", NETWORKS) == nearest(theory, networks, (3, 1))
    page.select_option("#measure", "nll")
    point_at(page, (2, 9))
    linked = nearest(networks, theory, (2, 9))
    assert shown_number(page, THEORY) == pytest.approx(theory.nll.sel(split="test").values[linked][0], rel=6e-3)
    view(page, THEORY).locator(".map .drawing").focus()
    page.keyboard.press("Home")
    assert marked(page, "selected", THEORY) == diagonal_cells(theory)[0]


def test_a_single_solution_has_no_spread_over_seeds(visit):
    page = visit("pair")
    page.select_option("#measure", "nll")
    page.select_option("#seed", "std")
    assert "no std over seeds" in view(page, THEORY).locator(".map svg").first.text_content()


def test_runaways_are_hatched_and_have_no_model(visit, diagrams):
    page, theory = visit("pair"), diagrams["theory"]
    runaway = theory.status.values[..., 0] == "runaway"
    assert runaway.any()
    assert view(page, THEORY).locator("[data-kind=runaway]").count() == runaway.sum()
    click(page, tuple(np.argwhere(runaway)[0]), THEORY)
    assert "no minimum" in view(page, THEORY).locator(".empty-model").inner_text()


def test_boundaries_go_on_and_off(visit, diagrams):
    page = visit("pair")
    shown = kinds(diagrams["theory"]).values[..., 0]
    n_borders = np.sum(shown[1:] != shown[:-1]) + np.sum(shown[:, 1:] != shown[:, :-1])
    assert view(page, THEORY).locator("path.boundary").get_attribute("d").count("M") == n_borders
    assert view(page, THEORY).locator(".boundaries .fold").count() == 1
    choose(page, "boundaries", "Off")
    assert page.locator(".boundaries").count() == 0
    choose(page, "boundaries", "On")
    assert page.locator(".boundaries").count() == 2


def test_phases_have_the_colours_of_the_figures(visit, diagrams):
    from heteroscope.plots.style import PHASE_COLOURS

    page = visit("line")
    page.select_option("#seed", "1")
    shown = kinds(diagrams["line"]).isel(seed=1).values.ravel()
    fills = page.locator(".cells rect[data-cell]").evaluate_all("cells => cells.map(cell => cell.getAttribute('fill'))")
    assert fills == [PHASE_COLOURS[kind] for kind in shown]
    assert len(set(shown)) >= 5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_follow_the_system_until_switched(visit, scheme):
    page = visit("line", scheme=scheme)

    def brightness():
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in re.findall(r"\d+", colour)[:3]) / 765

    assert (brightness() > 0.5) == (scheme == "light")
    other = "Dark" if scheme == "light" else "Light"
    choose(page, "theme", other)
    assert (brightness() > 0.5) == (other == "Light")
    choose(page, "theme", "Auto")
    assert (brightness() > 0.5) == (scheme == "light")


@pytest.mark.parametrize("name", ["line", "pair", "table", "evil", "unfinished"])
def test_fits_the_width_of_a_phone(visit, name):
    page = visit(name, width=360)
    page.locator("summary").click()
    point_at(page, (3, 3))
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.set_viewport_size({"width": 1000, "height": 800})
    for _ in range(100):  # `wait_for_function` needs eval, which the page's security policy forbids
        if page.evaluate("document.querySelector('.map svg').viewBox.baseVal.width") > 360:
            return
        page.wait_for_timeout(50)
    pytest.fail("the page was not drawn again at its new width")


def test_names_from_the_data_are_only_text(visit):
    page = visit("evil")
    assert EVIL in page.locator("h1").inner_text()
    assert EVIL in page.title()
    page.locator("summary").click()
    columns = page.locator("dd.columns").inner_text()
    assert columns.startswith(f"{EVIL}, </script><img src=x onerror=alert(2)>, a column")
    assert columns.count("a column with") == 198
    assert page.locator("script").count() == 2
    assert page.locator("img").count() == 0


def test_an_unfinished_sweep_says_so(visit):
    page = visit("unfinished")
    page.select_option("#measure", "nll")
    assert "132 of 242 models are trained" in page.locator("#unfinished").inner_text()
    assert page.locator("[data-kind=absent]").count() == 55
    assert page.locator("[data-kind=broken]").count() == 1
    click(page, (8, 3))
    assert "not been trained yet" in page.locator(".empty-model").inner_text()


def test_a_line_of_cells_is_a_diagram_too(visit):
    page = visit("thin")
    assert page.locator("#walk").is_hidden()
    click(page, (4, 0))
    page.keyboard.press("ArrowRight")
    assert marked(page) == (5, 0)
    page.keyboard.press("ArrowUp")
    assert marked(page) == (5, 0)


def test_axes_have_the_papers_ticks(visit):
    page = visit("line")
    ticks = page.locator(".map svg text.tick")
    texts = set(ticks.all_text_contents())
    assert {"1/2", "10⁻⁴", "10⁻¹⁰"} <= texts
    barred = page.locator(".map svg text.bar")
    assert barred.count() > 0
    assert "overline" in barred.first.evaluate("tick => getComputedStyle(tick).textDecorationLine")
