"""The figures from small diagrams: everything that is said to be drawn is there."""

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from heteroscope import field
from heteroscope.phases import Phase
from heteroscope.plots.field import OBSERVABLES, field_figure, fold_figure, observables_figure

RHOS, GAMMAS = [1e-6, 0.1, 0.9, 1 - 1e-9], [0.01, 0.5, 0.999]


@pytest.fixture(scope="module")
def diagram(sine):
    x, y = sine(128)
    grid = field.solve_grid(x, y, RHOS, GAMMAS)
    curve = field.fold_curve(x, y, GAMMAS)
    phase = np.array([[Phase.U_I] * 3, [Phase.U_II] * 3, [Phase.S] * 3, [Phase.O_I] * 3])
    return {
        "rho": grid.rhos,
        "gamma": grid.gammas,
        "phase": phase,
        "status": grid.status,
        "mean": grid.mean,
        "std": grid.precision**-0.5,
        "x": x,
        "y": y,
        "fold_rho": np.array([one.rho for one in curve]),
        "fold_gamma": np.array(GAMMAS),
        **field.observables(field.chain(x), y, grid)._asdict(),
    }


def hatched(ax):
    return [patch for patch in ax.patches if isinstance(patch, Rectangle) and patch.get_hatch()]


def test_field_figure_shows_diagram_fold_runaways_and_one_fit_a_phase(diagram, tmp_path):
    figure = field_figure(diagram, title="sine")
    main, *fits = figure.axes
    assert len(hatched(main)) == int((diagram["status"] == "runaway").sum()) > 0
    np.testing.assert_array_equal(main.lines[0].get_xdata(), diagram["fold_rho"])
    assert [ax.get_title().split(":")[0] for ax in fits if ax.get_title()] == [
        r"$U_\mathrm{I}$",
        r"$U_\mathrm{II}$",
        "$S$",
        r"$O_\mathrm{I}$",
    ]
    figure.savefig(tmp_path / "field.png")


def test_observables_figure_has_a_column_a_set_and_hatches_runaways(diagram, tmp_path):
    figure = observables_figure({"sine": diagram, "twin": diagram})
    panels = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
    assert len(panels) == 2 * len(OBSERVABLES)
    assert all(len(hatched(ax)) == int((diagram["status"] == "runaway").sum()) for ax in panels)
    figure.savefig(tmp_path / "observables.png")


def test_fold_figure_has_a_line_a_target_and_the_guide(tmp_path):
    figure = fold_figure([256, 512, 1024], {"white noise": [1.0, 2.4, 3.8], "no noise": [5.0, 5.0, 5.0]})
    lines = {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}
    np.testing.assert_allclose(lines["white noise"], [1.0, 2.4, 3.8])
    np.testing.assert_allclose(np.diff(lines["slope of $n^2$"]), np.log(4))
    figure.savefig(tmp_path / "fold.png")
