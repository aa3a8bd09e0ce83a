"""Making exhibits: what is written, what is kept, and `heteroscope reproduce` as a user meets it."""

import json
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from click.testing import CliRunner

from heteroscope import __version__, open_diagram, paper
from heteroscope.cli import main
from heteroscope.core.errors import StoreWarning
from heteroscope.diagrams.dataset import diagonal_cells
from heteroscope.paper import EXHIBITS, Exhibit, Output, Scale, Workspace, run_exhibit
from heteroscope.paper import part_records as records
from heteroscope.paper.diagram_parts import DIAGONAL, Line, Networks, OneSeed
from heteroscope.paper.parts import part_name
from heteroscope.paper.scales import SMALL
from heteroscope.plots import diagonal_slices

PNG = b"\x89PNG"
# The networks of tests/cli/test_map.py, whose programs are compiled once for all tests.
TINY = SMALL._replace(
    name="tiny",
    grid=(0.01, 0.5, 0.99),
    field_grid=(0.01, 0.5, 0.99),
    points=48,
    hidden=(8, 8),
    max_steps=300,
    line_steps=300,
    n_seeds=1,
)


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def workspace(folder, scale: Scale = TINY):
    return Workspace(folder, scale, 1, lambda what: nullcontext())


def test_networks_and_theory_end_in_a_figure_beside_its_record(tmp_path):
    record = run_exhibit("boundary", EXHIBITS["boundary"], workspace(tmp_path))
    folder = tmp_path / "tiny"
    assert (folder / "boundary.png").read_bytes().startswith(PNG)
    assert json.loads((folder / "boundary.json").read_text()) == json.loads(json.dumps(record))
    assert record["heteroscope"] == __version__
    assert record["command"] == "heteroscope reproduce boundary --scale tiny"
    assert record["settings"]["Networks"]["hidden"] == [8, 8]
    assert record["seconds"] > 0
    (sine,) = record["parts"]["Networks"]
    store = folder / sine / "diagram.zarr"
    assert xr.open_zarr(store, consolidated=False).sizes["rho"] == 3
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if "parts" in path.parts and path.is_file()}
    again = run_exhibit("boundary", EXHIBITS["boundary"], workspace(tmp_path))
    assert again["seconds"] == record["seconds"], "nothing was computed, so no time is added"
    written = [path for path, time in before.items() if path.stat().st_mtime_ns != time and path.name != ".lock"]
    assert not written


def test_the_diagonal_alone_is_that_of_the_whole_diagram(tmp_path):
    rhos = TINY.grid
    whole = Networks("sine", rhos, rhos, 1, TINY.hidden, TINY.max_steps, exchange=False)
    whole = whole.make(tmp_path / "whole", 1, None)
    told = []
    line = Line("sine", DIAGONAL, rhos, 1, TINY.hidden, TINY.max_steps).make(
        tmp_path / "line", 1, lambda *n: told.append(n)
    )
    assert told == [(1, 3), (2, 3), (3, 3)]
    cells = diagonal_cells(line)
    assert cells == diagonal_cells(whole) == [(0, 2), (1, 1), (2, 0)]
    for cell in cells:
        for name in ("mean_mse", "nll", "steps"):
            np.testing.assert_allclose(line[name].values[cell], whole[name].values[cell], rtol=1e-5)
        assert line["status"].values[cell] == whole["status"].values[cell]
        assert line["phase"].values[cell] == whole["phase"].values[cell]
    assert (line["status"].values == "").sum() == 6, "all other cells are empty"
    assert line["nll"].notnull().sum() == 3 * 2, "three cells, two splits"
    assert diagonal_slices(line) is not None


def test_a_part_that_is_on_record_is_not_computed_again(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "WORTH_KEEPING_SECONDS", 0.0)
    first_place, second_place = (
        workspace(tmp_path / name)._replace(records=tmp_path / "kept") for name in ("first", "again")
    )
    first = run_exhibit("boundary", EXHIBITS["boundary"], first_place)
    (part,) = EXHIBITS["boundary"].parts(TINY)["Networks"].pieces()
    kept = records.load_part(tmp_path / "kept", part_name(part))
    made = open_diagram(tmp_path / "first" / "tiny" / first["parts"]["Networks"][0])
    assert [path.stem for path in (tmp_path / "kept").glob("*.json")] == [part_name(part)], "and not the field theory"
    assert set(kept.result.dims) == {"rho", "gamma", "seed", "split"}, "no rows, which only single fits need"
    for name, variable in kept.result.data_vars.items():
        if variable.dtype.kind == "U":
            assert (variable == made[name]).all(), name
        else:
            np.testing.assert_allclose(variable, made[name], rtol=1e-6, err_msg=name)
    assert kept.result.attrs["exchange"] == made.attrs["exchange"] == 1

    monkeypatch.setattr(OneSeed, "make", None)
    again = run_exhibit("boundary", EXHIBITS["boundary"], second_place)
    assert again["verdict"] == first["verdict"]
    assert again["seconds"] > kept.seconds - 0.1, "the time that it took when it was computed counts"


def test_more_seeds_are_added_to_those_on_record(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "WORTH_KEEPING_SECONDS", 0.0)
    shown, titles, kept = [], [], tmp_path / "kept"
    exhibit = Exhibit(
        "Figure 0",
        "seeds",
        lambda scale: {"sine": Networks("sine", TINY.grid, TINY.grid, scale.n_seeds, TINY.hidden, 100)},
        lambda found: shown.append(found["sine"]) or Output(),
    )
    here, there = (
        Workspace(tmp_path / place, TINY.with_seeds(seeds), 1, lambda what: titles.append(what) or nullcontext(), kept)
        for place, seeds in (("here", 1), ("there", 2))
    )
    first, second = (run_exhibit("seeds", exhibit, place) for place in (here, there))
    assert titles == ["networks, seed 0 of sine", "networks, seed 1 of sine"]
    assert {path.stem for path in kept.glob("*.json")} == {Path(name).name for name in second["parts"]["sine"]}
    assert first["command"] == "heteroscope reproduce seeds --scale tiny --seeds 1"
    assert second["seconds"] > first["seconds"]

    at_once = exhibit.parts(TINY.with_seeds(2))["sine"].make(tmp_path / "at-once", 1, None)
    assert shown[1]["seed"].values.tolist() == [0, 1]
    assert (shown[1]["phase"] == at_once["phase"]).all()
    np.testing.assert_allclose(shown[1]["objective"], at_once["objective"], rtol=1e-6)
    assert shown[1].attrs["max_steps"] == 100


def test_tables_and_lines_are_kept_too_and_what_was_quick_is_not(tmp_path):
    table = pd.DataFrame({"method": ["paper", "held-out"], "split": [0, 1], "nll": [0.1, np.inf]})
    records.save_part(tmp_path, "table", table, {"seconds": 40.0})
    found, seconds = records.load_part(tmp_path, "table")
    pd.testing.assert_frame_equal(found, table)
    assert seconds == 40.0
    line = Line("sine", DIAGONAL, (0.5, 0.9), 1, TINY.hidden, 20).make(tmp_path / "line", 1, None)
    records.save_part(tmp_path, "line", line, {"seconds": 40.0})
    again = records.load_part(tmp_path, "line").result
    assert (again["phase"] == line["phase"]).all()
    assert (again["phase"].values == "").sum() == 2, "cells beside the line"
    np.testing.assert_allclose(again["nll"], line["nll"], rtol=1e-6)
    records.save_part(tmp_path, "quick", table, {"seconds": 1.0})
    assert records.load_part(tmp_path, "quick") is None


@pytest.mark.parametrize("damage", [lambda data: data[: len(data) // 2], lambda data: b"", lambda data: b"x" + data])
def test_a_damaged_record_is_named_and_computed_again(tmp_path, damage):
    records.save_part(tmp_path, "part", xr.Dataset({"nll": ("rho", np.arange(9.0))}), {"seconds": 40.0})
    path = tmp_path / "part.nc.gz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.warns(StoreWarning, match=r"part.json is damaged .*: the part is computed again"):
        assert records.load_part(tmp_path, "part") is None


class Broken(dict):
    """A part that is stopped the first time."""

    data, kind = "sine", "theory"
    _asdict = dict
    attempts = 0

    def make(self, folder, n_jobs, progress):
        folder.mkdir(parents=True, exist_ok=True)
        type(self).attempts += 1
        if self.attempts == 1:
            raise KeyboardInterrupt
        return pd.DataFrame({"answer": [7]})


def test_time_before_an_interruption_counts(tmp_path):
    shown = []
    exhibit = Exhibit(
        "Figure 0", "a stopped one", lambda scale: {"part": Broken()}, lambda found: shown.append(found) or Output()
    )
    with pytest.raises(KeyboardInterrupt):
        run_exhibit("stopped", exhibit, workspace(tmp_path))
    (clock,) = (tmp_path / "tiny" / "parts").glob("*.json")
    first = json.loads(clock.read_text())
    assert first["finished"] is False
    assert not (tmp_path / "tiny" / "stopped.json").exists(), "the record is written last"
    run_exhibit("stopped", exhibit, workspace(tmp_path))
    second = json.loads(clock.read_text())
    assert second["finished"] is True
    assert second["seconds"] > first["seconds"]
    assert shown[0]["part"]["answer"].tolist() == [7]
    assert len(shown) == 1


def test_the_command_makes_what_is_named(tmp_path):
    result = run("reproduce", "data", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "small" / "data.png").read_bytes().startswith(PNG)
    assert "data: data.json, data.png" in result.stdout
    listed = run("reproduce", "list", "--out", tmp_path)
    assert listed.exit_code == 0, listed.output
    assert all(name in listed.stdout for name in EXHIBITS)


@pytest.fixture
def seen(monkeypatch):
    """The names of the exhibits that would be run."""
    names = []

    def quick(name, exhibit, workspace):
        names.append(name)
        return {"seconds": 0.0, "verdict": "It holds."}

    monkeypatch.setattr(paper, "run_exhibit", quick)
    return names


def test_all_runs_every_exhibit(tmp_path, seen):
    result = run("reproduce", "all", "--scale", "full", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert seen == list(EXHIBITS)
    assert "It holds." in result.stdout


def test_with_one_seed_all_but_the_spread_over_seeds_is_run(tmp_path, seen):
    result = run("reproduce", "all", "--seeds", "1", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert seen == [name for name in EXHIBITS if name not in ("summary-spread", "regret")]
    assert "summary-spread: left out because it needs --seeds 2 or more" in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["sumary"], "did you mean 'summary'?"),
        (["data", "list"], "'list'"),
        (["data", "summary-spread", "--seeds", "1"], "summary-spread needs --seeds 2 or more, got 1"),
    ],
)
def test_mistakes_are_one_line(words, message, tmp_path):
    result = run("reproduce", *words, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_folder_without_climsims_files_is_refused_before_anything_is_computed(tmp_path):
    result = run("reproduce", "small-table", "--climsim", tmp_path, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "train_input.npy is missing: download it" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()
