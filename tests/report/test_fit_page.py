"""The page of a fit in a real browser: what it shows is what was computed, at every width and in both themes."""

import json
import re
from base64 import b64encode
from hashlib import sha256

import numpy as np
import pytest

from heteroscope import diagnose
from heteroscope.core.errors import InputError
from heteroscope.report import write_fit_report
from tests.report.made_up import EVIL
from tests.report.test_browser import choose, number

SECTIONS = ["verdict", "calibration", "residuals", "intervals", "drivers", "effects", "path", "odd", "card"]
# Pairs of texts of one drawing that overlap, and texts that leave the page.
CROWDED = """() => [...document.querySelectorAll('main svg')].flatMap((drawing) => {
  const texts = [...drawing.querySelectorAll('text')].filter((text) => text.textContent);
  const boxes = texts.map((text) => text.getBoundingClientRect());
  const words = (k) => texts[k].textContent;
  const shared = (a, b, low, high) => Math.min(a[high], b[high]) - Math.max(a[low], b[low]);
  const found = [];
  boxes.forEach((a, k) => {
    if (a.left < -1 || a.right > innerWidth + 1) found.push(words(k));
    boxes.slice(0, k).forEach((b, m) => {
      const met = shared(a, b, 'left', 'right') > 1 && shared(a, b, 'top', 'bottom') > 3;
      if (met) found.push(`${words(k)} | ${words(m)}`);
    });
  });
  return found;
})"""


def heights(page, selector):
    """The points of a drawn line, as pixels from left and from the top."""
    path = page.locator(selector).first.get_attribute("d")
    return np.array([[float(part) for part in point.split(",")] for point in re.split("[ML]", path)[1:]])


def bars(page, driven):
    """The inputs and numbers of the bars, from the top."""
    place = page.locator(f'[data-driven="{driven}"]')
    return place.locator(".name").all_text_contents(), [
        number(text) for text in place.locator(".value").all_text_contents()
    ]


def test_the_verdict_comes_first_and_every_section_is_there(visit, explanations):
    page = visit("fit")
    assert page.title() == page.locator("h1").inner_text() == "Forecasts of price [EUR]"
    assert page.locator("main > section").evaluate_all("all => all.map(one => one.id)") == SECTIONS
    assert page.locator("#contents a").count() == len(SECTIONS)
    assert page.locator(".answer").inner_text().split("\n")[-1].endswith("Yes.")
    cells = page.locator("#verdict tbody tr").first.locator("td").all_inner_texts()
    assert cells == explanations["fit"].diagnosis.score_cells[1][1:]
    assert page.locator("#verdict .badge").inner_text().replace("\n", "") == "S"


def test_calibration_is_drawn_as_computed_for_the_chosen_rows(visit, explanations):
    page, table = visit("narrow"), explanations["narrow"].calibration
    assert page.locator(".answer").inner_text().endswith("No.")
    for part, words in enumerate(["All rows", "Smallest std", "Largest std"]):
        choose(page, "part", words)
        drawn = heights(page, "#calibration .main-curve")
        at = table.isel(part=[0, 1, 4][part])
        shares = (drawn[0, 1] - drawn[:, 1]) / (drawn[0, 1] - drawn[-1, 1])
        np.testing.assert_allclose(shares[1:-1], at["observed"].values, atol=1e-3)
        tall = np.array([float(bar.get_attribute("height")) for bar in page.locator("#calibration .bars rect").all()])
        np.testing.assert_allclose(tall / tall.sum(), at["density"].values / 10, atol=1e-3)
    rows = page.locator("#calibration tbody tr")
    assert rows.count() == 5
    assert f"{100 * float(table['coverage'][4]):.0f} %" in rows.nth(4).inner_text()


def test_every_row_is_a_dot_and_says_which_it_is(visit, explanations):
    page, rows = visit("fit"), explanations["fit"].rows
    for panel in (0, 1):
        dots = page.locator("#residuals .dots").nth(panel).locator("circle")
        assert dots.count() == rows.sizes["row"]
    residual = (rows["y"] - rows["mean"]).values
    tops = (
        page.locator("#residuals .dots")
        .first.locator("circle")
        .evaluate_all("all => all.map(dot => +dot.getAttribute('cy'))")
    )
    assert np.corrcoef(tops, residual)[0, 1] < -0.9999
    title = page.locator("#residuals .dots circle title").nth(3).text_content()
    assert title.startswith(f"row {int(rows['number'][3])}: ")
    assert page.locator("#intervals .interval").count() == 48
    inside = ((rows["lower"] <= rows["y"]) & (rows["y"] <= rows["upper"])).values
    some = np.unique(np.linspace(0, rows.sizes["row"] - 1, 48).round().astype(int))
    assert page.locator("#intervals .missed").count() == np.sum(~inside[some])


def test_drivers_are_ordered_and_their_measure_can_be_chosen(visit, explanations):
    page, found = visit("fit"), explanations["fit"]
    lost = found.importance.mean("repeat")
    for words, values in [
        ("Shuffling: CRPS", {name: lost["crps"].sel(driven=name) for name in ("mean", "std")}),
        ("Shuffling: NLL", {name: lost["nll"].sel(driven=name) for name in ("mean", "std")}),
        ("Slope", {"mean": found.slopes["mean"].mean("member"), "std": found.slopes["log_std"].mean("member")}),
    ]:
        choose(page, "measure", words)
        for driven, first in (("mean", "width"), ("std", "noisiness")):
            names, shown = bars(page, driven)
            assert names[0] == first
            expected = values[driven].sel(input=names).values
            np.testing.assert_allclose(shown, expected, rtol=0.06, atol=1e-9)
            assert np.all(np.diff(expected) <= 1e-12)
    assert "↗" in page.locator('[data-driven="std"] .value').first.inner_text()


def test_effects_of_numbers_are_lines_and_of_categories_dots(visit, explanations):
    page, effects = visit("fit"), explanations["fit"].effects
    assert page.locator("#effects h3").all_inner_texts() == [curve.input for curve in effects]
    first = page.locator("#effects .effect").first.locator(".main-curve").first
    assert first.get_attribute("d").count("L") == len(effects[0].mean) - 1
    colour = page.locator("#effects .effect", has=page.get_by_role("heading", name="colour"))
    assert colour.locator(".accent-dot").count() == 4
    assert {"red", "green"} <= set(colour.locator("text").all_text_contents())


def test_of_many_categories_those_with_the_highest_and_lowest_mean_are_lines_with_names(visit):
    page = visit("categories")
    drawings = page.locator("#effects .effect").first.locator("svg")
    for drawing in drawings.all():
        assert drawing.locator(".accent-dot").count() == 24
        dots = drawing.locator(".accent-dot title").all_text_contents()
        assert [dots[k].split(":")[0][-2:].strip() for k in (0, 11, 12, 23)] == ["29", "18", "11", "0"]
    places = drawings.first.locator(".accent-dot").evaluate_all("all => all.map(dot => +dot.getAttribute('cx'))")
    assert np.all(np.diff(places) < 0)


def test_forecasts_of_a_logarithm_are_drawn_as_such(visit, explanations):
    page, rows = visit("logarithms"), explanations["logarithms"].rows
    residual = np.log(rows["y"].values) - rows["log_mean"].values
    for panel, across in enumerate((np.log(rows["mean"].values), rows["log_std"].values)):
        dots = page.locator("#residuals .dots").nth(panel).locator("circle")
        for axis, values in (("cx", across), ("cy", -residual)):
            drawn = dots.evaluate_all(f"all => all.map(dot => +dot.getAttribute('{axis}'))")
            assert np.corrcoef(drawn, values)[0, 1] > 0.9999
    assert "residual of log price [EUR]" in page.locator("#residuals text").all_text_contents()


def test_the_search_shows_its_points_in_the_colour_of_their_phase(visit, explanations):
    page, path = visit("fit"), explanations["fit"].path
    points = page.locator("#path .point")
    assert points.count() == path.sizes["point"]
    data = json.loads(page.locator("#data").text_content())
    for point in points.all():
        k = int(point.get_attribute("data-point"))
        assert point.get_attribute("fill") == data["phases"][str(path["phase"].values[k])]["colour"]
    assert page.locator("#path .drawing .chosen-ring").count() == 1
    page.locator("#path summary").click()
    assert page.locator("#path tbody tr").count() == path.sizes["point"]
    assert page.locator("#path tbody tr", has_text="→").count() == 1


def test_rows_that_are_missed_are_listed(visit, explanations):
    page, missed = visit("narrow"), explanations["narrow"].missed
    first = page.locator("#odd tbody tr").first
    assert first.locator("th").inner_text() == str(missed[0].number)
    assert number(first.locator("td").nth(3).inner_text()) == pytest.approx(missed[0].score, rel=6e-3)
    assert "None: no held-out row" in visit("fit").locator("#odd").inner_text()


def test_what_is_not_known_is_not_shown(visit):
    shown = visit("forecasts").locator("main > section").evaluate_all("all => all.map(one => one.id)")
    assert shown == ["verdict", "calibration", "residuals", "intervals", "odd", "card"]
    page = visit("no rows")
    shown = page.locator("main > section").evaluate_all("all => all.map(one => one.id)")
    assert shown == ["verdict", "drivers", "effects", "path", "odd", "card"]
    assert "no held-out rows" in page.locator("#subtitle").inner_text()


@pytest.mark.parametrize("name", ["fit", "narrow", "evil fit"])
@pytest.mark.parametrize("width", [360, 768, 1400])
def test_nothing_overlaps_or_leaves_the_page(visit, name, width):
    page = visit(name, width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CROWDED) == []


def test_a_narrower_window_draws_again(visit):
    page = visit("fit", 1200)
    before = page.locator("#path svg").first.get_attribute("viewBox")
    page.set_viewport_size({"width": 500, "height": 900})
    page.wait_for_function(
        "before => document.querySelector('#path svg').getAttribute('viewBox') !== before", arg=before
    )


def test_both_themes(visit):
    def paper(page):
        return [
            int(part) for part in re.findall(r"\d+", page.evaluate("getComputedStyle(document.body).backgroundColor"))
        ]

    page = visit("fit", scheme="dark")
    assert max(paper(page)) < 60
    choose(page, "theme", "Light")
    assert min(paper(page)) > 200


def test_names_are_shown_and_never_run(visit, fit_pages):
    page = visit("evil fit")
    assert EVIL in page.locator("h1").inner_text()
    assert EVIL in page.locator("#drivers").inner_text()
    text = fit_pages["evil fit"].read_text(encoding="utf-8")
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)[1]
    assert f"script-src 'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" in text
    assert text.count("</script>") == 2
    assert set(re.findall(r"https?://[^\s\"'<]*", text)) == {"http://www.w3.org/2000/svg"}


def test_large_data_make_a_small_page(tmp_path):
    random = np.random.default_rng(0)
    y = random.normal(size=50_000)
    path = diagnose(y, np.zeros(50_000), np.exp(0.1 * random.normal(size=50_000))).report(
        tmp_path / "big.html", title="big"
    )
    assert path.stat().st_size < 250_000
    assert "<h1>big</h1>" in path.read_text(encoding="utf-8")


def test_a_folder_is_no_place_for_a_page(explanations, tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        write_fit_report(explanations["fit"], tmp_path)
