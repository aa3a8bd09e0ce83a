"""Print what the commands found: the diagnosis, the path of a search, scores, counts of phases."""

import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from heteroscope.core import number_text

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import xarray as xr
    from rich.console import Console

    from heteroscope.estimators import HeteroskedasticRegressor, HeteroskedasticRegressorCV
    from heteroscope.paper import Exhibit, Workspace

_TABLE: dict[str, Any] = {"title_justify": "left", "title_style": "bold"}


def verbosity(quiet: bool) -> int:
    """Return 1 if progress bars are wanted and standard error is a terminal, else 0."""
    return int(not quiet and sys.stderr.isatty())


@contextmanager
def until_reader_leaves() -> Iterator[None]:
    """Print until the reader of standard output, such as `head`, closes it; then go on without a word."""
    try:
        yield
        if sys.stdout is not None:  # None: it was closed from the start
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes it once more at its end


def terminal_width() -> int:
    """Return the width to wrap at: COLUMNS, or that of the terminal, or 80 for a pipe or a file."""
    return shutil.get_terminal_size((80, 24)).columns


def print_diagnosis(model: "HeteroskedasticRegressor | HeteroskedasticRegressorCV") -> None:
    """Print the model's diagnosis; after a fit at one point in a bad phase, also how to search for a better one."""
    click.echo(model.diagnose().text(terminal_width()))
    if not hasattr(model, "cv_results_") and model.phase_ != "S":
        click.echo("To search for the point with this command, leave out --rho and --gamma.")


def print_path(model: "HeteroskedasticRegressorCV", whole: bool = True) -> None:
    """Print the points of a search, from strong to weak regularisation, with an arrow at the chosen one.

    Without `whole`, only five of them: the ends of the line with the chosen point's length of training, the chosen
    point and its neighbours.
    """
    path, best = model.cv_results_, model.best_index_
    n_points = len(path["rho"])
    shown = list(range(n_points)) if whole else _five_around(best, path["max_steps"])
    heads, rows = _path_cells(model, shown)
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    more = "" if len(shown) == n_points else f" ({len(shown)} of {n_points} points)"
    click.echo(textwrap.fill(f"The path, from strong to weak regularisation{more}:", terminal_width()))
    for number, cells in enumerate([heads, *rows]):
        if number > 1 and path["max_steps"][shown[number - 1]] != path["max_steps"][shown[number - 2]]:
            click.echo()  # between trainings of different lengths
        padded = [cell.rjust(width) for cell, width in zip(cells[:-1], widths, strict=False)]
        click.echo("  ".join([*padded, cells[-1]]).rstrip())
    click.echo(_path_caption(model))


def _five_around(best: int, steps: "np.ndarray") -> list[int]:
    """Return the ends of the trainings of the chosen length, the chosen point and its neighbours, filled up to five."""
    same = [k for k in range(len(steps)) if steps[k] == steps[best]]
    place = same.index(best)
    wanted = {0, place - 1, place, place + 1, len(same) - 1} & set(range(len(same)))
    others = sorted(set(range(len(same))) - wanted, key=lambda k: abs(k - place))
    return sorted(same[k] for k in [*wanted, *others[: 5 - len(wanted)]])


def _path_cells(model: "HeteroskedasticRegressorCV", shown: list[int]) -> tuple[list[str], list[list[str]]]:
    """Return the titles of the path's columns and the cells of these points."""
    path = model.cv_results_
    loss = "CRPS" if model.selection == "crps" else "NLL"
    columns = {
        "": ["->" if k == model.best_index_ else "" for k in shown],
        "steps": [str(path["max_steps"][k]) for k in shown],
        "rho": [_near_one(path["rho"][k]) for k in shown],
        "gamma": [f"{path['gamma'][k]:.3g}" for k in shown],
        "folds": [str(path["n_folds"][k]) for k in shown],
        "RMSE": [number_text(path["mean_test_rmse"][k]) for k in shown],
    }
    if model.calibrate:
        columns["std x"] = [f"{path['std_scale'][k]:.3g}" for k in shown]
    columns[loss] = [number_text(path["held_out_loss"][k]) for k in shown]
    columns["networks"] = [_network_text(path, k) for k in shown]
    for name in ("RMSE", "std x", "steps"):
        if sum(max(map(len, [title, *cells])) + 2 for title, cells in columns.items()) - 2 > terminal_width():
            columns.pop(name, None)
    return list(columns), [list(cells) for cells in zip(*columns.values(), strict=True)]


def _network_text(path: "Mapping[str, np.ndarray]", k: int) -> str:
    """Return the phase of a point's networks, for S whether the std adapts, and how training failed if it did."""
    from heteroscope.phases import FLAT_PRECISION

    phase, status = str(path["phase"][k]), str(path["status"][k])
    if phase == "S" and path["log_precision_spread"][k] < FLAT_PRECISION:
        phase = "S, constant std"
    failed = [ending for ending in ("runaway", "not finite") if ending in status]
    return ", ".join([phase, *failed])


def _path_caption(model: "HeteroskedasticRegressorCV") -> str:
    """Return what the columns of the path mean."""
    scaled = (
        f'{"CRPS" if model.selection == "crps" else "NLL"}: with the std multiplied by "std x". Phases: of the '
        "networks before that. "
    )
    logs = ", for the logarithm of the target" if model.target_ == "log" else ""
    text = f"RMSE and score are of held-out rows{logs}. {scaled if model.calibrate else ''}"
    return textwrap.fill(f"{text}Compare scores only between points of equally many folds.", terminal_width())


def print_phase_counts(diagram: "xr.Dataset") -> None:
    """Print how many cells of a diagram are in each phase, and how many ran away."""
    import numpy as np

    phases, counts = np.unique(diagram["phase"], return_counts=True)
    runaway = int((diagram["status"] == "runaway").sum())
    rows = {str(phase): [str(count)] for phase, count in zip(phases, counts, strict=True)}
    title = f"{int(counts.sum())} cells, {runaway} of them runaways"
    _print_table(title, ["phase", "cells"], rows)


def print_cells(title: str, cells: "pd.DataFrame") -> None:
    """Print a table of texts with one row per method; print nothing if it has no rows."""
    if len(cells):
        rows = {str(method): list(row) for method, row in zip(cells.index, cells.to_numpy(), strict=True)}
        _print_table(title, ["method", *cells.columns], rows, width=140)


def print_exhibits(exhibits: "Mapping[str, Exhibit]", workspace: "Workspace") -> None:
    """Print every result: its name, its place in the paper, what it shows, and how long it took if it was made."""
    from rich.table import Table

    from heteroscope.paper import read_record

    table = Table(title=f"What can be reproduced, at scale {workspace.scale.name}", **_TABLE)
    for name in ("name", "in the paper", "what it shows", "time taken"):
        table.add_column(name, justify="right" if name == "time taken" else "left", no_wrap=name == "name")
    for name, exhibit in exhibits.items():
        record = read_record(name, workspace)
        table.add_row(name, exhibit.source, exhibit.title, _duration(record["seconds"]) if record else "")
    table.add_row("all", "", "all of the above; shared parts are computed once", "", style="bold")
    _console().print(table)
    caption = "Time taken: for results that are in the folder; it includes parts shared with other results."
    click.echo(textwrap.fill(caption, terminal_width()))


def _print_table(title: str, columns: list[str], rows: Mapping[str, list[str]], width: int = 110) -> None:
    """Print named rows under column titles, the first of which is that of the names."""
    from rich.table import Table

    table = Table(title=title, **_TABLE)
    table.add_column(columns[0], no_wrap=True)
    for column in columns[1:]:
        table.add_column(column, justify="right")
    for name, values in rows.items():
        table.add_row(name, *values)
    _console(width).print(table)


def _console(width: int = 110) -> "Console":
    """Return standard output: a terminal at its own width, a file or pipe as plain text of `width` letters."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else width, highlight=False)


def _near_one(value: float) -> str:
    return f"1 - {1 - value:.2g}" if value > 0.99 else f"{value:.4f}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
