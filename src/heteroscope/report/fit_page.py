"""Write the page of a fit, or of anyone's forecasts."""

from os import PathLike
from pathlib import Path

from heteroscope.explanation import Explanation
from heteroscope.report.assembling import assemble, write_page
from heteroscope.report.fit_contents import fit_contents

SCRIPTS = ("svg.js", "numbers.js", "scales.js", "plot.js", "fit_charts.js", "fit_page.js")


def write_fit_report(found: Explanation, path: str | PathLike[str], *, title: str | None = None) -> Path:
    """Write the page of a fit, or of anyone's forecasts, as one HTML file that works offline.

    `model.report(path)` and `diagnose(...).report(path)` call this. The page draws at most 1,500 held-out rows; its
    numbers come from all of them.

    Parameters
    ----------
    found : Explanation
        What `explain` or `diagnose(...).explanation` has returned.
    path : str or path-like
        The file to write; its folder is created if needed.
    title : str, default=None
        Title of the page. By default it names the target.

    Returns
    -------
    pathlib.Path
        The file that was written.
    """
    text = assemble(
        "fit.html", ("page.css", "fit.css"), SCRIPTS, fit_contents(found), title or f"Forecasts of {found.target_name}"
    )
    return write_page(text, path)
