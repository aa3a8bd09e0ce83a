"""`heteroscope map` as a user meets it: results, resumption, and one line for every mistake."""

import numpy as np
import pandas as pd
import pytest

from heteroscope import open_diagram
from tests.cli.commands import refused, run

SMALL = ("--rhos", "0.5,0.99", "--gammas", "0.01,0.9", "--hidden", "8,8", "--steps", "300", "--jobs", "1")
PNG = b"\x89PNG"


@pytest.fixture
def table(tmp_path):
    random = np.random.default_rng(0)
    x = random.normal(size=60)
    evil = {"<script>alert(1)</script>": x, "town": np.where(x > 0, "a", "b"), "price": 3 * x + random.normal(size=60)}
    path = tmp_path / "houses.csv"
    pd.DataFrame(evil).to_csv(path, index=False)
    return path


def test_a_named_set_gives_the_diagram_its_figures_and_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr("heteroscope.cli.map.THEORY_POINTS", 32)
    out, page = tmp_path / "out", tmp_path / "page.html"
    result = run("map", "sine", *SMALL, "--out", out, "--report", page)
    assert result.exit_code == 0, result.output
    assert "4 cells" in result.output
    assert open_diagram(out).attrs["data_set"] == "sine"
    for name in ("phases.png", "scores.png"):
        assert (out / name).read_bytes().startswith(PNG)
    assert page.read_text().startswith("<!doctype html>")
    before = (out / "diagram.zarr" / "done" / "0.0").stat().st_mtime_ns
    assert run("map", "sine", *SMALL, "--out", out).exit_code == 0  # all is there: nothing is trained again
    assert (out / "diagram.zarr" / "done" / "0.0").stat().st_mtime_ns == before
    apart = run("map", "sine", *SMALL, "--apart", "--out", out)
    assert apart.exit_code == 1
    assert "--exchange was 1 and is now 0" in apart.output
    other = run("map", "sine", *SMALL, "--steps", "400", "--out", out)
    assert other.exit_code == 1
    assert "--steps was 300 and is now 400" in other.output


def test_a_table_is_split_encoded_and_escaped(table, tmp_path):
    page = tmp_path / "page.html"
    result = run("map", table, "--target", "price", *SMALL, "--out", tmp_path / "out", "--report", page)
    assert result.exit_code == 0, result.output
    diagram = open_diagram(tmp_path / "out")
    assert list(diagram.row_split.values).count("train") == 40
    assert diagram.attrs["target"] == "price"
    assert "<script>alert" not in page.read_text()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["nosuchset"], "no data set is called 'nosuchset'"),
        (["sine", "--target", "y"], "--target names a column of a table"),
        (["nosuch.csv", "--target", "y"], "nosuch.csv"),
        (["sine", "--rhos", "0.5,1"], "rho = 1"),
        (["sine", "--rhos", "a,b"], "is no list of numbers"),
        (["sine", "--start", "xavier"], '--start must be "he"'),
        (["sine", "--scheduler", "tcp://127.0.0.1:1"], "needs --backend dask or --backend ray"),
        (["sine", "--out", "/proc/nowhere"], "cannot be written to"),
    ],
)
def test_mistakes_are_one_line(words, complaint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    grid = [] if "--rhos" in words else ["--rhos", "0.5"]
    assert complaint in refused("map", *words, *grid, "--gammas", "0.5", "--steps", "20")
