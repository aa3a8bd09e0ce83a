"""What is on record in the repository belongs to today's exhibits and is complete."""

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from heteroscope.diagrams.dataset import PHASES, majority_phase
from heteroscope.paper import EXHIBITS, SCALES
from heteroscope.paper.diagram_parts import Line, OneSeed
from heteroscope.paper.part_records import load_part
from heteroscope.paper.parts import Divided, part_name, part_settings

FOLDER = Path(__file__).parents[2] / "benchmarks" / "records" / "parts"
WHOLE = [part for exhibit in EXHIBITS.values() for part in exhibit.parts(SCALES["full"]).values()]
PARTS = {part_name(one): one for part in WHOLE for one in (part.pieces() if isinstance(part, Divided) else [part])}
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))


def test_there_is_a_record_for_each_file():
    assert {path.name.partition(".")[0] for path in FOLDER.iterdir()} == set(NAMES)
    assert NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_record_is_that_of_a_part_of_todays_exhibits(name):
    timing = json.loads((FOLDER / f"{name}.json").read_text())
    assert timing["finished"]
    assert timing["settings"] == part_settings(PARTS[name])


@pytest.mark.parametrize("name", [name for name in NAMES if isinstance(PARTS.get(name), OneSeed | Line)])
def test_a_recorded_diagram_has_all_its_cells(name):
    part, found = PARTS[name], load_part(FOLDER, name).result
    n_seeds = part.n_seeds if isinstance(part, Line) else 1
    points = (
        part.points if isinstance(part, Line) else [(rho, gamma) for rho in part.rhos for gamma in part.gamma_values]
    )
    rhos, gammas = (xr.DataArray(list(values), dims="point") for values in zip(*points, strict=True))
    cells = found.sel(rho=rhos, gamma=gammas, method="nearest")
    assert cells["phase"].sizes == {"point": len(points), "seed": n_seeds}
    assert np.isin(cells["phase"], PHASES).all()
    assert np.isfinite(cells["mean_mse"]).all()
    assert int((found["phase"] != "").sum()) == len(points) * n_seeds


@pytest.mark.parametrize(("alpha", "phase"), [(1e-1, "U_I"), (1e-3, "O_I"), (1e-4, "O_I")])
def test_where_the_precision_is_constant_alpha_alone_decides(alpha, phase):
    """What the exchange of models is for: cells of one alpha = gamma (1 - rho) / rho pose one problem."""
    networks = EXHIBITS["boundary"].parts(SCALES["full"])["Networks"]
    sine = networks.join([load_part(FOLDER, part_name(seed)).result for seed in networks.pieces()])
    cells = [sine.sel(rho=rho, gamma=alpha * rho, method="nearest") for rho in np.logspace(-7, -2, 6)]
    objectives = np.array([cell["objective"].values for cell in cells])
    assert np.ptp(objectives, axis=0).max() < 0.02
    assert {str(majority_phase(cell).item()) for cell in cells} == {phase}
