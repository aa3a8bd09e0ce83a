"""The page itself: template, style, script and data put together into one file that asks for nothing else."""

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

from heteroscope.core import InputError
from heteroscope.report.contents import page_contents

# In this order they are one script: each uses only what stands above it.
SCRIPTS = ("svg.js", "numbers.js", "scales.js", "data.js", "heatmap.js", "diagonal.js", "model.js", "page.js")
N_COLOURS = 256


def write_report(
    diagram: xr.Dataset, path: str | PathLike[str], *, theory: xr.Dataset | None = None, title: str | None = None
) -> Path:
    """Write a phase diagram as one interactive HTML file that needs no network, and return its path.

    `diagram` comes from `phase_diagram` or `field_diagram`; `theory`, a field diagram, is shown beside it with linked
    cursors. The page keeps at most 256 rows of each model's predictions; scores come from all rows.
    """
    place = Path(path)
    if place.is_dir():
        raise InputError(f"{str(place)!r} is a folder: name the file to write, such as {str(place / 'report.html')!r}")
    text = page_text([diagram] if theory is None else [diagram, theory], title or _title(diagram))
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    return place


def page_text(diagrams: list[xr.Dataset], title: str) -> str:
    """The page as text. Only our own script may run in it, whatever the user's names hold, and nothing is fetched."""
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
    name = str(diagram.attrs.get("data_set", ""))
    return f"Phase diagram of {name}" if name else "Phase diagram"


def _asset(name: str) -> str:
    return (files("heteroscope.report") / "assets" / name).read_text(encoding="utf-8")


def _colours() -> list[str]:
    """Cividis: even to the eye, and the same to eyes with and without red-green blindness."""
    return [to_hex(colour) for colour in colormaps["cividis"].resampled(N_COLOURS)(range(N_COLOURS))]


def _script_safe(data: dict[str, Any]) -> str:
    """JSON in which no text can end the script element that holds it."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
