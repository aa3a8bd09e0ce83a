"""The command line: `heteroscope demo`, `fit` and `predict`. What is slow to import is imported when it is needed."""

import ast
import difflib
import importlib.util
import os
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import click

from heteroscope import __version__
from heteroscope.errors import InputError

ADDED = ("mean", "std", "lower", "upper")
INTERRUPTED = 130  # 128 + SIGINT, as shells have it


class OneLineGroup(click.Group):
    """A group whose every complaint is one line on standard error, `Error: ...`, and a non-zero exit code."""

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run the command and leave, whatever happened."""
        try:
            code = super().main(*args, **extra | {"standalone_mode": False})
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message())
            sys.exit(0)
        except click.UsageError as error:
            help_line = f" (see `{error.ctx.command_path} --help`)" if error.ctx else ""
            _complain(f"{_one_line(error.format_message())}{help_line}", error.exit_code)
        except click.ClickException as error:
            _complain(error.format_message(), error.exit_code)
        except click.Abort:
            _stop_workers()
            _complain("interrupted", INTERRUPTED)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an interrupt goes past click, which would print a line of its own."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise click.Abort from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of that name, or an error that suggests the nearest one."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            near = difflib.get_close_matches(name, self.commands, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(self.commands)}"
            ctx.fail(f"there is no command {name!r}: {hint}")
        return super().resolve_command(ctx, args)


class OneLineCommand(click.Command):
    """A command that turns what goes wrong into one line, or with `--debug` shows the whole traceback."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(click.Option(["--quiet"], is_flag=True, help="No progress bars."))
        self.params.append(click.Option(["--debug"], is_flag=True, help="Show the traceback of an error."))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command's function."""
        if ctx.params.pop("debug"):
            return super().invoke(ctx)
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except ValueError as error:  # `InputError` and what scikit-learn says about its input
            raise click.ClickException(self.in_options(_one_line(error))) from error
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            raise click.ClickException(f"{where}{_one_line(error.strerror or error)}") from error
        except MemoryError as error:
            raise click.ClickException("memory ran out: use fewer rows, smaller --hidden or --jobs 1") from error
        except Exception as error:
            if type(error).__name__ in ("TerminatedWorkerError", "BrokenProcessPool"):
                cure = "most often because memory ran out: use fewer rows or --jobs 1"
                raise click.ClickException(f"a worker process died, {cure}") from error
            found = f"{type(error).__name__}: {_one_line(error)}"
            raise click.ClickException(f"unexpected {found}; run again with --debug to see where") from error

    def in_options(self, message: str) -> str:
        """A message about Python arguments, `missing='impute'` or `max_steps`, in terms of the commands' options."""
        options = {param.name: param.opts[0] for command in main.commands.values() for param in command.params}

        def spelled(match: re.Match[str]) -> str:
            name, value = match.groups()
            if name not in options or (value is None and "_" not in name):
                return match[0]
            return f"{options[name]} {value}" if value else options[name]

        return re.sub(r"\b(\w+)\b(?:=['\"]?([\w.+-]+\w)['\"]?)?", spelled, message)


class Sizes(click.ParamType):
    """`128,128,128` as a tuple of integers."""

    name = "sizes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Whole numbers between commas; what networks can have is checked by the estimator."""
        if isinstance(value, tuple):
            return value
        try:
            return tuple(int(part) for part in value.split(","))
        except ValueError:
            self.fail(f"{value!r} is no list of sizes such as 128,128,128", param, ctx)


@cache
def _signature(name: str) -> dict[str, Any]:
    """An estimator's arguments and their defaults, read from its source: importing it would import JAX."""
    spec = importlib.util.find_spec("heteroscope.estimators")
    if spec is None or spec.origin is None:
        raise ImportError("heteroscope.estimators is not where it was installed")
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    start = next(f for f in classes[name].body if isinstance(f, ast.FunctionDef) and f.name == "__init__").args
    by_position = start.args[len(start.args) - len(start.defaults) :]
    pairs = [*zip(by_position, start.defaults, strict=True), *zip(start.kwonlyargs, start.kw_defaults, strict=True)]
    return {argument.arg: ast.literal_eval(default) for argument, default in pairs if default is not None}


def _estimator_option(flag: str, argument: str, **settings: Any) -> Any:
    """An option that stands for an argument of the estimators and shows, but leaves to them, its default."""
    search, point = (
        _signature(name).get(argument) for name in ("HeteroskedasticRegressorCV", "HeteroskedasticRegressor")
    )
    shown = ",".join(map(str, search)) if isinstance(search, tuple) else str(search)
    if argument in _signature("HeteroskedasticRegressor") and point != search:
        shown += f", or {point} with --rho and --gamma"
    shown = "a new one every time" if search is None else shown
    help_text = f"{settings.pop('help')}  [default: {shown}]"
    return click.option(flag, argument, default=None, help=help_text, **settings)


@click.group(cls=OneLineGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="heteroscope")
def main() -> None:
    """Regression that knows how sure it is, and that tells you which phase a model is in.

    \b
    Start with:
      heteroscope demo
      heteroscope fit table.csv --target y --out model
      heteroscope predict model new.csv --out predictions.csv
    """


main.command_class = OneLineCommand

_DEMO_EXAMPLE = """\b
Example:
  heteroscope demo --out demo
"""


@main.command(epilog=_DEMO_EXAMPLE)
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("demo"), show_default=True, help="Figure's folder."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of data and training.")
@click.option("--jobs", type=int, default=-1, show_default=True, help="Processes; -1 is one a core.")
def demo(out: Path, seed: int, jobs: int, quiet: bool) -> None:
    """Search the diagonal on 64 rows of a noisy sine, name the phase, draw the figure.

    Takes under a minute on two cores.
    """
    figure_file = out / "diagonal.png"
    _refuse_unwritable(figure_file)
    from heteroscope.demo import run_demo
    from heteroscope.plots.diagonal import diagonal_figure
    from heteroscope.plots.style import save_figure

    found = run_demo(seed, jobs, _verbose(quiet))
    _print_path(found.model)
    _print_diagnosis(found.model)
    save_figure(diagonal_figure(found.results), figure_file)
    click.echo(f"\nThe figure is in {figure_file}")


_FIT_EXAMPLE = """\b
Examples:
  heteroscope fit table.csv --target price --out model
  heteroscope fit table.parquet --target price --out model --missing impute --seed 0
  heteroscope fit table.csv --target price --out model --rho 0.9 --gamma 0.1
"""


@main.command(epilog=_FIT_EXAMPLE)
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--target", required=True, help="The column to predict; all others are features.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The model's folder.")
@click.option("--missing", type=click.Choice(["refuse", "impute"]), default="refuse", show_default=True, help="Gaps.")
@click.option(
    "--unknown",
    type=click.Choice(["refuse", "zeros"]),
    default="refuse",
    show_default=True,
    help="What `predict` does with a category that these rows do not have.",
)
@click.option("--rho", type=float, help="With --gamma: fit at this point and do not search.")
@click.option("--gamma", type=float, help="With --rho: fit at this point and do not search.")
@_estimator_option("--selection", "selection", type=click.Choice(["nll", "crps", "paper"]), help="What to choose by.")
@_estimator_option("--folds", "cv", type=int, help="Folds of the cross-validation.")
@_estimator_option("--members", "n_members", type=int, help="Models averaged in the final fit.")
@_estimator_option("--steps", "max_steps", type=int, help="Training steps of each model.")
@_estimator_option("--hidden", "hidden", type=Sizes(), help="Sizes of the hidden layers.")
@_estimator_option("--activation", "activation", help="leaky_relu, relu, silu, gelu or tanh.")
@_estimator_option("--seed", "random_state", type=click.IntRange(min=0), help="Seed, for the same model every time.")
@click.option("--jobs", "n_jobs", type=int, default=-1, show_default=True, help="Processes; -1 is one a core.")
def fit(
    table: Path,
    target: str,
    out: Path,
    missing: Any,
    unknown: Any,
    rho: float | None,
    gamma: float | None,
    quiet: bool,
    **arguments: Any,
) -> None:
    """Fit a model to TABLE (.csv or .parquet) and write it to a folder.

    Searches the diagonal rho = 1 - gamma by cross-validation, unless --rho and --gamma name the point.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    if (rho is None) != (gamma is None):
        raise InputError("--rho and --gamma name a point together: give both, or neither to search for it")
    pointless = [] if rho is None else [f"--{flag}" for flag, name in _SEARCH_ONLY.items() if name in given]
    if pointless:
        raise InputError(f"{pointless[0]} is about the search: leave it out, or leave out --rho and --gamma")
    from heteroscope.datasets.tables import TableEncoder, read_table
    from heteroscope.estimators import HeteroskedasticRegressor, HeteroskedasticRegressorCV
    from heteroscope.storage import check_destination, save_model

    _refuse_unwritable(check_destination(out))
    frame = read_table(table)
    encoder = TableEncoder.fit(frame, target, missing=missing, unknown=unknown)
    features, y = _named_features(encoder, frame), encoder.targets(frame)
    for note in encoder.notes:
        click.echo(f"Note: {note}.")
    given["verbose"] = _verbose(quiet)
    if rho is None:
        model = HeteroskedasticRegressorCV(**given).fit(features, y)
        _print_path(model)
        _print_search_scores(model)
    else:
        model = HeteroskedasticRegressor(rho, gamma, **given).fit(features, y)
        _print_training_scores(model, features, y)
    _print_diagnosis(model)
    save_model(model, out, encoder)
    click.echo(f"\nThe model is in {out}")


_SEARCH_ONLY = {"selection": "selection", "folds": "cv"}

_PREDICT_EXAMPLE = """\b
Examples:
  heteroscope predict model new.csv --out predictions.csv
  heteroscope predict model new.parquet --coverage 0.95 > predictions.csv
"""


@main.command(epilog=_PREDICT_EXAMPLE)
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="A .csv or .parquet file; without it, CSV is printed.")
@click.option("--coverage", type=float, default=0.9, show_default=True, help="Probability between lower and upper.")
@click.option("--prefix", default="", help="Put before the names of the new columns, such as pred_.")
def predict(model: Path, table: Path, out: Path | None, coverage: float, prefix: str, quiet: bool) -> None:
    """Add the columns mean, std, lower and upper to TABLE, by the model in the folder MODEL.

    A table that has a column of such a name already is refused; --prefix gives the new ones other names.
    """
    if out is not None and out.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"{out} has the extension {out.suffix!r}: name a .csv or .parquet file")
    if out is not None and out.exists() and out.resolve() == table.resolve():
        raise InputError(f"{out} is the table itself: name another file, so that the table is not lost")
    if out is not None:
        _refuse_unwritable(out)
    from heteroscope.datasets.tables import read_table
    from heteroscope.storage import load_bundle

    bundle = load_bundle(model)
    if bundle.encoder is None:
        raise InputError(f"{model} was saved without a table's encoding: use `load_model` in Python, or fit a table")
    frame = read_table(table)
    new = [f"{prefix}{name}" for name in ADDED]
    taken = [name for name in new if name in frame]
    if taken:
        raise InputError(f"{table} has a column {taken[0]!r} already: rename it, or use --prefix pred_")
    features = _named_features(bundle.encoder, frame)
    mean, std = bundle.model.predict(features, return_std=True)
    lower, upper = bundle.model.predict_interval(features, coverage)
    _write_table(frame.assign(**dict(zip(new, (mean, std, lower, upper), strict=True))), out)


def _named_features(encoder: Any, frame: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(encoder.features(frame), columns=list(encoder.feature_names))


def _write_table(frame: Any, out: Path | None) -> None:
    """A table as the file's name says, or as CSV on standard output; row labels are kept if the table had any."""
    import pandas as pd

    labelled = not isinstance(frame.index, pd.RangeIndex)
    if out is None:
        frame.to_csv(sys.stdout, index=labelled)
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_name(f".{out.name}.part")
    try:
        if out.suffix.lower() == ".csv":
            frame.to_csv(partial, index=labelled)
        else:
            frame.to_parquet(partial, index=labelled)
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)


_TABLE: dict[str, Any] = {"title_justify": "left", "title_style": "bold"}


def _print_path(model: Any) -> None:
    from rich.table import Table

    path = model.cv_results_
    table = Table(title="The diagonal: held-out scores, strong to weak regularisation", **_TABLE)
    for name in ("", "rho", "gamma", "NLL", "RMSE", "phase", "status"):
        table.add_column(name, justify="left" if name in ("", "phase", "status") else "right", no_wrap=name != "status")
    for k in range(len(path["rho"])):
        table.add_row(
            "->" if k == model.best_index_ else "",
            _near_one(path["gamma"][k], path["rho"][k]),
            f"{path['gamma'][k]:.3g}",
            f"{path['mean_test_nll'][k]:.4g}",
            f"{path['mean_test_rmse'][k]:.4g}",
            str(path["phase"][k]),
            str(path["status"][k]),
            style="bold" if k == model.best_index_ else None,
        )
    _console().print(table)


_SCORES = {
    "nll": "NLL",
    "crps": "CRPS",
    "rmse": "RMSE",
    "interval_coverage": "coverage of 90 % intervals",
    "interval_width": "width of 90 % intervals",
    "ece": "calibration error (ECE)",
}


def _print_search_scores(model: Any) -> None:
    path, best = model.cv_results_, model.best_index_
    rows = {
        title: [f"{path[f'mean_{part}_{name}'][best]:.4g}" for part in ("test", "train")]
        for name, title in _SCORES.items()
    }
    _print_scores("At the chosen point, averaged over folds", ["held-out rows", "training rows"], rows)


def _print_training_scores(model: Any, features: Any, y: Any) -> None:
    from heteroscope.metrics import evaluate

    scores = evaluate(y, *model.predict(features, return_std=True))
    rows = {title: [f"{scores[name]:.4g}"] for name, title in _SCORES.items()}
    _print_scores("At this point; no rows were held out", ["training rows"], rows)


def _print_scores(title: str, columns: list[str], rows: dict[str, list[str]]) -> None:
    from rich.table import Table

    table = Table(title=title, **_TABLE)
    table.add_column("metric")
    for column in columns:
        table.add_column(column, justify="right")
    for name, values in rows.items():
        table.add_row(name, *values)
    _console().print(table)


def _print_diagnosis(model: Any) -> None:
    click.echo("\n" + model.diagnose().replace("HeteroskedasticRegressorCV", "the search (no --rho, no --gamma)"))


def _console() -> Any:
    """Standard output; a file or pipe gets plain text that is wide enough for every table."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 110, highlight=False)


def _near_one(rest: float, value: float) -> str:
    return f"1 - {rest:.2g}" if value > 0.99 else f"{value:.4f}"


def _verbose(quiet: bool) -> int:
    return int(not quiet and sys.stderr.isatty())


def _refuse_unwritable(target: Path) -> None:
    """Say before the work, not after it, that the result could not be written."""
    import tempfile

    parent = target.resolve().parent
    while not parent.exists():
        parent = parent.parent
    try:
        with tempfile.TemporaryFile(dir=parent):
            pass
    except OSError as error:
        reason = "is a file" if parent.is_file() else f"cannot be written to ({error.strerror})"
        raise InputError(f"{parent} {reason}: name another place with --out") from error


def _stop_workers() -> None:
    """End the processes that training started: an interrupted command leaves nothing running."""
    import multiprocessing
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for process in multiprocessing.active_children():
        if process.pid is not None:  # joblib's processes have no kill() of their own
            os.kill(process.pid, signal.SIGKILL)


def _one_line(message: object) -> str:
    return " ".join(str(message).split())


def _complain(message: str, code: int) -> NoReturn:
    click.echo(f"Error: {message}", err=True)
    sys.exit(code)
