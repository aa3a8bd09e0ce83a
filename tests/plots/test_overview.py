"""The schematic: one named region and one typical model for each phase that is there."""

import numpy as np
import pytest

from heteroscope import field_diagram
from heteroscope.datasets import simulated
from heteroscope.diagrams.dataset import PHASES, S_ADAPTS
from heteroscope.phases.labels import Phase
from heteroscope.plots import save_figure, schematic
from heteroscope.plots.cells import read_cells
from heteroscope.plots.fits import RUNAWAY_LIMIT
from heteroscope.plots.regions import typical_cells
from heteroscope.plots.style import PHASE_NAMES


def drawn(figure, tmp_path):
    return save_figure(figure, tmp_path / "figure.png").stat().st_size


def fits(figure):
    return [ax for ax in figure.axes[1:] if ax.get_title()]


def phases_of(diagram):
    return {str(kind).removesuffix("_adapts").removesuffix("_constant") for kind in read_cells(diagram).kind.flat} - {
        ""
    }


def test_every_phase_has_its_name_and_its_fit(networks, tmp_path):
    diagram = networks(n_rows=60)
    figure = schematic(diagram, title="made up")
    main = figure.axes[0]
    assert [text.get_text() for text in main.texts] == [PHASE_NAMES[phase] for phase in PHASES[:5]]
    assert [ax.get_title().split(":")[0] for ax in fits(figure)] == [PHASE_NAMES[phase] for phase in PHASES[:5]]
    cells = read_cells(diagram)
    for text, cell in zip(main.texts, typical_cells(diagram, cells).values(), strict=True):
        assert text.get_position() == (cells.rho[cell[0]], cells.gamma[cell[1]])
    assert main.get_title() == "made up"
    assert drawn(figure, tmp_path) > 10_000


def test_a_fit_is_that_of_a_seed_in_the_phase_with_bands_of_one_and_two_std(networks):
    diagram = networks(n_seeds=3)
    row, column = typical_cells(diagram, read_cells(diagram))[S_ADAPTS]
    diagram["phase"][row, column] = ["U_I", "S", "S"]
    diagram["log_precision_spread"][row, column] = 1.0
    here = diagram.isel(rho=row, gamma=column, seed=1)
    order = np.argsort(here.x.values[:, 0])
    mean, std = here["mean"].values[order], here["std"].values[order]
    ax = fits(schematic(diagram))[2]
    line, points = ax.lines
    np.testing.assert_allclose(line.get_ydata(), mean)
    for band, width in zip(ax.collections, (2, 1), strict=True):
        vertices = band.get_paths()[0].vertices
        assert vertices[:, 1].max() == pytest.approx(np.max(mean + width * std))
        assert vertices[:, 1].min() == pytest.approx(np.min(mean - width * std))
    train = here.row_split.values == "train"
    assert set(points.get_ydata()) == set(here.y.values[train])


def test_tables_show_residuals_against_std(networks):
    diagram = networks(n_features=3)
    figure = schematic(diagram)
    row, column = typical_cells(diagram, read_cells(diagram))[Phase.U_II]
    here = diagram.isel(rho=row, gamma=column, seed=int(np.argmax(diagram.phase[row, column].values == "U_II")))
    ax = fits(figure)[1]
    train, test, equal = ax.lines
    for line, split in ((train, "train"), (test, "test")):
        which = here.row_split.values == split
        residual = np.abs(here.y - here["mean"]).values[which]
        np.testing.assert_allclose(line.get_ydata(), np.clip(residual, *ax.get_ylim()))
        np.testing.assert_allclose(line.get_xdata(), np.clip(here["std"].values[which], *ax.get_xlim()))
    np.testing.assert_array_equal(equal.get_xdata(), equal.get_ydata())
    assert {ax.get_xlim() for ax in fits(figure)} == {ax.get_xlim()}
    figure.draw_without_rendering()


def test_the_theory_has_its_fold_and_what_lies_beyond_is_hatched(theory):
    diagram = theory()
    main = schematic(diagram).axes[0]
    (hatched,) = [patch for patch in main.patches if patch.get_hatch()]
    for rho, gamma, status in np.nditer(
        [diagram.rho.values[:, None], diagram.gamma.values[None, :], diagram.status.values[..., 0]]
    ):
        place = main.transData.transform((float(rho), float(gamma)))
        shape = hatched.get_path().transformed(main.transData)
        assert shape.contains_point(place) == (str(status) == "runaway")
    assert any(
        np.allclose(line.get_xdata()[1:-1], diagram.fold_rho) for line in main.lines if len(line.get_xdata()) > 2
    )
    main.figure.draw_without_rendering()


def test_runaway_networks_are_hatched_cell_by_cell(networks, hatched_cells):
    diagram = networks(n_seeds=1)
    main = schematic(diagram).axes[0]
    expected = (diagram.status == "runaway").values[..., 0]
    np.testing.assert_array_equal(hatched_cells(main, diagram.rho.values, diagram.gamma.values), expected)


def test_a_runaway_of_the_theory_is_drawn_as_the_limit_of_its_descent(theory):
    diagram = theory()
    diagram["phase"] = diagram["phase"].where((diagram.phase != "O_I") | (diagram.status == "runaway"), "S")
    figure = schematic(diagram)
    assert [text.get_text() for text in fits(figure)[-1].texts] == [RUNAWAY_LIMIT]
    figure.draw_without_rendering()
    schematic(theory(n_features=2)).draw_without_rendering()


def test_an_overfit_field_is_shown_close_up(theory):
    diagram = theory(n_rows=1000)
    widths = {ax.get_title()[:4]: np.ptp(ax.get_xlim()) for ax in fits(schematic(diagram))}
    assert widths["$O_\\"] < 0.2 * widths["$S$:"]


@pytest.mark.parametrize("shape", [(1, 6), (6, 1), (1, 1)])
def test_grids_of_one_row_or_column(networks, theory, shape):
    options = {"rhos": np.geomspace(1e-4, 0.99, shape[0]), "gammas": np.geomspace(1e-3, 0.9, shape[1])}
    for diagram in (networks(**options), theory(**options)):
        figure = schematic(diagram)
        assert len(fits(figure)) == len(phases_of(diagram))
        figure.draw_without_rendering()


@pytest.mark.parametrize("n_features", [1, 2])
def test_unfinished_diagrams_show_what_is_there(networks, unfinished, n_features):
    diagram = networks(n_features=n_features)
    partly = unfinished(diagram, (diagram.rho > 0.3) & (diagram.steps > 0))
    there = phases_of(partly)
    figure = schematic(partly)
    assert len(fits(figure)) == len(there) < 5
    figure.draw_without_rendering()
    nothing = schematic(unfinished(diagram, diagram.steps > 0))
    assert fits(nothing) == []
    nothing.draw_without_rendering()


def test_names_are_shown_as_they_are(networks, awkward, shown_texts):
    diagram = networks().assign_coords(feature=[awkward + " in"]).assign_attrs(target=awkward + " out")
    figure = schematic(diagram, awkward)
    figure.draw_without_rendering()
    assert {awkward, awkward + " in", awkward + " out"} <= set(shown_texts(figure))


def test_a_constant_input_and_target(networks):
    diagram = networks()
    diagram["x"][:] = 1.0
    diagram["y"][:] = 0.0
    figure = schematic(diagram)
    assert [ax.get_title().split(":")[0] for ax in fits(figure)] == [PHASE_NAMES[phase] for phase in PHASES[:5]]
    figure.draw_without_rendering()


def test_the_field_theory_itself():
    x, y = simulated.field_draw("sine", n_points=256)
    diagram = field_diagram(x, y, rhos=[1e-5, 0.1, 0.5, 0.9, 0.999], gammas=[1e-5, 0.1, 0.9, 0.99999])
    figure = schematic(diagram, "Field theory of sine")
    assert len(fits(figure)) >= 4
    figure.draw_without_rendering()
