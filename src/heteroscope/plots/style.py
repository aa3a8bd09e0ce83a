"""The style of all figures: a palette for colour-blind readers, phase colours, axes, new figures and their files."""

import io
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator
from scipy.special import logit

from heteroscope.core import InputError, atomic_write, make_folder
from heteroscope.diagrams import S_ADAPTS, S_CONSTANT
from heteroscope.phases import Phase

# Okabe and Ito's palette, whose colours can be told apart with any kind of colour vision, and in print.
BLUE, SKY, GREEN, ORANGE, VERMILION, PURPLE = "#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00", "#CC79A7"
YELLOW = "#F0E442"
DARK_GREEN = "#00523B"
INK, GREY, PALE = "#222222", "#777777", "#D9D9D9"

STAR: dict[str, Any] = {"marker": "*", "color": YELLOW, "markeredgecolor": INK, "markeredgewidth": 0.7, "linestyle": ""}

#: Colours and names of phases, and of the two kinds of S: with a constant std and with one that adapts.
PHASE_COLOURS: dict[str, str] = {
    Phase.U_I: BLUE,
    Phase.U_II: SKY,
    Phase.S: GREEN,
    Phase.O_II: ORANGE,
    Phase.O_I: VERMILION,
    Phase.NONE: "#8C8C8C",
    Phase.UNKNOWN: "#BDBDBD",
    S_CONSTANT: GREEN,
    S_ADAPTS: DARK_GREEN,
}
PHASE_NAMES: dict[str, str] = {
    Phase.U_I: r"$U_\mathrm{I}$",
    Phase.U_II: r"$U_\mathrm{II}$",
    Phase.S: "$S$",
    Phase.O_II: r"$O_\mathrm{II}$",
    Phase.O_I: r"$O_\mathrm{I}$",
    Phase.NONE: "none",
    Phase.UNKNOWN: "not known",
    S_CONSTANT: "$S$",
    S_ADAPTS: "$S$",
}
#: The same where both kinds of S must be told apart by words.
LEGEND_NAMES = PHASE_NAMES | {S_CONSTANT: "$S$, constant std", S_ADAPTS: "$S$, std adapts"}

RHO_LABEL, GAMMA_LABEL = r"$\rho$, weight of the likelihood", r"$\gamma$, share of the mean's penalty"

# Names of a diagram's metrics in figures; other metrics are shown under their own names.
METRIC_NAMES = {
    "mean_mse": "mean MSE",
    "std_mse": "std MSE",
    "ece": "ECE",
    "nll": "NLL",
    "crps": "CRPS",
    "squared_score": "squared score",
    "mean_energy": "energy of mean",
    "precision_energy": "energy of precision",
    "mean_spread": "spread of mean",
    "log_precision_spread": "spread of log precision",
}

_STYLE: dict[Any, Any] = {
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.labelsize": 9.0,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "hatch.linewidth": 0.5,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "mathtext.fontset": "cm",
    "savefig.dpi": 200,
    "text.color": INK,
    "text.usetex": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
}


@contextmanager
def house_style() -> Iterator[None]:
    """Use the settings of all figures within a `with` block, and restore the user's own afterwards."""
    with mpl.rc_context(_STYLE):
        yield


class ShownFigure(Figure):
    """A figure without a window, which a notebook shows even if pyplot was never imported."""

    def _repr_png_(self) -> bytes:
        written = io.BytesIO()
        self.savefig(written, format="png")
        return written.getvalue()


def new_figure(width: float, height: float, layout: Literal["constrained"] | None = "constrained") -> Figure:
    """Return an empty figure that needs no display.

    Parameters
    ----------
    width, height : float
        Size in inches.
    layout : {"constrained", None}, default="constrained"
        "constrained" avoids overlaps; None leaves axes where they are placed.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = ShownFigure(figsize=(width, height), layout=layout)
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: Figure, path: str | Path) -> Path:
    """Write a figure to a file, and create its folder if needed.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    path : str or pathlib.Path
        The suffix chooses the format, such as .png or .pdf.

    Returns
    -------
    pathlib.Path
        `path`.
    """
    path = Path(path)
    make_folder(path.parent)
    kind = path.suffix.removeprefix(".")
    if kind not in figure.canvas.get_supported_filetypes():
        known = ", ".join(f".{name}" for name in figure.canvas.get_supported_filetypes())
        raise InputError(f"{path} has the extension {path.suffix!r}: a figure is one of {known}")
    with house_style(), atomic_write(path) as partial:
        figure.savefig(partial, format=kind)
    return path


def logit_axis(ax: Axes, which: Literal["x", "y"], low: float, high: float, n_ticks: int | None = None) -> None:
    """Scale an axis by the logit. A tick at 1 - 10^-k is written as 10^-k with a bar over it.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    which : {"x", "y"}
    low, high : float
        Ends of the axis, between 0 and 1.
    n_ticks : int, optional
        About how many ticks to draw, at one half and equal steps of decades around it; matplotlib's choice if None.
    """
    if which == "x":
        ax.set_xscale("logit", use_overline=True, one_half="1/2")
        ax.set_xlim(low, high)
    else:
        ax.set_yscale("logit", use_overline=True, one_half="1/2")
        ax.set_ylim(low, high)
    axis = ax.xaxis if which == "x" else ax.yaxis
    if n_ticks is not None and len(ticks := _logit_ticks(low, high, n_ticks)) > 1:
        axis.set_major_locator(FixedLocator(ticks))
    axis.set_minor_locator(NullLocator())


def _logit_ticks(low: float, high: float, n_ticks: int) -> list[float]:
    decade = math.log(10.0)
    first, last = logit(low) / decade, logit(high) / decade
    step = max(1, math.ceil((last - first) / n_ticks - 0.15))
    inside = [k * step for k in range(math.ceil(first / step), math.floor(last / step) + 1)]
    return [0.5 if k == 0 else 10.0**k if k < 0 else 1.0 - 10.0**-k for k in inside]


def plain_log_axis(ax: Axes, low: float, high: float) -> None:
    """Scale the y axis logarithmically, with ticks at 1, 2 and 5 (or decades only) written as plain numbers.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    low, high : float
        Positive ends of the axis.
    """
    ax.set_yscale("log")
    ax.set_ylim(low, high)
    few = high / low < 1e3
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,), numticks=12))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: tick_text(value)))
    ax.yaxis.set_minor_locator(NullLocator())


def tick_text(value: float) -> str:
    """Write a number beside an axis: as `number_text` does, in mathematics mode if it has an exponent."""
    text = number_text(value)
    return f"${text}$" if "^" in text else text


def number_text(value: float) -> str:
    """Write a number with two digits for mathematics mode: 0.02 or 500 as they are, 0.0000021 as 2.1 x 10^-6."""
    if value == 0 or 1e-3 <= abs(value) < 1e4:
        return f"{value:.2g}" if abs(value) < 100 else f"{value:.0f}"
    exponent = math.floor(math.log10(abs(value)) + 1e-9)
    lead = f"{value / 10.0**exponent:.2g}"
    return f"10^{{{exponent}}}" if lead == "1" else rf"{lead} \times 10^{{{exponent}}}"


def literal(text: str, width: int | None = None) -> str:
    """Escape a user's name so that matplotlib shows it unchanged: a $ starts no mathematics.

    With `width`, break longer names into lines of at most that many letters, after a blank, - or _ if there is one.
    """
    lines = [""]
    for piece in re.findall(rf"[^\s_-]{{1,{width}}}[\s_-]?|[\s_-]", text) if width else [text]:
        if lines[-1] and len(lines[-1] + piece.rstrip()) > (width or 0):
            lines.append("")
        lines[-1] += piece
    return "\n".join(lines).replace("$", r"\$")


def metric_name(metric: str) -> str:
    """Return the name of a metric in figures."""
    return METRIC_NAMES.get(metric, metric.replace("_", " "))
