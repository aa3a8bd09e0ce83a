"""Commands whose every complaint is one line on standard error, `Error: ...`, and a non-zero exit code."""

import difflib
import multiprocessing
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from heteroscope.core import InputError

INTERRUPTED = 130  # 128 + SIGINT, as shells have it
QUIET_TRACKER = "ignore:resource_tracker:UserWarning"  # joblib's: after Ctrl-C it misses what killed workers held
_QUOTED = r"(?<!\w)(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
_ARGUMENT = r"(?<![\w./\\-])(\w+)(?![\w/\\]|[.-]\w)(?:=['\"]?([\w.+-]+\w)['\"]?)?"  # no part of a path
GRACE = 10.0  # seconds that an interrupted command has to put its things in order


class OneLineGroup(click.Group):
    """A group whose every complaint is one line on standard error, `Error: ...`, and a non-zero exit code."""

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run the command and leave, whatever happened."""
        os.environ.setdefault("PYTHONWARNINGS", QUIET_TRACKER)
        try:
            with _interrupts_that_count():
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
            _refuse_no_jobs(ctx)
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except ValueError as error:  # `InputError` and what scikit-learn says about its input
            raise click.ClickException(_in_options(_one_line(error), ctx)) from error
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


def _refuse_no_jobs(ctx: click.Context) -> None:
    if 0 in (ctx.params.get("jobs"), ctx.params.get("n_jobs")):
        raise InputError("--jobs must be a positive number or -1 for all cores, got 0")


def _in_options(message: str, ctx: click.Context) -> str:
    """A message about Python arguments, `missing='impute'` or `max_steps`, in terms of the commands' options.

    What stands in quotes or in a path is the user's own and stays.
    """
    group = ctx.parent.command if ctx.parent else ctx.command
    commands = group.commands.values() if isinstance(group, click.Group) else [ctx.command]
    options = {param.name: param.opts[0] for command in commands for param in command.params}

    def spelled(match: re.Match[str]) -> str:
        name, value = match.groups()
        if name is None or name not in options or (value is None and "_" not in name):
            return match[0]
        return f"{options[name]} {value}" if value else options[name]

    return re.sub(f"{_QUOTED}|{_ARGUMENT}", spelled, message)


@contextmanager
def _interrupts_that_count() -> Iterator[None]:
    """Ctrl-C ends the command: if a library swallows it, or waits for a process that was just being born, by force."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:  # a background job ignores interrupts
        yield
        return

    def interrupt(number: int, frame: Any) -> None:
        watch = threading.Timer(GRACE, _leave_by_force)
        watch.daemon = True
        watch.start()
        signal.default_int_handler(number, frame)

    before = sys.unraisablehook

    def unraisable(lost: Any) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):  # it came while a destructor or JAX's garbage collection ran
            _leave_by_force()
        before(lost)

    signal.signal(signal.SIGINT, interrupt)
    sys.unraisablehook = unraisable
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.unraisablehook = before


def _leave_by_force() -> NoReturn:
    _kill_workers()
    os.write(sys.stderr.fileno(), b"Error: interrupted\n")
    os._exit(INTERRUPTED)


def _stop_workers() -> None:
    """End the processes that training started: an interrupted command leaves nothing running."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _kill_workers()


def _kill_workers() -> None:
    for process in multiprocessing.active_children():
        if process.pid is not None:  # joblib's processes have no kill() of their own
            os.kill(process.pid, signal.SIGKILL)


def _one_line(message: object) -> str:
    return " ".join(str(message).split())


def _complain(message: str, code: int) -> NoReturn:
    click.echo(f"Error: {message}", err=True)
    sys.exit(code)
