"""Turn an explanation into the data of its page: numbers, names and texts, ready to draw."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Shaped

from heteroscope.explanation import EffectCurve, Explanation
from heteroscope.phases import Phase
from heteroscope.plots import PHASE_COLOURS

MOST_DOTS = 1500  # held-out rows that are drawn
MOST_INTERVALS = 48  # rows whose intervals are drawn
DIGITS = 6  # significant digits of a number


def fit_contents(found: Explanation) -> dict[str, Any]:
    """Return everything that the page shows, ready for JSON."""
    return {
        "target": found.target_name,
        "phases": {str(p): {"colour": PHASE_COLOURS[p], "meaning": p.meaning} for p in Phase},
        "verdict": _verdict(found),
        "rows": None if found.rows is None else _rows(found.rows),
        "calibration": None if found.calibration is None else _calibration(found.calibration),
        "path": None if found.path is None else _path(found.path),
        "drivers": None if found.importance is None else _drivers(found),
        "effects": [_effect(curve) for curve in found.effects],
        "missed": [_plain(row._asdict()) for row in found.missed],
        "far": None if found.far is None else [_plain(row._asdict()) for row in found.far],
        "facts": [[section, [list(pair) for pair in pairs]] for section, pairs in found.card.facts.items()],
        "limits": list(found.card.limits),
    }


def _verdict(found: Explanation) -> dict[str, Any]:
    """Return the diagnosis: the answer, the table of scores, what to do, and the networks."""
    diagnosis = found.diagnosis
    answer, *why = diagnosis.answer
    _, *advice = diagnosis.advice
    return {
        "trust": "not known" if diagnosis.verdict is None else str(diagnosis.verdict.trust),
        "answer": answer,
        "why": why,
        "scores": diagnosis.score_cells,
        "advice": advice,
        "networks": list(diagnosis.networks),
        "phase": diagnosis.phase,
    }


def _rows(rows: xr.Dataset) -> dict[str, Any]:
    """Return the rows to draw as dots and, of these, those to draw as intervals."""
    n = rows.sizes["row"]
    shown = rows.isel(row=_evenly(n, MOST_DOTS))
    some = _evenly(shown.sizes["row"], MOST_INTERVALS)
    order = some[np.argsort(shown["mean"].values[some], kind="stable")]
    columns = [name for name in ("y", "mean", "std", "lower", "upper", "log_mean", "log_std") if name in shown]
    return {
        "n": n,
        "numbers": shown["number"].values.tolist() if "number" in shown else None,
        "intervals": order.tolist(),
        **{name: _numbers(shown[name].values) for name in columns},
    }


def _evenly(n: int, most: int) -> Shaped[np.ndarray, " _"]:
    """Return at most so many of n places, evenly from the first to the last."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(int))


def _calibration(found: xr.Dataset) -> dict[str, Any]:
    """Return the curves and histograms of all rows and of the quarters."""
    parts = []
    for name in found["part"].values:
        part = found.sel(part=name)
        parts.append(
            {"name": str(name), **{str(key): _numbers(values.values) for key, values in part.data_vars.items()}}
        )
    return {"levels": _numbers(found["level"].values), "bins": _numbers(found["bin"].values), "parts": parts}


def _path(path: xr.Dataset) -> dict[str, Any]:
    """Return the points of the search."""
    columns = ("logit_rho", "logit_gamma", "max_steps", "n_folds", "std_scale", "held_out_loss")
    return {
        **{name: _numbers(path[name].values) for name in columns},
        "phase": [str(name) for name in path["phase"].values],
        "chosen": path.attrs["chosen"],
        "loss": path.attrs["loss"],
    }


def _drivers(found: Explanation) -> dict[str, Any]:
    """Return importance and slopes as [average, lowest, highest], by score and by what is driven."""
    importance, slopes = found.importance, found.slopes
    if importance is None or slopes is None:  # both are computed together
        return {}
    measures: dict[str, dict[str, Any]] = {
        score: {driven: _spread(importance[score].sel(driven=driven), "repeat") for driven in ("mean", "std")}
        for score in ("crps", "nll")
    }
    measures["slope"] = {"mean": _spread(slopes["mean"], "member"), "std": _spread(slopes["log_std"], "member")}
    return {
        "inputs": [str(name) for name in importance["input"].values],
        "n_rows": importance.attrs["n_rows"],
        "members": slopes.sizes["member"],
        "repeats": importance.sizes["repeat"],
        "base": {score: _number(importance.attrs[score]) for score in ("crps", "nll")},
        "measures": measures,
        "logged": bool(slopes.attrs["logged"]),
        "signs": {"mean": _numbers(slopes["mean_sign"].values), "std": _numbers(slopes["log_std_sign"].values)},
    }


def _spread(values: xr.DataArray, over: str) -> list[list[float | None]]:
    """Return the average, the lowest and the highest value of each input."""
    parts = np.stack([values.mean(over).values, values.min(over).values, values.max(over).values], axis=1)
    return [_numbers(part) for part in parts]


def _effect(curve: EffectCurve) -> dict[str, Any]:
    """Return the curves of one input; its values are numbers, or names of categories."""
    numeric = curve.values.dtype.kind == "f"
    values: Sequence[Any] = _numbers(curve.values) if numeric else [str(value) for value in curve.values]
    columns = ("mean", "mean_low", "mean_high", "std", "std_low", "std_high")
    return {
        "input": curve.input,
        "numeric": numeric,
        "values": values,
        **{name: _numbers(getattr(curve, name)) for name in columns},
    }


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    """Return fields with rounded numbers."""
    return {name: _number(value) if isinstance(value, float) else value for name, value in fields.items()}


def _numbers(values: Shaped[np.ndarray, "..."]) -> Any:
    """Return numbers as lists with few digits; null where they are not finite."""
    return _rounded(values.tolist())


def _rounded(values: Any) -> Any:
    """Return a number, or numbers in lists, with few digits."""
    return [_rounded(value) for value in values] if isinstance(values, list) else _number(values)


def _number(value: float | int) -> float | int | None:
    """Return a number with few digits; None if it is not finite."""
    if isinstance(value, int):
        return value
    return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None
