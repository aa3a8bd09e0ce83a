"""Maps of phases: each cell has its phase's colour, and the fold lies where the shift says."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.path import Path
from scipy.special import logit

from heteroscope.core.errors import InputError
from heteroscope.diagrams import kinds
from heteroscope.plots import phase_maps, save_figure
from heteroscope.plots.cells import read_cells
from heteroscope.plots.maps import THEORY_BOUNDARY, THEORY_FOLD
from heteroscope.plots.panels import FOLD
from heteroscope.plots.regions import smooth_regions
from heteroscope.plots.style import PHASE_COLOURS


def drawn(figure, tmp_path):
    return save_figure(figure, tmp_path / "figure.png").stat().st_size


def colours(ax):
    """Rho x gamma x rgb."""
    return np.asarray(ax.collections[0].get_array()).swapaxes(0, 1)[..., :3]


def strength(colour, phase):
    """How much of a phase's colour is in a mixture with white; all three parts must agree."""
    shares = [(1 - c) / (1 - p) for c, p in zip(colour, to_rgb(PHASE_COLOURS[phase]), strict=True) if p < 0.99]
    assert np.ptp(shares) < 1e-6
    return shares[0]


def log_strengths(rho, gamma):
    return np.log(gamma) - logit(rho), np.log1p(-gamma) - logit(rho)


def fold(ax, style):
    """Return the fold that is drawn in a style: the theory's own, or over networks."""
    (found,) = [line for line in ax.lines if line.get_linewidth() == style["linewidth"]]
    return np.array([found.get_xdata(), found.get_ydata()])


def test_every_cell_has_its_phases_colour_and_paler_where_seeds_disagree(networks, tmp_path):
    diagram = networks(n_seeds=4)
    diagram["phase"][0, 0] = ["S", "S", "S", "U_I"]
    diagram["phase"][0, 1:3] = "S"
    diagram["log_precision_spread"][0] = 0.0
    diagram["log_precision_spread"][0, 2] = 1.0
    figure = phase_maps(diagram)
    shown = colours(figure.axes[0])
    assert 0.2 < strength(shown[0, 0], "S_constant") < strength(shown[0, 1], "S_constant") < 1
    for i, j in np.ndindex(diagram.phase.shape[:2]):
        if len(seen := set(kinds(diagram).values[i, j])) == 1:
            assert strength(shown[i, j], seen.pop()) == pytest.approx(strength(shown[0, 1], "S_constant"))
    assert drawn(figure, tmp_path) > 10_000


def test_maps_stand_side_by_side(networks, theory):
    figure = phase_maps({"networks": networks(), "theory": theory(), "more": networks()})
    assert [ax.get_title() for ax in figure.axes] == ["networks", "theory", "more"]
    for ax in figure.axes:
        np.testing.assert_allclose(ax.get_position().size, figure.axes[0].get_position().size)
    figure.draw_without_rendering()


def test_hatched_cells_are_exactly_the_runaways_of_networks(networks, hatched_cells):
    diagram = networks(n_seeds=1)
    found = hatched_cells(phase_maps(diagram).axes[0], diagram.rho.values, diagram.gamma.values)
    np.testing.assert_array_equal(found, (diagram.status == "runaway").values[..., 0])
    assert 0 < found.sum() < found.size


def test_the_area_beyond_the_theorys_fold_is_hatched(theory):
    diagram = theory()
    (area,) = [patch for patch in phase_maps(diagram).axes[0].patches if patch.get_hatch()]
    border = logit(area.get_path().vertices)
    inside = Path(border).contains_points(
        [(logit(rho), logit(gamma)) for rho in diagram.rho.values for gamma in diagram.gamma.values]
    )
    runaway = (diagram.status == "runaway").values[..., 0]
    np.testing.assert_array_equal(inside.reshape(runaway.shape), runaway)


def test_the_theorys_fold_over_networks(networks, theory):
    figure = phase_maps({"networks": networks(), "theory": theory()}, theory=theory())
    over_networks, own = figure.axes
    np.testing.assert_allclose(fold(over_networks, THEORY_FOLD), fold(own, FOLD))
    figure.draw_without_rendering()


def test_the_shift_leads_from_the_networks_strengths_to_the_theorys(networks, theory):
    figure = phase_maps({"networks": networks(), "theory": theory()}, theory=theory(), shift=(1.5, -0.5))
    over_networks, own = (
        log_strengths(*fold(ax, style)) for ax, style in zip(figure.axes, (THEORY_FOLD, FOLD), strict=True)
    )
    np.testing.assert_allclose(over_networks[0] + 1.5, own[0], rtol=1e-6)
    np.testing.assert_allclose(over_networks[1] - 0.5, own[1], rtol=1e-5, atol=1e-6)
    shown = " ".join(text.get_text() for one in figure.legends for text in one.get_texts())
    assert "+1.5" in shown
    assert "\N{MINUS SIGN}0.5" in shown
    figure.draw_without_rendering()


def test_the_theorys_other_boundaries_move_with_its_fold(networks, theory):
    figure = phase_maps({"networks": networks(), "theory": theory()}, theory=theory(), shift=(1.5, -0.5))
    over_networks, own = (
        [line for line in ax.lines if line.get_linewidth() == THEORY_BOUNDARY["linewidth"]] for ax in figure.axes
    )
    boundaries = smooth_regions(read_cells(theory())).boundaries
    assert len(over_networks) == len(boundaries) > 0
    assert not [line for line in own if len(line.get_xdata()) > 2], "the theory's own cells show them"
    for line, boundary in zip(over_networks, boundaries, strict=True):
        log_alpha, log_beta = log_strengths(line.get_xdata(), line.get_ydata())
        np.testing.assert_allclose(log_alpha + 1.5, log_strengths(*boundary.T)[0], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(log_beta - 0.5, log_strengths(*boundary.T)[1], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(1, 6), (6, 1), (1, 1)])
def test_grids_of_one_row_or_column(networks, shape):
    diagram = networks(rhos=np.geomspace(1e-4, 0.5, shape[0]), gammas=np.geomspace(1e-3, 0.5, shape[1]))
    figure = phase_maps(diagram)
    assert colours(figure.axes[0]).shape == (*shape, 3)
    figure.draw_without_rendering()


def test_cells_that_are_not_there_yet_are_white(networks, unfinished):
    diagram = networks()
    partly = unfinished(diagram, (diagram.rho > 0.3) & (diagram.steps > 0))
    white = (colours(phase_maps(partly).axes[0]) == 1).all(axis=2)
    np.testing.assert_array_equal(white, np.broadcast_to((diagram.rho.values > 0.3)[:, None], white.shape))
    phase_maps(unfinished(diagram, diagram.steps > 0)).draw_without_rendering()


def test_names_are_shown_as_they_are(networks, awkward, shown_texts):
    figure = phase_maps({awkward: networks()})
    figure.draw_without_rendering()
    assert awkward in shown_texts(figure)


def test_networks_have_no_fold_to_draw(networks):
    with pytest.raises(InputError, match="has no fold"):
        phase_maps(networks(), theory=networks())
