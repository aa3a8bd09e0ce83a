"""What the page is told: compared with the Dataset, and with scores computed another way."""

from base64 import b64decode

import numpy as np
import pytest

from heteroscope.core.errors import InputError
from heteroscope.distributions import metrics
from heteroscope.report import contents
from heteroscope.report.contents import page_contents
from heteroscope.report.measures import colour_limits
from tests.report.made_up import COARSE, network_diagram


@pytest.fixture(scope="module")
def diagram():
    return network_diagram(COARSE[::2], n_rows=200)


@pytest.fixture(scope="module")
def told(diagram):
    return page_contents([diagram])["diagrams"][0]


def test_scores_over_seeds_and_of_each_seed(diagram, told):
    slots = np.frombuffer(b64decode(told["values"]["crps"]), "<f4").reshape(2, 4, 6, 6)
    values = diagram.crps.values
    np.testing.assert_allclose(slots[1, 0], values[..., 1].mean(axis=2), rtol=1e-6)
    np.testing.assert_allclose(slots[1, 1], values[..., 1].std(axis=2), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(np.moveaxis(slots[0, 2:], 0, -1), values[..., 0], rtol=1e-6)


def test_predictions_are_in_the_users_units_at_thinned_rows(diagram, told):
    rows, x = told["rows"], diagram.x.values[:, 0]
    assert len(rows["x"]) == 256
    assert rows["x"] == sorted(rows["x"])
    assert {x[:200].min(), x[:200].max(), x[200:].min(), x[200:].max()} <= set(rows["x"])
    place = [int(np.argmin(np.abs(x - value))) for value in rows["x"]]
    np.testing.assert_allclose(rows["y"], 35 + 10 * diagram.y.values[place])
    packed = told["predictions"]["mean"]
    codes = np.frombuffer(b64decode(packed["codes"]), "<u2").reshape(6, 6, 2, 256)
    low, high = (np.frombuffer(b64decode(packed[end]), "<f4").reshape(6, 6, 2, 1) for end in ("low", "high"))
    expected = 35 + 10 * diagram["mean"].values[..., place].astype(float)
    np.testing.assert_allclose(low + codes / 65534 * (high - low), expected, atol=1e-5 * np.ptp(expected))


def test_calibration_is_the_share_below_each_quantile(diagram, told):
    shares = np.frombuffer(b64decode(told["calibration"]), "<u1").reshape(2, 6, 6, 2, 19) / 250
    for i, j, seed in [(0, 0, 0), (3, 2, 1), (5, 1, 1)]:
        one = diagram.isel(rho=i, gamma=j, seed=seed)
        test = one.row_split.values == "test"
        forecast = metrics.pit(*(one[name].values[test].astype(float) for name in ("y", "mean", "std")))
        expected = [np.mean(forecast <= level) for level in np.linspace(0.05, 0.95, 19)]
        np.testing.assert_allclose(shares[1, i, j, seed], expected, atol=0.0021)


def test_cells_are_even_in_the_logit(diagram, told):
    rho = told["rho"]
    np.testing.assert_allclose(1 / (1 + np.exp(-np.array(rho["logits"]))), diagram.rho.values, rtol=1e-9)
    np.testing.assert_allclose(
        np.diff(rho["edges"])[1:-1],
        np.diff(np.array(rho["logits"]))[1:] / 2 + np.diff(np.array(rho["logits"]))[:-1] / 2,
    )
    assert all(low < z < high for low, z, high in zip(rho["edges"][:-1], rho["logits"], rho["edges"][1:], strict=True))


def test_more_models_mean_fewer_rows_but_no_larger_page(diagram, monkeypatch):
    monkeypatch.setattr(contents, "PREDICTION_BYTES", 20_000)
    rows = page_contents([diagram])["diagrams"][0]["rows"]
    assert len(rows["y"]) == 2 * (20_000 // (6 * 6 * 2 * 2 * 2) // 2)  # 16 bits each for a mean and a std
    assert sorted(set(rows["split"])) == [0, 1]


def test_colour_limits_are_robust_and_never_empty():
    values = np.concatenate([np.linspace(1, 2, 1000), [1e9, 1e-9, np.nan, -1.0]])
    low, high = colour_limits(values, "log", (1e-6, 1e6))
    assert 1 < low < 1.05
    assert 1.95 < high < 2
    for odd in (np.array([]), np.full(4, np.nan), np.zeros(3), np.full(5, 0.3), np.full(5, 1e-30)):
        for scale in ("log", "asinh"):
            low, high = colour_limits(odd, scale, (1e-6, 1e6))
            assert low < high
            assert low > 0 or scale == "asinh"


def test_a_field_cell_without_scores_has_no_model(diagram):
    broken = diagram.copy(deep=True)
    broken["nll"][3, 3, 0] = np.nan
    packed = page_contents([broken])["diagrams"][0]["predictions"]["std"]
    codes = np.frombuffer(b64decode(packed["codes"]), "<u2").reshape(6, 6, 2, 256)
    assert (codes[3, 3, 0] == 65535).all()
    assert (codes[3, 3, 1] < 65535).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.drop_vars("phase"), "no 'phase'"),
        (lambda d: d.isel(seed=0), "no 'seed'"),
        (lambda d: d.isel(rho=[]), "no values along 'rho'"),
    ],
)
def test_what_is_no_diagram_is_refused_in_one_line(diagram, change, message):
    with pytest.raises(InputError, match=message):
        page_contents([change(diagram)])
