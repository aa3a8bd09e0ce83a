"""A progress bar on standard error for work that is counted in models; it appears once two seconds are over."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

from heteroscope.engine import Progress

QUIET_SECONDS = 2.0


@contextmanager
def progress_bar(what: str, enabled: bool) -> Iterator[Progress | None]:
    """A callback (done, total) that draws a bar, or None if no bar is wanted."""
    if not enabled:
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("models")
    bar = Progress(
        *columns, TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(), console=Console(file=sys.stderr)
    )
    task = bar.add_task(what, total=None)

    def told(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)

    # A timer starts the bar, not the first report, which may be long in coming while programs are compiled.
    timer = Timer(QUIET_SECONDS, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield told
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
