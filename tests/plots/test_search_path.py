"""The diagonal's figure: it has its panels, shows what it is given, and does not mind odd numbers."""

import matplotlib as mpl
import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import to_hex
from scipy.special import expit

from heteroscope.plots.search_path import diagonal_figure
from heteroscope.plots.style import PHASE_COLOURS, PHASE_NAMES, number_text, save_figure

PHASES = ["U_I", "U_I", "S", "S", "O_I", "O_II"]
LOGITS = np.array([0.0, 1.0, 2.0, 2.5, 4.0, 13.8])


def plain(**changes):
    x = np.linspace(-1, 1, 50)
    curve = np.sin(3 * x)
    scores = np.linspace(1.0, 0.2, 6)
    both = np.column_stack([scores, scores + 0.1])
    return {
        "x": x,
        "x_train": x[::5],
        "y_train": curve[::5] + 0.1,
        "mean": np.array([0 * x, curve, curve + 0.1]),
        "std": np.array([1 + 0 * x, 0.2 + 0 * x, 1e-3 + 0 * x]),
        "model": np.array(["underfit", "chosen", "overfit"]),
        "model_rho": np.array([0.5, 0.88, 1 - 1e-6]),
        "model_phase": np.array(["U_I", "S", "O_I"]),
        "true_mean": curve,
        "true_std": 0.2 + 0 * x,
        "rho": expit(LOGITS),
        "phase": np.array(PHASES),
        "nll": both,
        "mean_mse": both,
        "chosen": 2,
    } | changes


def drawn(figure, tmp_path):
    """The file's size: drawing runs the layout, and a layout that fails warns."""
    return save_figure(figure, tmp_path / "new" / "figure.png").stat().st_size


def test_three_models_above_three_scores(tmp_path):
    figure = diagonal_figure(plain())
    titles = [ax.get_title() for ax in figure.axes]
    assert [title.split(":")[0] for title in titles[:3]] == ["underfit", "chosen", "overfit"]
    assert PHASE_NAMES["O_I"] in titles[2]
    assert [ax.get_ylabel() for ax in figure.axes[3:]] == ["std, chosen and true", "NLL", "mean MSE"]
    assert [ax.get_xscale() for ax in figure.axes[4:]] == ["logit"] * 2
    assert [ax.get_yscale() for ax in figure.axes[4:]] == ["linear", "log"]
    assert drawn(figure, tmp_path) > 10_000


def test_bands_contain_the_mean_and_have_the_widths_they_claim():
    data = plain()
    for k, ax in enumerate(diagonal_figure(data).axes[:3]):
        middle = 25
        heights = []
        for band in ax.collections:
            vertices = band.get_paths()[0].vertices
            here = vertices[np.isclose(vertices[:, 0], data["x"][middle]), 1]
            assert here.min() <= data["mean"][k][middle] <= here.max()
            heights.append(np.ptp(here))
        np.testing.assert_allclose(heights, [4 * data["std"][k][middle], 2 * data["std"][k][middle]], atol=1e-12)


def test_phases_are_shaded_between_the_visited_points():
    ax = diagonal_figure(plain()).axes[4]
    colours = [to_hex(patch.get_facecolor()).upper() for patch in ax.patches]
    assert colours == [PHASE_COLOURS[phase] for phase in ("U_I", "S", "O_I", "O_II")]
    assert ax.patches[0].get_x() + ax.patches[0].get_width() == pytest.approx(expit(1.5))
    assert {text.get_text() for text in ax.texts} == {PHASE_NAMES[phase] for phase in ("U_I", "S", "O_I", "O_II")}


def test_the_star_is_at_the_chosen_point():
    data = plain()
    for ax, name in zip(diagonal_figure(data).axes[4:], ("nll", "mean_mse"), strict=True):
        (star,) = [line for line in ax.lines if line.get_marker() == "*"]
        assert star.get_xdata()[0] == data["rho"][2]
        assert star.get_ydata()[0] == data[name][2, 1]


def test_the_chosen_std_is_drawn_beside_the_truth():
    data = plain(std=np.array([1 + 0 * np.zeros(50), 0.3 + np.zeros(50), np.ones(50)]))
    std, truth = diagonal_figure(data).axes[3].lines
    np.testing.assert_array_equal(std.get_ydata(), data["std"][1])
    np.testing.assert_array_equal(truth.get_ydata(), data["true_std"])


def test_points_beside_the_line_are_stars_only():
    data = plain(on_diagonal=np.arange(6) != 2)
    for ax in diagonal_figure(data).axes[4:]:
        (star,) = [line for line in ax.lines if line.get_marker() == "*"]
        assert star.get_xdata()[0] == data["rho"][2]
        assert all(data["rho"][2] not in line.get_xdata() for line in ax.lines if line is not star)


def test_each_model_has_the_rows_that_it_was_trained_on():
    few = np.arange(10) < 4
    trained_on = np.array([np.full(10, True), np.full(10, True), few])
    shown = [ax.lines[-1].get_xdata() for ax in diagonal_figure(plain(trained_on=trained_on)).axes[:3]]
    assert [len(x) for x in shown] == [10, 10, 4]


def test_a_dataset_gives_the_same_figure_as_a_dictionary(tmp_path):
    data = plain()
    coords = {
        "rho": ("point", data["rho"]),
        "x": data["x"],
        "x_train": ("row", data["x_train"]),
        "model": data["model"],
    }
    dims = {"nll": ("point", "split"), "mean_mse": ("point", "split")}
    dims |= {"phase": "point", "mean": ("model", "x"), "std": ("model", "x"), "true_mean": "x", "true_std": "x"}
    dims |= {"model_rho": "model", "model_phase": "model", "y_train": "row"}
    dataset = xr.Dataset({k: (d, data[k]) for k, d in dims.items()}, coords=coords, attrs={"chosen": 2})
    paths = [save_figure(diagonal_figure(d), tmp_path / f"{n}.png") for n, d in enumerate((data, dataset))]
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize("explosion", [1e6, 1e30])
def test_an_exploding_std_does_not_flatten_the_data(explosion):
    data = plain()
    data["std"][2, 20:22] = explosion
    figure = diagonal_figure(data)
    low, high = figure.axes[2].get_ylim()
    assert high - low < 2 * np.ptp(data["y_train"])
    figure.draw_without_rendering()


@pytest.mark.parametrize("odd", [np.inf, np.nan, 1e200, -1e9])
@pytest.mark.parametrize("column", [0, 1])
def test_scores_that_are_off_the_scale_are_drawn(odd, column):
    scores = plain()["nll"].copy()
    scores[4:, column] = odd
    positive = np.abs(scores)
    figure = diagonal_figure(plain(nll=scores, mean_mse=positive))
    figure.draw_without_rendering()
    assert len(figure.axes) == 6


def test_one_point_one_phase_no_truth_constant_data():
    data = plain(rho=np.array([0.9]), phase=np.array(["S"]), chosen=0, y_train=np.zeros(10))
    data |= {name: np.array([[0.0, 0.0]]) for name in ("nll", "mean_mse")}
    del data["true_mean"], data["true_std"]
    figure = diagonal_figure(data)
    figure.draw_without_rendering()
    assert len(figure.axes) == 6


def test_two_models_are_two_panels():
    data = plain()
    data |= {name: data[name][:2] for name in ("mean", "std", "model", "model_rho", "model_phase")}
    figure = diagonal_figure(data)
    assert len(figure.axes) == 5
    figure.draw_without_rendering()


def test_drawing_leaves_the_users_settings_alone(tmp_path):
    before = dict(mpl.rcParams)
    drawn(diagonal_figure(plain()), tmp_path)
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        (20.0, "20"),
        (500.0, "500"),
        (1e-6, "10^{-6}"),
        (2.4e-5, r"2.4 \times 10^{-5}"),
        (1e5, "10^{5}"),
        (0.0, "0"),
    ],
)
def test_numbers_are_short(value, text):
    assert number_text(value) == text
