"""The slice along rho = 1 - gamma: its lines and stars are the diagram's own numbers."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from heteroscope.core.errors import InputError
from heteroscope.diagrams import kinds
from heteroscope.plots import diagonal_slices, save_figure
from heteroscope.plots.style import PHASE_COLOURS

ON = [1e-4, 1e-2, 0.1, 0.5, 0.9, 0.99, 0.9999]  # the values of the made-up grid that have a mirror image on it


def drawn(figure, tmp_path):
    return save_figure(figure, tmp_path / "figure.png").stat().st_size


def along(diagram, metric, split="test"):
    """Rho x seed, by labels instead of places."""
    values = diagram[metric].sel(split=split)
    return np.array([values.sel(rho=rho).sel(gamma=1 - rho, method="nearest").values for rho in ON])


def star(ax):
    (found,) = [line for line in ax.lines if line.get_marker() == "*"]
    return float(found.get_xdata()[0]), float(found.get_ydata()[0])


def test_a_thin_line_a_seed_and_a_thick_one_for_the_mean(networks, tmp_path):
    diagram = networks(n_seeds=4)
    figure = diagonal_slices(diagram)
    for ax, metric in zip(figure.axes, ["mean_mse", "std_mse"], strict=True):
        expected = along(diagram, metric)
        *seeds, mean, _ = ax.lines
        np.testing.assert_allclose(np.transpose([line.get_ydata() for line in seeds]), expected)
        np.testing.assert_allclose(mean.get_ydata(), expected.mean(axis=1))
        np.testing.assert_allclose(mean.get_xdata(), ON)
        assert mean.get_linewidth() > 2 * seeds[0].get_linewidth()
    assert drawn(figure, tmp_path) > 10_000


@pytest.mark.parametrize("split", ["train", "test"])
def test_stars_are_at_the_lowest_mean(networks, split):
    diagram = networks()
    metrics = ["mean_mse", "std_mse", "nll", "crps"]
    for ax, metric in zip(diagonal_slices(diagram, metrics, split).axes, metrics, strict=True):
        mean = along(diagram, metric, split).mean(axis=1)
        assert star(ax) == pytest.approx((ON[int(mean.argmin())], mean.min()))


def test_what_is_no_score_has_no_star(networks):
    (ax,) = diagonal_slices(networks(), ["mean_energy"]).axes
    assert not [line for line in ax.lines if line.get_marker() == "*"]


def test_a_row_a_metric_and_a_column_a_diagram(networks, theory):
    figure = diagonal_slices({"networks": networks(), "theory": theory()}, ["mean_mse", "nll", "ece"])
    assert len(figure.axes) == 6
    titles = [ax.get_title() for ax in figure.axes]
    assert [title for title in titles if title] == ["networks", "theory"]
    figure.draw_without_rendering()


def test_phases_of_the_majority_are_behind_the_lines(networks):
    diagram = networks(n_seeds=1, jitter=0.0)
    phases = [str(kinds(diagram).sel(rho=rho).sel(gamma=1 - rho, method="nearest").values[0]) for rho in ON]
    changes = [phase for k, phase in enumerate(phases) if k == 0 or phase != phases[k - 1]]
    assert len(changes) > 2
    ax = diagonal_slices(diagram).axes[0]
    assert [to_hex(patch.get_facecolor()).upper() for patch in ax.patches] == [PHASE_COLOURS[p] for p in changes]


def test_a_line_ends_where_the_theory_runs_away(theory):
    diagram = theory()
    figure = diagonal_slices(diagram)
    line = figure.axes[0].lines[0]
    np.testing.assert_array_equal(np.isnan(line.get_ydata()), np.isnan(along(diagram, "mean_mse")[:, 0]))
    assert np.isnan(line.get_ydata()).any()
    assert star(figure.axes[0])[1] == pytest.approx(np.nanmin(along(diagram, "mean_mse")))
    figure.draw_without_rendering()


def test_axes_are_logarithmic_unless_numbers_are_negative(networks):
    diagram = networks()
    assert diagonal_slices(diagram, ["mean_mse"]).axes[0].get_yscale() == "log"
    diagram["nll"][:] = np.linspace(-1, 2, diagram.nll.size).reshape(diagram.nll.shape)
    assert diagonal_slices(diagram, ["nll"]).axes[0].get_yscale() == "linear"
    assert diagonal_slices(diagram.assign(nll=1000 * diagram.nll), ["nll"]).axes[0].get_yscale() == "symlog"


def test_an_exploding_score_does_not_flatten_the_rest(networks):
    diagram = networks()
    diagram["mean_mse"][-1] = 1e30
    figure = diagonal_slices(diagram, ["mean_mse"])
    low, high = figure.axes[0].get_ylim()
    assert low < along(diagram, "mean_mse").min()
    assert high / low < 1e7
    figure.draw_without_rendering()


def test_unfinished_cells_are_gaps(networks, unfinished):
    diagram = networks()
    partly = unfinished(diagram, (diagram.rho > 0.3) & (diagram.rho < 0.95) & (diagram.steps > 0))
    figure = diagonal_slices(partly)
    mean = figure.axes[0].lines[3].get_ydata()
    np.testing.assert_array_equal(np.isnan(mean), (np.array(ON) > 0.3) & (np.array(ON) < 0.95))
    figure.draw_without_rendering()
    diagonal_slices(unfinished(diagram, diagram.steps > 0)).draw_without_rendering()


def test_a_slice_of_one_point_is_a_dot(networks):
    figure = diagonal_slices(networks(rhos=[0.1, 0.5], gammas=[0.9]))
    assert figure.axes[0].lines[0].get_marker() == "o"
    figure.draw_without_rendering()


def test_names_are_shown_as_they_are(networks, awkward, shown_texts):
    diagram = networks().rename(mean_mse=awkward)
    figure = diagonal_slices({awkward: diagram}, [awkward])
    figure.draw_without_rendering()
    assert awkward in shown_texts(figure)


def test_mistakes_are_named_in_one_line(networks):
    with pytest.raises(InputError, match="no cell of 'mine' has rho = 1 - gamma"):
        diagonal_slices({"mine": networks(rhos=[0.1, 0.2], gammas=[0.3])})
    with pytest.raises(InputError, match="at least one name"):
        diagonal_slices(networks(), metrics=[])


def test_a_diagram_without_test_rows_says_so(networks):
    figure = diagonal_slices({"mine": networks(splits=("train",))}, ["mean_mse"])
    assert figure.axes[0].get_title() == "mine\n(training rows)"
