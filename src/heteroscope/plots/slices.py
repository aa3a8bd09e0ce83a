"""Draw metrics along rho = 1 - gamma: one row per metric, one column per diagram, one thin line per seed."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Float
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator
from scipy.special import expit, logit

from heteroscope.core import InputError
from heteroscope.diagrams import S_ADAPTS, S_CONSTANT, diagonal_cells
from heteroscope.plots.cells import Cells, Diagrams, by_name, by_seed, read_cells, shown_split, summarised
from heteroscope.plots.panels import Margins, legend_below, legend_height, panel_grid, tinted
from heteroscope.plots.stripes import STRENGTH, Stripe, find_stripes, shade
from heteroscope.plots.style import (
    BLUE,
    LEGEND_NAMES,
    PHASE_COLOURS,
    STAR,
    house_style,
    literal,
    logit_axis,
    metric_name,
    plain_log_axis,
)

SLICE_METRICS = ("mean_mse", "std_mse")
PANEL = (2.0, 1.45)  # width and height in inches
GAP = 0.5  # inches between columns, with room for tick labels
TITLE_WIDTH = 26  # letters per line of a panel's title
DECADES = 6  # a score's axis ends at most this many decades above its lowest value
SCORES = ("mean_mse", "std_mse", "ece", "nll", "crps")  # metrics of which lower is better
BEFORE_CHANGE = 0.5  # part of the axis before the first change of phase, as a share of the rest
CURVED = 30.0  # a metric with negative values and a wider range than this has an axis that is linear near zero only

SEED: dict[str, Any] = {"color": BLUE, "linewidth": 0.6, "alpha": 0.55}
MEAN: dict[str, Any] = {"color": BLUE, "linewidth": 1.8}


class _Slice(NamedTuple):
    """One metric along the diagonal."""

    rho: Float[np.ndarray, " point"]
    kind: list[str]
    by_seed: Float[np.ndarray, "point seed"]
    mean: Float[np.ndarray, " point"]


def diagonal_slices(diagrams: Diagrams, metrics: Sequence[str] = SLICE_METRICS, split: str = "test") -> Figure:
    """Draw metrics at the cells on rho = 1 - gamma; a star marks the lowest mean over seeds of a score.

    The background has the colours of the phases that most seeds are in. A line ends where a metric has no value.

    Parameters
    ----------
    diagrams : xarray.Dataset or mapping of names to Datasets
        What `phase_diagram` or `field_diagram` returned.
    metrics : sequence of str, default=("mean_mse", "std_mse")
        Variables of the diagrams.
    split : {"test", "train"}, default="test"
        Rows on which the metrics were measured; a diagram without test rows shows its training rows and says so.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if not metrics:
        raise InputError("there is no metric to draw: give at least one name, such as 'mean_mse'")
    named = by_name(diagrams)
    legend = _legend(any(diagram.sizes["seed"] > 1 for diagram in named.values()))
    shown = {kind for diagram in named.values() for kind in read_cells(diagram).kind.flat}
    if S_ADAPTS in shown:
        tints = {kind: tinted(PHASE_COLOURS[kind], STRENGTH) for kind in (S_CONSTANT, S_ADAPTS)}
        legend |= {LEGEND_NAMES[kind]: Patch(color=tint, linewidth=0) for kind, tint in tints.items()}
    titles = [_title(name, diagram, split) for name, diagram in named.items()]
    with house_style():
        figure, axes = _panels(len(metrics), titles, legend)
        for column, (name, diagram), title in zip(axes.T, named.items(), titles, strict=True):
            cells = read_cells(diagram)
            for ax, metric in zip(column, metrics, strict=True):
                _draw(ax, _slice(name, diagram, cells, metric, split), metric in SCORES)
                ax.tick_params(length=2.5, pad=2)
            column[0].set_title(title, pad=16, fontsize=9)
            column[-1].set_xlabel(r"$\rho = 1 - \gamma$", labelpad=1)
        for row, metric in zip(axes, metrics, strict=True):
            row[0].set_ylabel(literal(metric_name(metric)))
        legend_below(figure, legend)
    return figure


def _title(name: str, diagram: xr.Dataset, split: str) -> str:
    title = literal(name, TITLE_WIDTH)
    return title if shown_split(diagram, split) == split else f"{title}\n(training rows)"


def _panels(n_rows: int, titles: list[str], legend: dict[str, Artist]) -> tuple[Figure, np.ndarray]:
    left, right = 0.62, 0.12
    width = left + len(titles) * (PANEL[0] + GAP) - GAP + right
    lines = max(title.count("\n") + 1 for title in titles)
    margins = Margins(left, right, 0.4 + legend_height(width, legend), 0.3 + 0.16 * lines)
    return panel_grid(n_rows, len(titles), PANEL, ([GAP] * (len(titles) - 1), 0.42), margins)


def _slice(name: str, diagram: xr.Dataset, cells: Cells, metric: str, split: str) -> _Slice:
    if not (on := diagonal_cells(diagram)):
        raise InputError(f"no cell of {name!r} has rho = 1 - gamma: choose rhos and gammas that mirror each other")
    rho, gamma = np.transpose(on)
    return _Slice(
        rho=cells.rho[rho],
        kind=cells.kind[rho, gamma].tolist(),
        by_seed=by_seed(diagram, metric, split).values[rho, gamma],
        mean=summarised(diagram, metric, split)[rho, gamma],
    )


def _draw(ax: Axes, found: _Slice, is_score: bool) -> None:
    stripes = find_stripes(found.rho, found.kind)
    logit_axis(ax, "x", _zoomed(stripes), stripes[-1].high, n_ticks=6)
    shade(ax, stripes, narrow=0.1)
    _scale(ax, found, is_score)
    one_point: dict[str, Any] = {"marker": "o", "markersize": 3} if len(found.rho) == 1 else {}
    if found.by_seed.shape[1] > 1:
        for values in found.by_seed.T:
            ax.plot(found.rho, values, **SEED, **one_point)
    ax.plot(found.rho, found.mean, zorder=3, **MEAN, **one_point)
    if is_score and np.isfinite(found.mean).any():
        best = int(np.nanargmin(found.mean))
        ax.plot(found.rho[best], found.mean[best], markersize=10, clip_on=False, zorder=5, **STAR)


def _zoomed(stripes: Sequence[Stripe]) -> float:
    """Return where the axis begins: not far below the first change of phase, if there is one."""
    if len(stripes) < 2:
        return stripes[0].low
    change, end = logit(stripes[0].high), logit(stripes[-1].high)
    return float(max(expit(change - BEFORE_CHANGE * (end - change)), stripes[0].low))


def _scale(ax: Axes, found: _Slice, is_score: bool) -> None:
    """Scale the y axis: logarithmic, or with negative values linear, or linear near zero only if the range is wide."""
    known = found.by_seed[np.isfinite(found.by_seed)]
    if not len(known):
        return
    low, high = float(known.min()), float(known.max())
    if low > 0:
        plain_log_axis(ax, low / 1.4, (min(high, low * 10**DECADES) if is_score else high) * 1.4)
    elif high - low > CURVED:
        ax.set_yscale("symlog", linthresh=1.0)
        ax.yaxis.set_minor_locator(NullLocator())


def _legend(several_seeds: bool) -> dict[str, Artist]:
    star = Line2D([], [], markersize=9, **STAR)
    if not several_seeds:
        return {"lowest": star}
    return {"one seed": Line2D([], [], **SEED), "mean over seeds": Line2D([], [], **MEAN), "lowest mean": star}
