"""`heteroscope field`: the diagram and its figure."""

import sys

import numpy as np
import xarray as xr

from tests.cli.commands import TINY_THEORY, refused, run


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
    few = np.array([0.1, 0.9, 0.9999])
    monkeypatch.setattr("heteroscope.diagrams.theory.FIELD_GRID", few)
    monkeypatch.setattr("heteroscope.diagrams.bayesian.FIELD_GRID", few)
    monkeypatch.setattr(sys.modules["heteroscope.cli.field"], "_PENALTIES", 2)  # the package has a command of that name
    result = run("field", "curve", "--points", TINY_THEORY, "--bayes", "--out", tmp_path / "field")
    assert result.exit_code == 0, result.stderr
    with xr.open_dataset(tmp_path / "field" / "posterior.nc", engine="scipy") as diagram:
        assert diagram.attrs["data_set"] == "curve"
        assert not (diagram.status == "runaway").any()
    for name in ("posterior-maps", "evidence", "posterior"):
        assert (tmp_path / "field" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "The evidence is highest at rho = " in result.stdout
