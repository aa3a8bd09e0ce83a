"""docs/results.md shows what the exhibits of this version make: images and records are theirs, and none is missing."""

import hashlib
import json
import re
import runpy
from pathlib import Path

import pytest

from heteroscope.core.identity import identity_key
from heteroscope.paper import EXHIBITS, SCALES, exhibit_settings

DOCS = Path(__file__).parents[2] / "docs"
RESULTS = DOCS / "images" / "results"
PAGE = (DOCS / "results.md").read_text(encoding="utf-8")
SCRIPT = runpy.run_path(str(DOCS / "make_results.py"))


RECORDS = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in RESULTS.glob("*.json")}


def block_of(name):
    (block,) = re.findall(rf"<!-- begin {name} -->(.*?)<!-- end {name} -->", PAGE, flags=re.DOTALL)
    return block


@pytest.mark.parametrize("name", RECORDS)
def test_a_result_has_the_settings_of_its_exhibit(name):
    record = RECORDS[name]
    scale = SCALES[record["scale"]].with_seeds(record["seeds"])
    assert record["settings_hash"] == identity_key(exhibit_settings(EXHIBITS[name], scale))
    assert record["recipe"] == name


@pytest.mark.parametrize("name", RECORDS)
def test_an_image_is_the_one_that_was_recorded(name):
    image, record = RESULTS / f"{name}.png", RECORDS[name]
    assert image.is_file() == ("image_sha256" in record)
    if image.is_file():
        assert hashlib.sha256(image.read_bytes()).hexdigest() == record["image_sha256"]


@pytest.mark.parametrize("name", EXHIBITS)
def test_the_page_says_how_each_result_was_made_or_that_it_was_not(name):
    block = block_of(name)
    if name not in RECORDS:
        assert block.strip() == SCRIPT["missing"](name)
        return
    record = RECORDS[name]
    assert SCRIPT["caption"](record) in block
    assert record["verdict"] in block
    assert ("image_sha256" in record) == (f"images/results/{name}.png" in block)


def test_nothing_is_left_of_results_that_are_gone():
    assert {path.stem for path in RESULTS.iterdir()} == set(RECORDS)
    assert set(RECORDS) <= set(EXHIBITS)
    assert set(re.findall(r"<!-- begin (\S+) -->", PAGE)) == set(EXHIBITS)


def test_filling_a_block_leaves_the_rest_alone():
    page = "a <!-- begin one -->old<!-- end one --> b <!-- begin two -->kept<!-- end two -->"
    filled = SCRIPT["filled"](page, "one", "new")
    assert filled == "a <!-- begin one -->\n\nnew\n\n<!-- end one --> b <!-- begin two -->kept<!-- end two -->"
