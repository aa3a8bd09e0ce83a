"""Click commands that report every error as one line on standard error, `Error: ...`, with a non-zero exit code.

Only several problems of one table are a list, wrapped at the width of the terminal.
"""

import difflib
import io
import os
import shlex
import shutil
import sys
import textwrap
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

import click

from heteroscope.cli.interrupts import INTERRUPTED, interruptible, stop_workers, was_interrupted
from heteroscope.core import InputError, Parameter, TableError, printable

_MOST_CHARACTERS = 1000  # of an error or warning
_MOST_ITEMS = 20  # of the problems of one table
# Hide joblib's warning that it misses the files of killed workers after Ctrl-C.
_HIDDEN_WARNING = "ignore:resource_tracker:UserWarning"


class OneLineGroup(click.Group):
    """A group of commands that reports every error as one line."""

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run the command and exit, whatever happened."""
        os.environ.setdefault("PYTHONWARNINGS", _HIDDEN_WARNING)
        _refuse_closed_output()
        try:
            code = self._run(*args, **extra)
            sys.stdout.flush()  # a full disk is found here, not after the end
        except OSError as error:
            _discard_output()
            if isinstance(error, BrokenPipeError):  # its reader wants no more
                sys.exit(1)
            _exit_with(f"standard output cannot be written ({error.strerror})", 1)
        sys.exit(code)

    def _run(self, *args: Any, **extra: Any) -> int:
        """Run the command and return its exit code, or exit with one line about an error."""
        try:
            with interruptible(), warnings.catch_warnings():
                warnings.showwarning = _OneLineWarnings()
                code = super().main(*args, **extra | {"standalone_mode": False})
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message())
            return 0
        except click.UsageError as error:
            help_line = f" (see `{error.ctx.command_path} --help`)" if error.ctx else ""
            _exit_with(f"{_one_line(error.format_message())}{help_line}", error.exit_code)
        except _ManyLines as error:
            for line in error.lines:
                click.echo(line, err=True)
            return error.exit_code
        except click.ClickException as error:
            if was_interrupted():
                stop_workers()
                _exit_with("interrupted", INTERRUPTED)
            _exit_with(error.format_message(), error.exit_code)
        except click.Abort:
            stop_workers()
            _exit_with("interrupted", INTERRUPTED)
        return code if isinstance(code, int) else 0

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; turn an interrupt into `click.Abort`, since click would print an empty line first."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise click.Abort from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of that name, or fail with a suggestion of the nearest name."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            near = difflib.get_close_matches(name, self.commands, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(self.commands)}"
            ctx.fail(f"there is no command {name!r}: {hint}")
        return super().resolve_command(ctx, args)


class OneLineCommand(click.Command):
    """A command that reports an error as one line, or with `--debug` as a traceback."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(click.Option(["--quiet"], is_flag=True, help="Show no progress bars."))
        self.params.append(click.Option(["--debug"], is_flag=True, help="Show the traceback of an error."))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command's function."""
        if ctx.params.pop("debug"):
            return super().invoke(ctx)
        try:
            _refuse_zero_jobs(ctx)
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except TableError as error:
            raise _ManyLines(error, _OptionNames(ctx)) from error
        except InputError as error:
            raise click.ClickException(_one_line(error.message(_OptionNames(ctx)))) from error
        except ValueError as error:  # such as scikit-learn's about its input
            raise click.ClickException(_one_line(error)) from error
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


class _ManyLines(click.ClickException):
    """Several problems of a table: a heading, an item each, and perhaps the options that settle them on one line."""

    def __init__(self, error: TableError, spell: Callable[[Parameter], str]) -> None:
        head, *items = map(_one_line, error.lines(spell, " "))
        options = [f"{text[:1].upper()}{text[1:]}" for text in items[len(error.problems) :]]
        items = items[: len(error.problems)]
        hidden = len(items) - _MOST_ITEMS
        if hidden > 1:
            items = [*items[:_MOST_ITEMS], f"and {hidden} more"]
        width = shutil.get_terminal_size((80, 24)).columns
        wrapped = [textwrap.fill(f"- {item}", width, subsequent_indent="  ", break_on_hyphens=False) for item in items]
        self.lines = [f"Error: {head}", *wrapped, *options]
        super().__init__("\n".join(self.lines))


class _OptionNames:
    """Write a parameter of the library as the option that sets it: `max_steps` as `--steps`.

    An option of the running command goes before one of another command. Without such an option the parameter is
    written as in Python.
    """

    def __init__(self, ctx: click.Context) -> None:
        group = ctx.parent.command if ctx.parent else None
        others = group.commands.values() if isinstance(group, click.Group) else []
        self.flags = {
            option.name: option.opts[0]
            for command in (*others, ctx.command)
            for option in command.params
            if isinstance(option, click.Option)
        }

    def __call__(self, parameter: Parameter) -> str:
        flag, value = self.flags.get(parameter.name), parameter.value
        if flag is None:
            return str(parameter)
        if not isinstance(value, tuple):
            return flag if value is None else f"{flag} {shlex.quote(str(value))}"
        together = [",".join(value)] if not any("," in name for name in value) else value
        return " ".join(f"{flag} {shlex.quote(name)}" for name in together)


def _refuse_zero_jobs(ctx: click.Context) -> None:
    if 0 in (ctx.params.get("jobs"), ctx.params.get("n_jobs")):
        raise InputError("--jobs must be a positive number or -1 for all cores, got 0")


def _one_line(message: object) -> str:
    """Return a message on one line that is safe in a terminal, whatever names of files and columns it quotes."""
    return printable(" ".join(str(message).split()), _MOST_CHARACTERS)


def _exit_with(message: str, code: int) -> NoReturn:
    click.echo(f"Error: {_one_line(message)}", err=True)
    sys.exit(code)


class _OneLineWarnings:
    """Print each warning once, as one line on standard error."""

    def __init__(self) -> None:
        self._printed: set[str] = set()

    def __call__(self, message: Warning | str, *_: object, **__: object) -> None:
        line = _one_line(message)
        if line not in self._printed:
            self._printed.add(line)
            click.echo(f"Warning: {line}", err=True)


def _refuse_closed_output() -> None:
    """Exit with an error if standard output is closed: Python would drop what is printed, and report success."""
    if sys.stdout is None:
        _exit_with("standard output is closed: redirect it to a file, or to /dev/null", 1)
    if isinstance(sys.stdout, io.TextIOWrapper):  # names of files may hold bytes that are no text
        sys.stdout.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """Discard what is still to be printed: Python would try again at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
