"""Where the diagonal meets S, on labels written by hand."""

import numpy as np
import xarray as xr

from heteroscope.paper.crossing import crossing, verdict

RHOS = [0.1, 0.5, 0.9]


def diagram(on_diagonal, nll):
    """Three seeds; beside the diagonal all is S, which does not count."""
    phase = np.full((3, 3, 3), "S", object)
    scores = np.full((3, 3, 3, 2), -9.0)
    for k, (labels, score) in enumerate(zip(on_diagonal, nll, strict=True)):
        phase[k, 2 - k] = labels
        scores[k, 2 - k, :, 1] = score
    cell = ("rho", "gamma", "seed")
    return xr.Dataset(
        {"phase": (cell, phase.astype(str)), "nll": ((*cell, "split"), scores)},
        coords={"rho": RHOS, "gamma": RHOS, "split": ["train", "test"]},
    )


def test_points_of_the_diagonal_that_most_seeds_label_s_are_counted():
    crossed = diagram([["U_I"] * 3, ["S", "S", "O_I"], ["S", "O_I", "O_I"]], [1.0, 0.5, 2.0])
    missed = diagram([["U_I"] * 3, ["O_I"] * 3, ["O_I"] * 3], [1.0, np.nan, 2.0])
    table = crossing({"Theory": crossed, "Sine": crossed, "Yacht": missed})
    assert table.iloc[1].tolist() == ["Sine", "1 of 3", "0.5", "0.5", "0.5", "S"]
    assert table.iloc[2].tolist() == ["Yacht", "0 of 3", "-", "-", "0.1", "U_I"]
    text = verdict(table, "Theory")
    assert "contradicted. It does in 1 of 2 sets of networks, not on Yacht" in text
    assert "is an S in 1." in text
    assert "confirmed. It does in 1 of 1" in verdict(table.iloc[:2], "Theory")
