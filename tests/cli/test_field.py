"""`heteroscope field`: the diagram and its figure."""

import sys

import xarray as xr

from tests.cli.commands import TINY_THEORY, csv, refused, run, table

FEW = ["--rhos", "0.1,0.9", "--gammas", "0.1,0.5"]


def test_it_writes_the_diagram_and_its_figure(tmp_path):
    result = run("field", "curve", "--points", TINY_THEORY, "--out", tmp_path / "field")
    assert result.exit_code == 0, result.stderr
    with xr.open_dataset(tmp_path / "field" / "field.nc", engine="scipy") as diagram:
        assert dict(diagram.sizes)["rho"] == 19
        assert diagram.attrs["data_set"] == "curve"
    assert (tmp_path / "field" / "field.png").read_bytes().startswith(b"\x89PNG")
    assert "361 cells" in result.stdout


def test_an_unknown_set_is_refused(tmp_path):
    assert "sine" in refused("field", "sin", "--out", tmp_path / "field")


def test_bayes_adds_the_posterior_and_its_figures(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["heteroscope.cli.field"], "_PENALTIES", 2)  # the package has a command of that name
    result = run("field", "curve", "--points", TINY_THEORY, "--bayes", "--out", tmp_path / "field", *FEW)
    assert result.exit_code == 0, result.stderr
    with xr.open_dataset(tmp_path / "field" / "posterior.nc", engine="scipy") as diagram:
        assert diagram.attrs["data_set"] == "curve"
        assert not (diagram.status == "runaway").any()
    for name in ("posterior-maps", "evidence", "posterior"):
        assert (tmp_path / "field" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "The evidence is highest at rho = " in result.stdout


def test_a_table_is_solved_on_its_graph(tmp_path):
    path = csv(tmp_path, table(40))
    result = run("field", path, "--target", "y", "--out", tmp_path / "field", *FEW)
    assert result.exit_code == 0, result.stderr
    with xr.open_dataset(tmp_path / "field" / "field.nc", engine="scipy") as diagram:
        assert list(diagram.split.values) == ["train", "test"]
        assert diagram.attrs["target"] == "y"
    assert (tmp_path / "field" / "field.png").exists()


def test_settings_of_a_table_are_refused_on_a_line(tmp_path):
    assert "solved on a line" in refused("field", "sine", "--power", "2", "--out", tmp_path / "field")
    assert "posterior_graph" in refused("field", csv(tmp_path, table()), "--target", "y", "--bayes")
    assert "--target" in refused("field", csv(tmp_path, table()), "--out", tmp_path / "field")
