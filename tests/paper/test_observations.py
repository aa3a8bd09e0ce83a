"""The paper's observations as numbers, on diagrams whose numbers can be worked out by hand."""

import numpy as np
import pytest
import xarray as xr

from heteroscope.paper.exhibits import FIELD
from heteroscope.paper.observations import (
    OWN,
    crossing_table,
    crossing_verdict,
    flat_share,
    observations,
    spread_by_phase,
    steepest_step,
)

RHOS = [0.1, 0.5, 0.9]


def labelled(on_diagonal, nll):
    """Three seeds; beside the diagonal all is S, which does not count."""
    phase = np.full((3, 3, 3), "S", object)
    scores = np.full((3, 3, 3, 2), -9.0)
    for k, (labels, score) in enumerate(zip(on_diagonal, nll, strict=True)):
        phase[k, 2 - k] = labels
        scores[k, 2 - k, :, 1] = score
    cell = ("rho", "gamma", "seed")
    return xr.Dataset(
        {"phase": (cell, phase.astype(str))}
        | dict.fromkeys(("nll", "mean_mse", "std_mse"), ((*cell, "split"), scores)),
        coords={"rho": RHOS, "gamma": RHOS, "split": ["train", "test"]},
    )


def test_points_of_the_diagonal_that_most_seeds_label_s_are_counted():
    crossed = labelled([["U_I"] * 3, ["S", "S", "O_I"], ["S", "O_I", "O_I"]], [1.0, 0.5, 2.0])
    missed = labelled([["U_I"] * 3, ["O_I"] * 3, ["O_I"] * 3], [1.0, np.nan, 2.0])
    table = crossing_table({FIELD: crossed, "Sine": crossed, "Yacht": missed})
    assert table.iloc[1].tolist() == ["Sine", "1 of 3", "0.5", "0.5", "0.5", "S", "0.5", "0.5", "yes"]
    assert table.iloc[2].tolist() == ["Yacht", "0 of 3", "-", "-", "0.1", "U_I", "0.1", "0.1", "no"]
    text = crossing_verdict(table)
    assert "contradicted. It does in 1 of 2 sets of networks, not on Yacht" in text
    assert "is an S in 1." in text
    assert "both lowest inside the line in 1 of 2 sets" in text
    assert "confirmed. It does in 1 of 1" in crossing_verdict(table.iloc[:2])


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


def made_up(values, gammas, rhos, **other):
    """A diagram whose scores are the given arrays over (rho, gamma)."""
    shape = np.shape(values)
    variables = {
        name: (("rho", "gamma", "seed", "split"), np.stack([one] * 2, -1)[:, :, None]) for name, one in other.items()
    }
    variables |= {"phase": (("rho", "gamma", "seed"), np.full((*shape, 1), "S", "<U4"))}
    variables["status"] = (("rho", "gamma", "seed"), np.full((*shape, 1), "converged"))
    return xr.Dataset(variables, {"rho": rhos, "gamma": gammas, "seed": [0], "split": ["train", "test"]})


def test_the_steepest_step_is_seen_on_common_points_only():
    along = np.array([1.0, 0.9, 0.3, 0.2, 0.0])  # on the diagonal, by rising rho
    rhos = [0.1, 0.3, 0.5, 0.7, 0.9]
    values = np.full((5, 5), 7.0)
    values[range(5), range(4, -1, -1)] = along
    diagram = made_up(values, rhos, rhos, mean_mse=values)
    assert steepest_step(diagram, np.array(rhos)) == pytest.approx(0.6)
    assert steepest_step(diagram, np.array([0.1, 0.5, 0.9])) == pytest.approx(0.7)
    assert steepest_step(made_up(values, rhos, rhos, mean_mse=np.ones((5, 5))), np.array(rhos)) == 0.0


def test_flat_cells_are_counted_and_runaways_are_not_flat():
    energy = np.array([[0.0, 1e-4, 2e-3], [np.nan, 5.0, 1e-9]])
    diagram = made_up(energy, [0.1, 0.5, 0.9], [0.1, 0.5], mean_energy=energy)
    assert flat_share(diagram, "mean_energy") == 3 / 6


def test_each_set_is_compared_with_the_theory_of_its_own_rows():
    rhos = [0.1, 0.5, 0.9]
    energy = np.ones((3, 3))
    networks = made_up(energy, rhos, rhos, mean_mse=np.diag([1.0, 0.5, 0.0])[::-1], mean_energy=energy)
    networks["precision_energy"] = networks["mean_energy"]
    networks["phase"][:2] = "U_I"
    other = networks.copy(deep=True)
    other["phase"][:] = "O_I"
    output = observations({FIELD: other, "Sine": networks, "Power": networks, f"{OWN}Sine": networks})
    table = output.table.set_index("set")
    assert table.loc["Sine", "labels as in its theory, %"] == 100
    assert table.loc["Sine", "kappa"] == 1.0
    assert table.loc["Sine", "shift"] == "(+0.0, +0.0)"
    assert table.loc["Power", "labels as in its theory, %"] == "-"
    assert "in 1 of 1 sets" in output.verdict
