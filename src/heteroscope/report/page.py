"""Put template, style, scripts and data together into one HTML file that loads nothing else."""

import json
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.metadata import version
from importlib.resources import files
from os import PathLike
from pathlib import Path
from string import Template
from typing import Any

import xarray as xr
from matplotlib import colormaps
from matplotlib.colors import to_hex

from heteroscope.core import InputError, atomic_write, make_folder
from heteroscope.report.contents import page_contents

# Joined in this order into one script: each file uses only names of the files before it.
SCRIPTS = ("svg.js", "numbers.js", "scales.js", "data.js", "heatmap.js", "diagonal.js", "model.js", "page.js")
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
    place = Path(path)
    if place.is_dir():
        raise InputError(f"{str(place)!r} is a folder: name the file to write, such as {str(place / 'report.html')!r}")
    text = page_text([diagram] if theory is None else [diagram, theory], title or _title(diagram))
    make_folder(place.parent)
    with atomic_write(place) as partial:
        partial.write_text(text, encoding="utf-8", errors="replace")  # names may hold bytes that are no text
    return place


def page_text(diagrams: list[xr.Dataset], title: str) -> str:
    """Return the page as text. Its security policy allows only our script, whatever the data hold, and no requests."""
    script = f'"use strict";\n(() => {{\n{"".join(_asset(name) for name in SCRIPTS)}}})();\n'
    data = page_contents(diagrams) | {"title": title, "version": version("heteroscope"), "colours": _colours()}
    return Template(_asset("page.html")).substitute(
        title=escape(title),
        hash=b64encode(sha256(script.encode()).digest()).decode("ascii"),
        style=_asset("page.css"),
        script=script,
        data=_script_safe(data),
    )


def _title(diagram: xr.Dataset) -> str:
    """Return the default title."""
    name = str(diagram.attrs.get("data_set", ""))
    return f"Phase diagram of {name}" if name else "Phase diagram"


def _asset(name: str) -> str:
    """Return the text of a file in `assets/`."""
    return (files("heteroscope.report") / "assets" / name).read_text(encoding="utf-8")


def _colours() -> list[str]:
    """Return the colours of cividis, which look the same with and without red-green blindness."""
    return [to_hex(colour) for colour in colormaps["cividis"].resampled(N_COLOURS)(range(N_COLOURS))]


def _script_safe(data: dict[str, Any]) -> str:
    """Return JSON in which no text can end the script element around it."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
