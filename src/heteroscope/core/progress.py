"""A progress bar on standard error for work that is counted; it appears once two seconds are over."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

Progress = Callable[[int, int], None]  # told how many are done, and of how many
QUIET_SECONDS = 2.0


@contextmanager
def progress_bar(what: str, enabled: bool, unit: str = "models") -> Iterator[Progress | None]:
    """A callback (done, total) that draws a bar, or None if no bar is wanted."""
    if not enabled:
        yield None
        return
    from rich import progress
    from rich.console import Console

    columns = progress.TextColumn("{task.description}"), progress.BarColumn(), progress.MofNCompleteColumn()
    times = progress.TimeElapsedColumn(), progress.TextColumn("left"), progress.TimeRemainingColumn()
    bar = progress.Progress(*columns, progress.TextColumn(unit), *times, console=Console(file=sys.stderr))
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
