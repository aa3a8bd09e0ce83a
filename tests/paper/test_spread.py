"""Spread over seeds by phase, on diagrams whose numbers can be worked out by hand."""

import numpy as np
import xarray as xr

from heteroscope.paper.spread import spread_by_phase


def invented(phases, mean_mse):
    """One value of rho and a gamma for each phase; two seeds with these test scores, the energies without spread."""
    scores = np.array(mean_mse, float)[None, :, :, None] + np.array([100.0, 0.0])  # training rows do not count
    return xr.Dataset(
        {
            "mean_mse": (("rho", "gamma", "seed", "split"), scores),
            "mean_energy": (("rho", "gamma", "seed"), np.ones((1, len(phases), 2))),
            "precision_energy": (("rho", "gamma", "seed"), np.ones((1, len(phases), 2))),
            "phase": (("rho", "gamma", "seed"), np.array([[[phase, phase] for phase in phases]])),
        },
        coords={"rho": [0.5], "split": ["train", "test"]},
    )


def test_the_median_cell_of_each_phase_is_shown_and_the_least_steady_phase_counted():
    wild = invented(["S", "O_I", "O_I", "O_I"], [[1, 3], [0, 2], [0, 8], [1, 11]])
    tame = invented(["S", "O_I"], [[1, 3], [2, 2]])
    without = invented(["U_I"], [[0, 2]])
    table, verdict = spread_by_phase({"Wild": wild, "Tame": tame, "Without": without})
    rows = table.set_index("set, metric")
    assert list(rows.loc["Wild, mean MSE"]) == ["-", "-", "2 ± 1", "-", "4 ± 4"]
    assert list(rows.loc["Tame, mean MSE"]) == ["-", "-", "2 ± 1", "-", "2 ± 0"]
    assert rows.loc["Without, mean MSE", "U_I"] == "1 ± 1"
    assert verdict.startswith("Of the 2 sets that have an O_I, seeds differ most there in the mean MSE on 1, ")
