"""Turn diagrams into the page's data: numbers, names and packed arrays, ready to draw."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float, Shaped
from scipy.special import logit, ndtr

from heteroscope.core import InputError, Status, cell_borders
from heteroscope.diagrams import KINDS, S_ADAPTS, S_CONSTANT, diagonal_cells, kinds, majority_kind, std_over_seeds
from heteroscope.phases import Phase
from heteroscope.plots import PHASE_COLOURS
from heteroscope.report.measures import MEASURES, Measure, colour_limits
from heteroscope.report.packing import pack_bytes, pack_floats, pack_log_rows, pack_rows, pack_shares

ROWS = 256  # most rows of a diagram, all splits together, at which the page draws each model
PREDICTION_BYTES = 3_000_000  # most bytes for mean and std of all models at these rows, before base64 adds a third
LEVELS = np.arange(1, 20) / 20  # probabilities at which the calibration curve is drawn
ABSENT = 255  # code of the phase and status of a model that has not been trained yet
# Variables and dimensions that a diagram must have.
NEEDED = ("phase", "log_precision_spread", "status", "mean", "std", "x", "y", "row_split")
S_MEANINGS = {S_CONSTANT: "the std is the same for all rows", S_ADAPTS: "the std varies with the inputs"}
AXES = ("rho", "gamma", "seed", "split", "row", "feature")


def page_contents(diagrams: list[xr.Dataset]) -> dict[str, Any]:
    """Return everything that the page shows, ready for JSON."""
    ready = [_checked(diagram) for diagram in diagrams]
    measures = [measure for measure in MEASURES if any(measure.name in diagram for diagram in ready)]
    return {
        "phases": [{"name": str(p), "colour": PHASE_COLOURS[p], "meaning": _meaning(p)} for p in KINDS],
        "statuses": [{"name": str(status), "meaning": status.meaning} for status in Status],
        "measures": [{key: getattr(m, key) for key in ("name", "label", "group", "what", "scale")} for m in measures],
        "levels": LEVELS.tolist(),
        "diagrams": [_diagram(diagram, measures, ready) for diagram in ready],
    }


def _meaning(kind: str) -> str:
    """Return what a model of this kind looks like."""
    if kind in S_MEANINGS:
        return f"{Phase.S.meaning}; {S_MEANINGS[kind]}"
    return Phase(kind).meaning


def _checked(diagram: xr.Dataset) -> xr.Dataset:
    """Return the diagram with its dimensions in order, or raise an error if something is missing."""
    missing = [name for name in AXES if name not in diagram.dims] + [name for name in NEEDED if name not in diagram]
    if missing:
        raise InputError(f"the diagram has no {missing[0]!r}: pass what phase_diagram or field_diagram returned")
    empty = [name for name in ("rho", "gamma", "seed", "split") if not diagram.sizes[name]]
    if empty:
        raise InputError(f"the diagram has no values along {empty[0]!r}: there is nothing to show")
    return diagram.transpose(*AXES, ...)


def _diagram(diagram: xr.Dataset, measures: list[Measure], all_diagrams: list[xr.Dataset]) -> dict[str, Any]:
    """Return the data of one diagram; shared ranges of colours come from all diagrams."""
    chosen = _thinned_rows(diagram)
    phase, status = _codes(kinds(diagram), KINDS), _codes(diagram["status"], Status)
    own = [measure for measure in measures if measure.name in diagram]
    splits = [str(split) for split in diagram["split"].values]
    return {
        "source": str(diagram.attrs.get("source", "networks")),
        "details": _details(diagram),
        "columns": [str(name) for name in diagram["feature"].values],
        "rho": _axis(diagram["rho"].values),
        "gamma": _axis(diagram["gamma"].values),
        "seeds": [int(seed) for seed in diagram["seed"].values],
        "splits": splits,
        "values": {measure.name: pack_floats(_slots(diagram[measure.name])) for measure in own},
        "limits": {m.name: [_limits(m, s, all_diagrams if m.shared else [diagram]) for s in splits] for m in own},
        "phase": pack_bytes(_with_majority(phase, _codes(majority_kind(diagram), KINDS))),
        "status": pack_bytes(_with_majority(status, _most_common(status))),
        "n_absent": int(np.sum(status == ABSENT)),
        "diagonal": diagonal_cells(diagram),
        "start": _start(diagram),
        "fold": _fold(diagram),
        "rows": _rows(diagram, chosen),
        "predictions": _predictions(diagram, chosen),
        "calibration": pack_shares(_calibration(diagram)),
    }


def _axis(values: Float[np.ndarray, " value"]) -> dict[str, Any]:
    """Return the values, their logits and the logits of the cells' borders, which are half way between the values."""
    z = logit(values)
    return {"values": values.tolist(), "logits": z.tolist(), "edges": cell_borders(z).tolist()}


def _codes(names: xr.DataArray, order: Iterable[str]) -> Shaped[np.ndarray, "..."]:
    """Return the index of each name in `order`; ABSENT for the empty name of a model that is not trained yet."""
    values = names.values.astype(str)
    codes = np.full(values.shape, ABSENT)
    for code, name in enumerate(order):
        codes[values == str(name)] = code
    return codes


def _most_common(codes: Shaped[np.ndarray, "rho gamma seed"]) -> Shaped[np.ndarray, "rho gamma"]:
    """Return the most frequent status code over seeds."""
    counts = np.stack([np.sum(codes == code, axis=-1) for code in range(len(Status))])
    return np.where(counts.sum(axis=0) > 0, counts.argmax(axis=0), ABSENT)


def _with_majority(
    codes: Shaped[np.ndarray, "rho gamma seed"], majority: Shaped[np.ndarray, "rho gamma"]
) -> Shaped[np.ndarray, "slot rho gamma"]:
    """Return one slot per seed; if there are several seeds, preceded by two slots for their mean and std."""
    slots = np.moveaxis(codes, -1, 0)
    return np.concatenate([np.stack([majority, majority]), slots]) if len(slots) > 1 else slots


def _slots(values: xr.DataArray) -> Float[np.ndarray, "split slot rho gamma"]:
    """Return the same slots for a measure: mean and std over the seeds that have a value, then each seed."""
    values = _finite(values)
    over = [values.mean("seed"), std_over_seeds(values)] if values.sizes["seed"] > 1 else []
    slots = np.stack([part.values for part in (*over, *(values.isel(seed=k) for k in range(values.sizes["seed"])))])
    return np.moveaxis(slots, -1, 0) if "split" in values.dims else slots[None]


def _finite(values: xr.DataArray) -> xr.DataArray:
    """Replace infinities by NaN."""
    return values.astype(float).where(np.isfinite(values.astype(float)))


def _limits(measure: Measure, split: str, diagrams: list[xr.Dataset]) -> dict[str, Any]:
    """Return one range of colours for the values of all seeds and their mean, and one for their std over seeds."""
    found = [_finite(diagram[measure.name]) for diagram in diagrams if measure.name in diagram]
    found = [each.sel(split=split) if "split" in each.dims else each for each in found if _has(each, split)]
    values = np.concatenate([each.values.ravel() for each in found])
    spreads = [std_over_seeds(each).values.ravel() for each in found if each.sizes["seed"] > 1]
    return {
        "value": colour_limits(values, measure.scale, measure.window),
        "spread": colour_limits(np.concatenate([np.empty(0), *spreads]), "log", (1e-6, 1e6)),
    }


def _has(values: xr.DataArray, split: str) -> bool:
    return "split" not in values.dims or split in values["split"].values


def _start(diagram: xr.Dataset) -> tuple[int, int]:
    """Return the cell that the page selects first: the lowest NLL on the diagonal, or anywhere if no cell is on it."""
    if "nll" not in diagram:
        return diagram.sizes["rho"] // 2, diagram.sizes["gamma"] // 2
    score = _finite(diagram["nll"]).isel(split=-1).mean("seed").values
    score = np.where(np.isfinite(score), score, np.inf)
    cells = diagonal_cells(diagram) or list(np.ndindex(score.shape))
    row, column = min(cells, key=lambda cell: score[cell])
    return int(row), int(column)


def _fold(diagram: xr.Dataset) -> list[tuple[float, float]]:
    """Return the fold as a list of (logit rho, logit gamma)."""
    if "fold_rho" not in diagram:
        return []
    rho, gamma = diagram["fold_rho"].values, diagram["fold_gamma"].values
    inside = (rho > 0) & (rho < 1)
    return [(float(logit(r)), float(logit(g))) for r, g in zip(rho[inside], gamma[inside], strict=True)]


def _details(diagram: xr.Dataset) -> list[tuple[str, str]]:
    """Return the diagram's attributes and the size of its grid as (name, text)."""
    facts = [(str(name).replace("_", " "), str(value)) for name, value in diagram.attrs.items() if str(value) != ""]
    n_seeds = diagram.sizes["seed"]
    seeds = f", {n_seeds} seeds" if n_seeds > 1 else ""
    facts.append(("grid", f"{diagram.sizes['rho']} \N{MULTIPLICATION SIGN} {diagram.sizes['gamma']} cells{seeds}"))
    return facts


def _thinned_rows(diagram: xr.Dataset) -> Shaped[np.ndarray, " row"]:
    """Return evenly spaced rows of each split, ordered by x if there is one column, few enough for the page."""
    splits = diagram["row_split"].values.astype(str)
    names = sorted(set(splits))
    models = diagram.sizes["rho"] * diagram.sizes["gamma"] * diagram.sizes["seed"]
    limit = max(2, min(ROWS, PREDICTION_BYTES // (4 * models)) // max(len(names), 1))
    order = np.argsort(diagram["x"].values[:, 0], kind="stable") if _is_line(diagram) else np.arange(len(splits))
    chosen = []
    for name in names:
        rows = order[splits[order] == name]
        chosen.append(rows[np.round(np.linspace(0, len(rows) - 1, min(limit, len(rows)))).astype(int)])
    together = np.concatenate([np.empty(0, int), *chosen])
    return together[np.argsort(diagram["x"].values[together, 0], kind="stable")] if _is_line(diagram) else together


def _is_line(diagram: xr.Dataset) -> bool:
    return bool(diagram.sizes["feature"] == 1)


def _rows(diagram: xr.Dataset, chosen: Shaped[np.ndarray, " row"]) -> dict[str, Any]:
    """Return the rows at which models are drawn, in the user's units."""
    kept = diagram["row_split"].values.astype(str)
    splits = [str(split) for split in diagram["split"].values]
    return {
        "x": _plain(diagram["x"].values[chosen, 0]) if _is_line(diagram) else None,
        "y": _plain(_centre(diagram) + _scale(diagram) * diagram["y"].values[chosen]),
        "split": [splits.index(name) for name in kept[chosen]],
        "kept": [int(np.sum(kept == name)) for name in splits],
        "target": str(diagram.attrs.get("target", "y")),
    }


def _plain(values: Float[np.ndarray, "_"]) -> list[float | None]:
    """Replace NaN and infinities by None: JSON has neither."""
    return [float(value) if np.isfinite(value) else None for value in values]


def _predictions(diagram: xr.Dataset, chosen: Shaped[np.ndarray, " row"]) -> dict[str, Any]:
    """Return mean and std of every model at the chosen rows, in the user's units."""
    scored = _scored(diagram)
    mean, std = (np.where(scored, diagram[name].values[..., chosen], np.nan).astype(float) for name in ("mean", "std"))
    return {
        "mean": pack_rows(_centre(diagram) + _scale(diagram) * mean),
        "std": pack_log_rows(_scale(diagram) * std),
    }


def _scored(diagram: xr.Dataset) -> Bool[np.ndarray, "rho gamma seed 1"]:
    """Return which models have a score; the others, such as those beyond the fold, are not drawn."""
    if "nll" not in diagram:
        return np.ones((*(diagram.sizes[name] for name in AXES[:3]), 1), bool)
    return np.isfinite(diagram["nll"].values).any(axis=-1, keepdims=True)


def _centre(diagram: xr.Dataset) -> float:
    return float(diagram.attrs.get("target_centre", 0.0))


def _scale(diagram: xr.Dataset) -> float:
    return float(diagram.attrs.get("target_scale", 1.0))


def _calibration(diagram: xr.Dataset) -> Float[np.ndarray, "split rho gamma seed level"]:
    """Return the share of rows with Phi((y - mean) / std) <= level for each model and split; NaN without rows."""
    kept, scored = diagram["row_split"].values.astype(str), _scored(diagram)
    y, mean, std = (diagram[name].values for name in ("y", "mean", "std"))
    shares = np.full((diagram.sizes["split"], *scored.shape[:3], len(LEVELS)), np.nan)
    for place, split in enumerate(diagram["split"].values):
        rows = np.flatnonzero(kept == str(split))
        for row in range(len(scored) if len(rows) else 0):  # one line of the grid at a time saves memory
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                forecast = ndtr((y[rows] - mean[row][..., rows].astype(float)) / std[row][..., rows])
            known = scored[row, ..., 0] & np.isfinite(forecast).all(axis=-1)
            below = np.stack([(forecast <= level).mean(axis=-1) for level in LEVELS], axis=-1)
            shares[place, row] = np.where(known[..., None], below, np.nan)
    return shares
