"""Write a diagram as one HTML file."""

from os import PathLike
from pathlib import Path

import xarray as xr
from matplotlib import colormaps
from matplotlib.colors import to_hex

from heteroscope.report.assembling import assemble, write_page
from heteroscope.report.contents import page_contents

# Joined in this order into one script: each file uses only names of the files before it.
SCRIPTS = (
    "svg.js",
    "numbers.js",
    "scales.js",
    "data.js",
    "heatmap.js",
    "diagonal.js",
    "plot.js",
    "model.js",
    "page.js",
)
N_COLOURS = 256  # steps of the colour scale


def write_report(
    diagram: xr.Dataset, path: str | PathLike[str], *, theory: xr.Dataset | None = None, title: str | None = None
) -> Path:
    """Write a phase diagram as one interactive HTML file that works offline.

    The page draws each model at no more than 256 rows; its scores come from all rows.

    Parameters
    ----------
    diagram : xarray.Dataset
        What `phase_diagram` or `field_diagram` returned.
    path : str or path-like
        The file to write; its folder is created if needed.
    theory : xarray.Dataset, optional
        What `field_diagram` returned, shown beside `diagram` with a linked cursor.
    title : str, optional
        Title of the page. By default it names the data set.

    Returns
    -------
    pathlib.Path
        The file that was written.
    """
    diagrams = [diagram] if theory is None else [diagram, theory]
    data = page_contents(diagrams) | {"colours": _colours()}
    return write_page(assemble("page.html", ("page.css",), SCRIPTS, data, title or _title(diagram)), path)


def _title(diagram: xr.Dataset) -> str:
    """Return the default title."""
    name = str(diagram.attrs.get("data_set", ""))
    return f"Phase diagram of {name}" if name else "Phase diagram"


def _colours() -> list[str]:
    """Return the colours of cividis, which look the same with and without red-green blindness."""
    return [to_hex(colour) for colour in colormaps["cividis"].resampled(N_COLOURS)(range(N_COLOURS))]
