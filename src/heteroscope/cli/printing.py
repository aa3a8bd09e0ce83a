"""What the commands print: the path of a search, scores, the diagnosis."""

import sys
from typing import Any

import click

_TABLE: dict[str, Any] = {"title_justify": "left", "title_style": "bold"}


def print_path(model: Any) -> None:
    """The path of a search, one line a point, the chosen one marked, trainings of each length by themselves."""
    import numpy as np
    from rich.table import Table

    path = model.cv_results_
    straight = max(abs(path["logit_rho"] + path["logit_gamma"])) < 1e-9
    where = "The diagonal" if straight else "The diagonal and points beside it"
    table = Table(title=f"{where}: held-out scores, strong to weak regularisation", **_TABLE)
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
        "std x": [f"{scale:.3g}" for scale in path["std_scale"]] if model.calibrate else None,
        f"{loss} scaled": [f"{score:.4g}" for score in path["held_out_loss"]] if model.calibrate else None,
        "phase": [str(phase) for phase in path["phase"]],
        "status": [str(status) for status in path["status"]],
    }
    shown = {name: cells for name, cells in columns.items() if cells is not None}
    for name in shown:
        table.add_column(name, justify="left" if name in ("", "phase", "status") else "right", no_wrap=name != "status")
    for k, cells in enumerate(zip(*shown.values(), strict=True)):
        style = "bold" if k == model.best_index_ else None
        table.add_row(*cells, style=style, end_section=bool(np.ptp(steps[k : k + 2])))
    _console().print(table)


_SCORES = {
    "nll": "NLL",
    "crps": "CRPS",
    "rmse": "RMSE",
    "interval_coverage": "coverage of 90 % intervals",
    "interval_width": "width of 90 % intervals",
    "ece": "calibration error (ECE)",
}


def print_search_scores(model: Any) -> None:
    """What the chosen point scored on held-out rows as it is handed over, and what the networks did by themselves."""
    path, best = model.cv_results_, model.best_index_
    columns = {"held-out rows": model.held_out_scores_}
    for part, which in {"test": "held-out", "train": "training"}.items():
        columns[f"{which}, std not scaled"] = {name: path[f"mean_{part}_{name}"][best] for name in _SCORES}
    if not model.calibrate:
        columns = {"held-out rows": columns["held-out rows"], "training rows": columns["training, std not scaled"]}
    rows = {title: [f"{scores[name]:.4g}" for scores in columns.values()] for name, title in _SCORES.items()}
    _print_scores("At the chosen point", list(columns), rows)


def print_training_scores(model: Any, features: Any, y: Any) -> None:
    """What a fit at one point scored on the rows it was fitted to."""
    from heteroscope.distributions import evaluate

    scores = evaluate(y, *model.predict(features, return_std=True))
    rows = {title: [f"{scores[name]:.4g}"] for name, title in _SCORES.items()}
    _print_scores("At this point, on the rows it was fitted to", ["training rows"], rows)


def _print_scores(title: str, columns: list[str], rows: dict[str, list[str]], first: str = "metric") -> None:
    from rich.table import Table

    table = Table(title=title, **_TABLE)
    table.add_column(first)
    for column in columns:
        table.add_column(column, justify="right")
    for name, values in rows.items():
        table.add_row(name, *values)
    _console().print(table)


def print_diagnosis(model: Any) -> None:
    """The model's own words, with the command line's name for the search."""
    click.echo("\n" + model.diagnose().replace("HeteroskedasticRegressorCV", "the search (no --rho, no --gamma)"))


def _console() -> Any:
    """Standard output; a file or pipe gets plain text that is wide enough for every table."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 110, highlight=False)


def _near_one(value: float) -> str:
    return f"1 - {1 - value:.2g}" if value > 0.99 else f"{value:.4f}"


def verbosity(quiet: bool) -> int:
    """1 for progress bars: if they are wanted and somebody is there to see them."""
    return int(not quiet and sys.stderr.isatty())


def print_phase_counts(diagram: Any) -> None:
    """How many cells of a diagram are in each phase, and how many have no finite solution."""
    import numpy as np

    phases, counts = np.unique(diagram["phase"], return_counts=True)
    runaway = int((diagram["status"] == "runaway").sum())
    rows = {str(phase): [str(count)] for phase, count in zip(phases, counts, strict=True)}
    _print_scores(
        f"{int(counts.sum())} cells, {runaway} of them runaways (no finite solution)", ["cells"], rows, "phase"
    )


def print_recipes(recipes: Any, kitchen: Any) -> None:
    """Print every result: its name, its place in the paper, what it shows, and how long it took if it was made."""
    from rich.table import Table

    from heteroscope.paper import read_record

    table = Table(title=f"What can be reproduced, at scale {kitchen.scale.name}", **_TABLE)
    for name in ("name", "in the paper", "what it shows", "time taken"):
        table.add_column(name, justify="right" if name == "time taken" else "left", no_wrap=name == "name")
    for name, recipe in recipes.items():
        record = read_record(name, kitchen)
        table.add_row(name, recipe.source, recipe.title, _duration(record["seconds"]) if record else "")
    table.add_row("all", "", "all of the above; shared parts are computed once", "", style="bold")
    _console().print(table)
    click.echo("Time taken: for results that are in the folder; it includes parts shared with other results.")


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
