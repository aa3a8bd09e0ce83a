"""Put template, styles, scripts and data together into one HTML file that loads nothing else."""

import json
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from importlib.metadata import version
from importlib.resources import files
from os import PathLike
from pathlib import Path
from string import Template
from typing import Any

from heteroscope.core import InputError, atomic_write, make_folder


def write_page(text: str, path: str | PathLike[str]) -> Path:
    """Write the text of a page to a file, whose folder is created if needed; return the file."""
    place = Path(path)
    if place.is_dir():
        raise InputError(f"{str(place)!r} is a folder: name the file to write, such as {str(place / 'report.html')!r}")
    make_folder(place.parent)
    with atomic_write(place) as partial:
        partial.write_text(text, encoding="utf-8", errors="replace")  # names may hold bytes that are no text
    return place


def assemble(template: str, styles: Sequence[str], scripts: Sequence[str], data: dict[str, Any], title: str) -> str:
    """Return a page as text. Its security policy allows only our script, whatever the data hold, and no requests.

    The scripts become one, in their order: each uses only names of those before it.
    """
    script = f'"use strict";\n(() => {{\n{"".join(_asset(name) for name in scripts)}}})();\n'
    shown = data | {"title": title, "version": version("heteroscope")}
    return Template(_asset(template)).substitute(
        title=escape(title),
        hash=b64encode(sha256(script.encode()).digest()).decode("ascii"),
        style="".join(_asset(name) for name in styles),
        script=script,
        data=_script_safe(shown),
    )


def _asset(name: str) -> str:
    """Return the text of a file in `assets/`."""
    return (files("heteroscope.report") / "assets" / name).read_text(encoding="utf-8")


def _script_safe(data: dict[str, Any]) -> str:
    """Return JSON in which no text can end the script element around it."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
