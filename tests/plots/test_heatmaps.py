"""The array of heat maps: its colours are the numbers of the diagrams, its hatches their runaways."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import AsinhNorm, LogNorm

from heteroscope.core.errors import InputError
from heteroscope.plots import diagram_array, save_figure
from heteroscope.plots.heatmaps import MAIN_METRICS, QUANTILES


def panels(figure):
    return [ax for ax in figure.axes if ax.get_xscale() == "logit"]


def colour_bars(figure):
    return [child for ax in panels(figure) for child in ax.child_axes]


def image(ax):
    return ax.collections[0]


def drawn(figure, tmp_path):
    return save_figure(figure, tmp_path / "figure.png").stat().st_size


def log_quantiles(*values):
    known = np.concatenate([np.ravel(one) for one in values])
    return np.quantile(np.log10(known[np.isfinite(known)]), QUANTILES)


def test_a_row_a_metric_and_a_column_a_diagram(networks, theory, tmp_path):
    figure = diagram_array({"networks": networks(), "theory": theory()}, metrics=["mean_mse", "nll", "ece"])
    assert len(panels(figure)) == 6
    assert len(colour_bars(figure)) == 3
    assert [ax.get_title() for ax in panels(figure)[:2]] == ["networks", "theory"]
    assert [ax.get_ylabel().split("\n")[0] for ax in panels(figure)[::2]] == ["mean MSE", "NLL", "ECE"]
    assert drawn(figure, tmp_path) > 10_000


def test_colours_are_means_over_seeds(networks):
    diagram = networks()
    for ax, metric in zip(panels(diagram_array(diagram)), MAIN_METRICS, strict=True):
        expected = diagram[metric].sel(split="test").values.mean(axis=2)
        np.testing.assert_allclose(image(ax).get_array().T, expected)


def test_the_twin_shows_standard_deviations_over_seeds(networks):
    diagram = networks()
    figure = diagram_array(diagram, metrics=["mean_mse"], split="train", statistic="std")
    (ax,) = panels(figure)
    expected = diagram["mean_mse"].sel(split="train").values.std(axis=2)
    np.testing.assert_allclose(image(ax).get_array().T, expected)
    assert "std over seeds" in ax.get_ylabel()


def test_limits_are_log10_quantiles_of_all_diagrams_or_of_each(networks, theory):
    diagrams = {"networks": networks(), "theory": theory()}
    means = [one["mean_energy"].sel(split="test").mean("seed").values for one in diagrams.values()]
    both = panels(diagram_array(diagrams, metrics=["mean_energy"]))
    for ax in both:
        assert isinstance(image(ax).norm, LogNorm)
        np.testing.assert_allclose(np.log10(image(ax).get_clim()), log_quantiles(*means))
    alone = diagram_array(diagrams, metrics=["mean_energy"], shared_scale=False)
    for ax, values in zip(panels(alone), means, strict=True):
        np.testing.assert_allclose(np.log10(image(ax).get_clim()), log_quantiles(values))
    assert len(colour_bars(alone)) == 2


def test_negative_numbers_have_a_scale_too(networks):
    (ax,) = panels(diagram_array(networks(), metrics=["nll"], split="train"))
    values = networks()["nll"].sel(split="train").mean("seed").values
    assert values.min() < 0
    assert isinstance(image(ax).norm, AsinhNorm)
    np.testing.assert_allclose(image(ax).get_clim(), np.quantile(values, QUANTILES))


def test_hatched_cells_are_exactly_the_runaways(networks, hatched_cells):
    diagram = networks(n_seeds=1)
    runaway = (diagram.status == "runaway").values[..., 0]
    assert 0 < runaway.sum() < runaway.size
    for ax in panels(diagram_array(diagram, ["mean_mse", "nll"])):
        np.testing.assert_array_equal(hatched_cells(ax, diagram.rho.values, diagram.gamma.values), runaway)


def test_nothing_is_hatched_where_all_is_well(networks):
    diagram = networks(rhos=[0.1, 0.5], gammas=[0.1, 0.5])
    figure = diagram_array(diagram, metrics=["mean_mse"])
    assert not [patch for patch in panels(figure)[0].patches if patch.get_hatch()]
    assert "runaway" not in " ".join(text.get_text() for text in figure.legends[0].get_texts())
    figure.draw_without_rendering()


def test_the_diagonal_is_rho_equal_to_one_minus_gamma(networks):
    for ax in panels(diagram_array(networks(), ["mean_mse", "nll"])):
        (line,) = ax.lines
        np.testing.assert_allclose(line.get_xdata() + line.get_ydata(), 1.0)
        assert line.get_linestyle() == "--"


def test_the_fold_is_drawn_for_a_theory(theory):
    diagram = theory()
    for ax in panels(diagram_array(diagram, ["mean_mse", "nll"])):
        fold = ax.lines[-1]
        np.testing.assert_allclose(fold.get_xdata()[1:-1], diagram.fold_rho)
        np.testing.assert_allclose(fold.get_ydata()[1:-1], diagram.fold_gamma)


def test_a_diagram_without_test_rows_says_so(networks):
    diagrams = {"with": networks(), "without": networks(splits=("train",))}
    figure = diagram_array(diagrams, metrics=["mean_mse"])
    assert [ax.get_title() for ax in panels(figure)] == ["with", "without\n(training rows)"]
    expected = diagrams["without"]["mean_mse"].sel(split="train").mean("seed")
    np.testing.assert_allclose(image(panels(figure)[1]).get_array().T, expected)
    figure.draw_without_rendering()


def test_columns_with_another_grid_have_numbers_of_their_own(networks):
    wide, narrow = networks(), networks(gammas=[0.1, 0.5, 0.9])
    figure = diagram_array({"a": wide, "b": wide, "c": narrow}, metrics=["mean_mse"])
    figure.draw_without_rendering()
    numbers = [any(label.get_visible() for label in ax.get_yticklabels()) for ax in panels(figure)]
    assert numbers == [True, False, True]


def test_no_two_texts_of_a_wide_array_overlap(networks, theory):
    diagrams = {"sine_homoskedastic": theory(), "cubic_homoskedastic": networks(), "power plant": networks()}
    figure = diagram_array(diagrams, metrics=["mean_mse", "mean_energy"])
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    texts = [ax.title for ax in panels(figure)[:3]]
    texts += [label for ax in panels(figure)[-3:] for label in ax.get_xticklabels()]
    texts += [text for legend in figure.legends for text in legend.get_texts()]
    boxes = [text.get_window_extent(renderer) for text in texts if text.get_text()]
    assert not [(a, b) for k, a in enumerate(boxes) for b in boxes[:k] if a.overlaps(b)]
    assert all(box.x0 >= 0 and box.x1 <= figure.bbox.width and box.y0 >= 0 for box in boxes)


@pytest.mark.parametrize("shape", [(1, 6), (6, 1), (1, 1)])
def test_grids_of_one_row_or_column(networks, shape):
    diagram = networks(rhos=np.geomspace(1e-4, 0.5, shape[0]), gammas=np.geomspace(1e-3, 0.5, shape[1]))
    figure = diagram_array(diagram, metrics=["mean_mse", "nll"])
    assert image(panels(figure)[0]).get_array().shape == shape[::-1]
    figure.draw_without_rendering()


def test_cells_that_are_not_there_yet_have_no_colour(networks, unfinished, hatched_cells):
    diagram = networks()
    partly = unfinished(diagram, (diagram.rho > 0.5) & (diagram.seed >= 0) & (diagram.gamma > 0))
    figure = diagram_array(partly, metrics=["mean_mse"])
    (ax,) = panels(figure)
    missing = np.broadcast_to((diagram.rho.values > 0.5)[:, None], (9, 8))
    np.testing.assert_array_equal(np.ma.getmaskarray(image(ax).get_array()).T, missing)
    assert not (hatched_cells(ax, diagram.rho.values, diagram.gamma.values) & missing).any()
    figure.draw_without_rendering()


@pytest.mark.parametrize("statistic", ["mean", "std"])
def test_a_diagram_of_which_nothing_is_there(networks, unfinished, statistic):
    diagram = networks()
    figure = diagram_array(unfinished(diagram, diagram.steps > 0), ["mean_mse"], statistic=statistic)
    assert np.ma.getmaskarray(image(panels(figure)[0]).get_array()).all()
    figure.draw_without_rendering()


@pytest.mark.parametrize("value", [0.0, 1.0, np.inf, -1.0])
def test_metrics_that_are_one_number_everywhere(networks, value):
    diagram = networks()
    diagram["mean_mse"][:] = value
    figure = diagram_array(diagram, metrics=["mean_mse"])
    colours = image(panels(figure)[0]).get_array().compressed()
    assert np.ptp(colours) == 0 if colours.size else value != 1.0
    figure.draw_without_rendering()


def test_a_zero_has_the_lowest_colour(networks):
    diagram = networks()
    diagram["mean_energy"][0, 0] = 0.0
    (ax,) = panels(diagram_array(diagram, metrics=["mean_energy"]))
    shown = image(ax)
    assert not np.ma.getmaskarray(shown.get_array())[0, 0]
    np.testing.assert_allclose(shown.to_rgba(shown.get_array())[0, 0], shown.cmap(0.0))


def test_names_are_shown_as_they_are(networks, awkward, shown_texts):
    diagram = networks().rename(mean_mse=awkward)
    figure = diagram_array({awkward: diagram}, metrics=[awkward])
    figure.draw_without_rendering()
    assert awkward in shown_texts(figure)


def test_mistakes_are_named_in_one_line(networks, theory):
    with pytest.raises(InputError, match="at least one name"):
        diagram_array(networks(), metrics=[])
    with pytest.raises(InputError, match="'theory' holds one seed"):
        diagram_array({"networks": networks(), "theory": theory()}, statistic="std")


def test_drawing_leaves_the_users_settings_alone(networks, tmp_path):
    before = dict(mpl.rcParams)
    drawn(diagram_array(networks(), ["mean_mse"]), tmp_path)
    assert dict(mpl.rcParams) == before


def test_what_is_only_rounding_does_not_stretch_the_scale(networks):
    diagram = networks()
    diagram["precision_energy"][:] = 100.0
    diagram["precision_energy"][0] = 1e-40
    (ax,) = panels(diagram_array(diagram, metrics=["precision_energy"]))
    norm = image(ax).norm
    assert (norm.vmin, norm.vmax) == (pytest.approx(1e-22), pytest.approx(100.0))
