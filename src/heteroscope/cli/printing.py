"""Print what the commands found: the path of a search, scores, the diagnosis, counts of phases."""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import xarray as xr
    from rich.console import Console

    from heteroscope.estimators import HeteroskedasticRegressor, HeteroskedasticRegressorCV
    from heteroscope.paper import Exhibit, Workspace

_TABLE: dict[str, Any] = {"title_justify": "left", "title_style": "bold"}
_SCORES = {
    "nll": "NLL",
    "crps": "CRPS",
    "rmse": "RMSE",
    "interval_coverage": "coverage of 90 % intervals",
    "interval_width": "width of 90 % intervals",
    "ece": "calibration error (ECE)",
}


def verbosity(quiet: bool) -> int:
    """Return 1 if progress bars are wanted and standard error is a terminal, else 0."""
    return int(not quiet and sys.stderr.isatty())


def print_path(model: "HeteroskedasticRegressorCV") -> None:
    """Print one line for each point of a search; mark the chosen point, and separate trainings of other lengths."""
    import numpy as np
    from rich.table import Table

    path = model.cv_results_
    on_diagonal = max(abs(path["logit_rho"] + path["logit_gamma"])) < 1e-9
    where = "The diagonal" if on_diagonal else "The diagonal and points beside it"
    table = Table(title=f"{where}: held-out scores, from strong to weak regularisation", **_TABLE)
    loss = "CRPS" if model.selection == "crps" else "NLL"
    steps = path["max_steps"]
    columns = {
        "": ["->" if k == model.best_index_ else "" for k in range(len(steps))],
        "steps": [str(n) for n in steps] if np.ptp(steps) else None,
        "rho": [_near_one(rho) for rho in path["rho"]],
        "gamma": [f"{gamma:.3g}" for gamma in path["gamma"]],
        "folds": [str(n) for n in path["n_folds"]],
        "NLL": [f"{score:.4g}" for score in path["mean_test_nll"]],
        "RMSE": [f"{score:.4g}" for score in path["mean_test_rmse"]],
        "std factor": [f"{scale:.3g}" for scale in path["std_scale"]] if model.calibrate else None,
        f"scaled {loss}": [f"{score:.4g}" for score in path["held_out_loss"]] if model.calibrate else None,
        "phase": [str(phase) for phase in path["phase"]],
        "status": [str(status) for status in path["status"]],
    }
    shown = {name: cells for name, cells in columns.items() if cells is not None}
    for name in shown:
        table.add_column(name, justify="left" if name in ("", "phase", "status") else "right", no_wrap=name != "status")
    for k, cells in enumerate(zip(*shown.values(), strict=True)):
        style = "bold" if k == model.best_index_ else None
        table.add_row(*cells, style=style, end_section=bool(np.ptp(steps[k : k + 2])))
    _console(120).print(table)


def print_search_scores(model: "HeteroskedasticRegressorCV") -> None:
    """Print the chosen point's scores on held-out rows, with and without the std factor, and on training rows."""
    path, best = model.cv_results_, model.best_index_
    columns = {"held-out rows": model.held_out_scores_}
    for part, which in {"test": "held-out", "train": "training"}.items():
        columns[f"{which}, std not scaled"] = {name: path[f"mean_{part}_{name}"][best] for name in _SCORES}
    if not model.calibrate:
        columns = {"held-out rows": columns["held-out rows"], "training rows": columns["training, std not scaled"]}
    rows = {title: [f"{scores[name]:.4g}" for scores in columns.values()] for name, title in _SCORES.items()}
    _print_table("Scores of the chosen point", ["metric", *columns], rows)


def print_training_scores(model: "HeteroskedasticRegressor", features: "pd.DataFrame", y: "np.ndarray") -> None:
    """Print the scores of a fit at one point on the rows it was fitted to."""
    from heteroscope.distributions import evaluate

    scores = evaluate(y, *model.predict(features, return_std=True))
    rows = {title: [f"{scores[name]:.4g}"] for name, title in _SCORES.items()}
    _print_table("Scores of this point on its training rows", ["metric", "training rows"], rows)


def print_diagnosis(model: "HeteroskedasticRegressor | HeteroskedasticRegressorCV") -> None:
    """Print the model's diagnosis; after a fit at one point in a bad phase, also how to search for a better one."""
    click.echo(f"\n{model.diagnose()}")
    if not hasattr(model, "cv_results_") and model.phase_ != "S":
        click.echo("To search for the point with this command, leave out --rho and --gamma.")


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
    click.echo("Time taken: for results that are in the folder; it includes parts shared with other results.")


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
