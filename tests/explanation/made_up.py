"""A model whose drivers are known, made without training: the first input drives its mean, the second its std."""

import numpy as np
import xarray as xr
from scipy.special import expit

from heteroscope.data.scaling import Scaling
from heteroscope.explanation import (
    EffectCurve,
    Explanation,
    Inputs,
    ModelCard,
    calibration,
    effect_curves,
    far_rows,
    group_features,
    held_out_forecasts,
    missed_rows,
    most_important,
    permutation_importance,
    slope_sizes,
)
from heteroscope.explanation.target_units import target_forecast
from heteroscope.networks import FittedEnsemble, Layer, Params
from heteroscope.phases import describe_forecasts, judge_anyones

N = 400
NAMES = ["width", "noisiness", "red", "green", "nothing"]
COLUMNS = {"width": ["width"], "noisiness": ["noisiness"], "colour": ["red", "green"], "nothing": ["nothing"]}
SLOPE = 1.7  # of the mean by the first input, in units of the target


def ensemble(n_members=2, **changes):
    """Networks without hidden layers: mean = SLOPE * width, std rises with noisiness; members differ a little."""
    shift = np.linspace(-0.05, 0.05, n_members) if n_members > 1 else np.zeros(1)
    mean, precision = np.zeros((n_members, 5, 1), np.float32), np.zeros((n_members, 5, 1), np.float32)
    mean[:, 0, 0] = SLOPE / 2.0 + shift
    mean[:, 2, 0] = 0.1  # of red
    precision[:, 1, 0] = -2.0 + shift
    bias = np.zeros((n_members, 1), np.float32)
    members = Params((Layer(mean, bias),), (Layer(precision, bias + 2.0),))
    ones = np.ones(5)
    scaling = Scaling(np.zeros(5), ones, 10.0, 2.0, -3.0 * ones, 3.0 * ones)
    return FittedEnsemble(members, scaling, "silu", 1.0)._replace(**changes)


def inputs(n=N, seed=0, model=None):
    """Rows whose targets are drawn from the model."""
    random = np.random.default_rng(seed)
    x = random.uniform(-1.5, 1.5, (n, 5))
    red = random.integers(0, 2, n)
    x[:, 2], x[:, 3] = red, 1 - red
    model = model or ensemble()
    prediction = model.predict(x)
    forecast = target_forecast(model, prediction.mean, prediction.std)
    y = forecast.rvs(random_state=seed)
    return Inputs(x, y, np.ones(n), np.arange(n), group_features(NAMES, COLUMNS))


def path(n=7, chosen=4):
    """A search along the diagonal with one point off it."""
    t = np.linspace(-1.0, 12.0, n)
    gamma = -t
    gamma[chosen] = 1.0
    phase = np.array(["U_I", "U_I", "S", "S", "S", "O_II", "O_I"])
    columns = {
        "rho": expit(t),
        "gamma": expit(gamma),
        "logit_rho": t,
        "logit_gamma": gamma,
        "phase": phase,
        "max_steps": np.where(np.arange(n) % 2, 1000, 250),
        "n_folds": np.where(np.arange(n) == chosen, 5, 1),
        "std_scale": np.linspace(0.9, 2.0, n),
        "held_out_loss": np.linspace(1.0, 0.1, n),
    }
    return xr.Dataset({k: ("point", v) for k, v in columns.items()}, attrs={"chosen": chosen, "loss": "NLL"})


def many_categories(n=30):
    """The effect of an input with so many categories, the last of which has the highest mean."""
    names, mean = np.array([f"a town with a long name {k}" for k in range(n)]), np.linspace(1.0, 4.0, n)
    return EffectCurve("town", names, mean, mean - 0.5, mean + 0.5, 0.1 * mean, 0.05 * mean, 0.2 * mean)


def explanation(target="price [EUR]", names=NAMES, columns=COLUMNS, std_factor=1.0, lognormal=False):
    """Everything that a page shows; `std_factor` spoils the forecasts."""
    model = ensemble()
    if lognormal:
        model = model._replace(scaling=model.scaling._replace(y_centre=1.0, y_scale=0.4), lognormal=True)
    rows = inputs(model=model)
    groups = group_features(names, columns)
    rows = rows._replace(groups=groups)
    prediction = model.predict(rows.x)
    forecast = target_forecast(model, prediction.mean, std_factor * prediction.std)
    held = held_out_forecasts(rows.y, forecast, rows.weight, rows.number)
    importance = permutation_importance(model, rows, n_repeats=3)
    return Explanation(
        diagnosis=describe_forecasts(judge_anyones(rows.y, forecast)),
        target_name=target,
        card=ModelCard({"Data": [("target", target)], "Versions": [("Python", "3")]}, ["Nothing is known elsewhere."]),
        rows=held,
        calibration=calibration(held),
        missed=missed_rows(held),
        path=path(),
        importance=importance,
        slopes=slope_sizes(model, rows),
        effects=effect_curves(model, rows, most_important(importance, 3), names),
        far=far_rows(rows, model.scaling),
    )
