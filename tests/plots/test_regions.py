"""Boundaries between phases: they separate what they should, and only that."""

import numpy as np
import pytest
from scipy.special import logit

from heteroscope.core.grids import NETWORK_GRID
from heteroscope.diagrams.dataset import KINDS, S_ADAPTS
from heteroscope.phases.labels import Phase
from heteroscope.plots.cells import Cells, read_cells
from heteroscope.plots.regions import smooth_regions, typical_cells

GRID = np.array([1e-4, 1e-3, 1e-2, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999])


def cells_of(phase, rho=GRID, gamma=GRID):
    nothing = np.zeros(phase.shape, bool)
    return Cells(rho, gamma, phase, np.ones(phase.shape), nothing, np.empty((2, 0)))


def nearest_code(regions, rho, gamma):
    i = np.abs(logit(regions.rho) - logit(rho)).argmin()
    j = np.abs(logit(regions.gamma) - logit(gamma)).argmin()
    return regions.code[i, j]


def test_a_straight_boundary_runs_half_way_between_two_columns():
    phase = np.full((9, 9), "U_I")
    phase[4:] = "O_I"
    regions = smooth_regions(cells_of(phase))
    assert len(regions.boundaries) == 2  # once for each of the two phases
    for line in regions.boundaries:
        np.testing.assert_allclose(logit(line[:, 0]), logit(0.1) / 2, atol=0.15)
        assert logit(line[:, 1]).min() < logit(GRID[0])
        assert logit(line[:, 1]).max() > logit(GRID[-1])


@pytest.mark.parametrize("seed", range(5))
def test_every_cell_whose_neighbours_agree_is_in_the_region_of_its_phase(seed):
    corner = np.random.default_rng(seed).integers(3, 19, size=2)
    phase = np.full((22, 22), "S_adapts", dtype="<U8")
    phase[: corner[0]] = "U_I"
    phase[: corner[0], corner[1] :] = "U_II"
    cells = cells_of(phase, NETWORK_GRID, NETWORK_GRID)
    regions = smooth_regions(cells)
    for i, j in np.ndindex(phase.shape):
        around = phase[max(i - 1, 0) : i + 2, max(j - 1, 0) : j + 2]
        if (around == phase[i, j]).all():
            assert KINDS[nearest_code(regions, cells.rho[i], cells.gamma[j])] == phase[i, j]


def test_one_phase_has_no_boundary():
    assert smooth_regions(cells_of(np.full((9, 9), "S_adapts"))).boundaries == []


def test_there_is_no_boundary_against_what_is_not_there_yet():
    phase = np.full((9, 9), "S_adapts")
    phase[5:] = ""
    regions = smooth_regions(cells_of(phase))
    assert regions.boundaries == []
    assert nearest_code(regions, 0.99, 0.5) == -1
    assert nearest_code(regions, 0.01, 0.5) == KINDS.index(S_ADAPTS)


@pytest.mark.parametrize("shape", [(1, 9), (9, 1), (1, 1)])
def test_grids_of_one_row_or_column(shape):
    phase = np.full(shape, "U_I")
    phase.reshape(-1)[4:] = "O_I"
    regions = smooth_regions(cells_of(phase, GRID[: shape[0]], GRID[: shape[1]]))
    assert len(regions.boundaries) == (2 if max(shape) > 1 else 0)


def test_the_fold_is_the_boundary_where_there_is_one(theory):
    cells = read_cells(theory())
    regions = smooth_regions(cells)
    fold = np.interp(logit(regions.gamma), *logit(cells.fold[::-1]))
    beyond = logit(regions.rho)[:, None] > fold[None, :]
    assert beyond.any()
    assert (regions.code[beyond] == KINDS.index(Phase.O_I)).all()
    step = np.diff(logit(regions.rho))[0]
    for line in regions.boundaries:
        assert (logit(line[:, 0]) <= np.interp(logit(line[:, 1]), *logit(cells.fold[::-1])) + step).all()


def test_a_theory_that_is_lost_everywhere_is_one_region(theory):
    diagram = theory()
    diagram["status"][:] = "runaway"
    diagram["phase"][:] = "O_I"
    assert smooth_regions(read_cells(diagram)).boundaries == []


def test_typical_cells_lie_in_the_middle_of_their_phase(networks):
    phase = np.full((9, 9, 1), "U_I")
    phase[3:8, 2:7] = "S"
    diagram = networks(rhos=GRID, gammas=GRID, n_seeds=1)
    diagram["phase"][:] = phase
    diagram["log_precision_spread"][:] = 1.0
    found = typical_cells(diagram, read_cells(diagram))
    assert found == {S_ADAPTS: (5, 4), Phase.U_I: found[Phase.U_I]}
    diagram["log_precision_spread"][:, :6] = 0.0
    assert typical_cells(diagram, read_cells(diagram))[S_ADAPTS] == (5, 6)  # a constant std stands back


def test_typical_cells_have_a_fit_but_for_a_theorys_runaway(theory):
    diagram = theory()
    cells = read_cells(diagram)
    inside = cells.kind == Phase.O_I
    assert (inside & cells.lost).sum() > (inside & ~cells.lost).sum() > 0
    found = typical_cells(diagram, cells)
    assert {phase for phase, cell in found.items() if cells.lost[cell]} == {Phase.O_I}, "where residuals and std vanish"
    numbers = diagram.copy()
    numbers["mean"] = diagram["mean"].fillna(0.0)  # numbers left over from a solver that ran away are no fit
    assert typical_cells(numbers, cells) == found
    without_fold = diagram.drop_vars(["fold_rho", "fold_gamma"])
    assert not cells.lost[typical_cells(without_fold, read_cells(without_fold))[Phase.O_I]]


def test_runaway_networks_have_a_fit(networks):
    diagram = networks(n_seeds=1, jitter=0.0)
    cells = read_cells(diagram)
    assert cells.lost[typical_cells(diagram, cells)[Phase.O_I]]
