"""Draw one model of a diagram: its fit if there is one input, else its residuals against its std."""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from heteroscope.diagrams import kinds
from heteroscope.phases import Phase
from heteroscope.plots.style import GREY, INK, PHASE_COLOURS, PHASE_NAMES, number_text

RUNAWAY_LIMIT = r"runaway: tends to mean $= y$, std $= 0$"
LIMIT_TEXT: dict[str, Any] = {"ha": "right", "va": "top", "color": GREY, "fontsize": 7, "zorder": 5}
LIMIT_TEXT["bbox"] = {"facecolor": "white", "alpha": 0.85, "linewidth": 0, "pad": 1}
SHOWN = 400  # most data points that are drawn
WINDOW = 60  # data points of the close-up of an overfit field
HEADROOM = 0.15  # space above and below the data, as a share of their range; bands may be cut off
BANDS = ((2, 0.18), (1, 0.28))  # width in std and opacity of each band

TRAIN: dict[str, Any] = {"linestyle": "", "marker": "o", "color": GREY, "markersize": 2.2, "markerfacecolor": "none"}
TRAIN |= {"markeredgewidth": 0.5, "zorder": 2}
TEST: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 2.4, "markeredgewidth": 0, "zorder": 3}
EQUAL: dict[str, Any] = {"color": INK, "linewidth": 0.8, "zorder": 1}


class PlottedFit(NamedTuple):
    """Predictions of one model of one cell on the rows that the diagram keeps; NaN for a runaway of the theory."""

    kind: str
    rho: float
    gamma: float
    x: Float[np.ndarray, "row feature"]
    y: Float[np.ndarray, " row"]
    mean: Float[np.ndarray, " row"]
    std: Float[np.ndarray, " row"]
    train: Bool[np.ndarray, " row"]


def fit_at(diagram: xr.Dataset, kind: str, cell: tuple[int, int]) -> PlottedFit:
    """Return the fit of one seed of the cell: the first of `kind` with finite predictions, or else the first of it."""
    here = diagram.isel(rho=cell[0], gamma=cell[1])
    is_kind = kinds(here).values.astype(str) == kind
    has_fit = here["mean"].notnull().all("row").values
    here = here.isel(seed=int(np.argmax(2 * is_kind + (is_kind & has_fit))))
    return PlottedFit(
        kind=kind,
        rho=float(here["rho"]),
        gamma=float(here["gamma"]),
        x=here["x"].transpose("row", "feature").values.astype(float),
        y=here["y"].values.astype(float),
        mean=here["mean"].values.astype(float),
        std=here["std"].values.astype(float),
        train=here["row_split"].values.astype(str) == "train",
    )


def draw_fit(ax: Axes, fit: PlottedFit) -> None:
    """Draw training rows, mean and bands of one and two std; of an overfit field a close-up, as it follows each row.

    Of a runaway of the theory, which has no field, the limit of its descent is drawn: mean = y, std = 0.
    """
    order = np.argsort(fit.x[:, 0], kind="stable")
    close_up = fit.kind in (Phase.O_I, Phase.O_II) and len(order) > 4 * WINDOW
    if close_up:
        order = order[_loudest(fit.y[order]) :][:WINDOW]
    x, y, mean, std, train = fit.x[order, 0], fit.y[order], fit.mean[order], fit.std[order], fit.train[order]
    colour = PHASE_COLOURS[fit.kind]
    for width, alpha in BANDS:
        ax.fill_between(x, mean - width * std, mean + width * std, color=colour, alpha=alpha, linewidth=0, zorder=2)
    lost = not np.isfinite(mean).any()
    ax.plot(x, y if lost else mean, color=colour, zorder=3)
    shown = np.flatnonzero(train)[:: max(1, train.sum() // SHOWN)]
    ax.plot(
        x[shown], y[shown], "o", color=INK, markersize=1.5 if len(shown) > 100 else 2.6, markeredgewidth=0, zorder=4
    )
    margin = HEADROOM * (np.ptp(y) or 1.0)
    ax.set_ylim(y.min() - margin, y.max() + margin)
    ax.yaxis.set_major_locator(MaxNLocator(3))
    ax.tick_params(length=2.5, pad=2)
    if x[0] < x[-1]:
        ax.set_xlim(x[0], x[-1])
    ax.set_xticks([x[0], x[-1]], [f"{x[0]:.2g}", f"{x[-1]:.2g}"])
    ax.set_title(_title(fit) + (", close-up" if close_up else ""), fontsize=9)
    if lost:
        ax.text(0.99, 0.98, RUNAWAY_LIMIT, transform=ax.transAxes, **LIMIT_TEXT)


def _loudest(y: Float[np.ndarray, " row"]) -> int:
    """Return where the window of WINDOW rows begins in which neighbours differ most."""
    steps = np.cumsum(np.concatenate([[0.0], np.diff(y) ** 2]))
    return int(np.argmax(steps[WINDOW:] - steps[:-WINDOW]))


def draw_residuals(ax: Axes, fit: PlottedFit, limits: tuple[float, float]) -> None:
    """Draw |y - mean| against std for each row; if the std is right, two thirds of the rows are below the diagonal."""
    ax.set_xscale("log")
    ax.set_yscale("log")
    residual = np.clip(np.abs(fit.y - fit.mean), *limits)
    std = np.clip(fit.std, *limits)
    for which, style in ((fit.train, TRAIN), (~fit.train, TEST | {"color": PHASE_COLOURS[fit.kind]})):
        ax.plot(std[which], residual[which], **style)
    ax.plot(limits, limits, **EQUAL)
    ax.set(xlim=limits, ylim=limits)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(LogLocator(numticks=4))
        axis.set_minor_locator(NullLocator())
    ax.set_title(_title(fit), fontsize=9)
    if not np.isfinite(fit.mean).any():
        ax.text(0.5, 0.5, "runaway: no finite fit", transform=ax.transAxes, ha="center", va="center", color=GREY)


def residual_limits(fits: Iterable[PlottedFit]) -> tuple[float, float]:
    """Return limits for both axes of all fits; values beyond them are drawn at the border."""
    sizes = np.concatenate([np.empty(0), *(part for fit in fits for part in (np.abs(fit.y - fit.mean), fit.std))])
    sizes = sizes[np.isfinite(sizes) & (sizes > 0)]
    low, high = np.quantile(sizes, [0.05, 1.0]) if len(sizes) else (0.1, 1.0)
    return max(low, 1e-4 * high) / 1.5, high * 1.5


def fit_legend(several_inputs: bool) -> dict[str, Artist]:
    """Return the legend of `draw_fit`, or of `draw_residuals` if there are several inputs."""
    if several_inputs:
        return {
            "training rows": Line2D([], [], **TRAIN),
            "test rows": Line2D([], [], color=INK, **TEST),
            "|residual| = std": Line2D([], [], **EQUAL),
        }
    return {
        "training rows": Line2D([], [], linestyle="", marker="o", color=INK, markersize=2.6, markeredgewidth=0),
        "mean": Line2D([], [], color=INK),
        r"mean $\pm$ 1 std": Patch(color=INK, alpha=0.4, linewidth=0),
        r"mean $\pm$ 2 std": Patch(color=INK, alpha=0.18, linewidth=0),
    }


def _title(fit: PlottedFit) -> str:
    return rf"{PHASE_NAMES[fit.kind]}:  $\rho = {_number(fit.rho)}$, $\gamma = {_number(fit.gamma)}$"


def _number(value: float) -> str:
    """Write 0.3 as it is, 0.0001 as 10^-4 and 0.9999 as 1 - 10^-4."""
    if value > 0.95:
        return f"1 - {_number(1 - value)}"
    exponent = round(math.log10(value))
    return f"10^{{{exponent}}}" if exponent < -1 and math.isclose(value, 10.0**exponent) else number_text(value)
