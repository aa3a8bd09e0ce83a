"""Report progress as a callback (done, total), and draw it as a bar on standard error."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Timer
from time import monotonic
from typing import TypeAlias

#: A function that is called with the number of finished items and their total number.
Progress: TypeAlias = Callable[[int, int], None]
QUIET_SECONDS = 2.0  # work that ends within this time shows no bar
UNKNOWN = "-:--:--"
EARLY = 0.125  # share of the work before which its rate says little: the first trainings are quicker, or compile


def shifted(progress: Progress | None, offset: int, total: int) -> Progress | None:
    """Return a callback for one section of a longer piece of work, or None if `progress` is None.

    (done, section's total) -> progress(offset + done, total), where `offset` items were finished before the section.
    """
    if progress is None:
        return None
    return lambda done, _: progress(offset + done, total)


def time_left(seconds: float, n_new: int, done: int, total: int) -> str:
    """Return how long the rest takes at the average rate since the first report, "-:--:--" as long as that is unsure.

    Parameters
    ----------
    seconds : float
        Time since the first report, which comes when programs are compiled and shows what was there before.
    n_new : int
        What was finished in this time.
    done, total : int
        What is finished, and all there is.
    """
    if n_new <= 0 or n_new < EARLY * (total - done + n_new):
        return UNKNOWN
    return str(timedelta(seconds=round(seconds / n_new * max(total - done, 0))))


@contextmanager
def progress_bar(what: str, enabled: bool, unit: str = "models") -> Iterator[Progress | None]:
    """Yield a callback that draws a bar titled `what`, or None if not `enabled`; the bar appears after two seconds."""
    if not enabled:
        yield None
        return
    from rich import progress
    from rich.console import Console

    columns = progress.TextColumn("{task.description}"), progress.BarColumn(), progress.MofNCompleteColumn()
    times = progress.TimeElapsedColumn(), progress.TextColumn("left {task.fields[left]}")
    # In a notebook, rich's own bar needs ipywidgets and asks for them; one line that is rewritten needs nothing.
    notebook = Console().is_jupyter
    console = Console(file=sys.stderr, force_jupyter=False, force_terminal=True if notebook else None)
    bar = progress.Progress(
        *columns, progress.TextColumn(unit), *times, console=console, refresh_per_second=2 if notebook else 10
    )
    task = bar.add_task(what, total=None, left=UNKNOWN)
    first: list[tuple[float, int]] = []

    def update(done: int, total: int) -> None:
        now = monotonic()
        if not first:
            first.append((now, done))
        left = time_left(now - first[0][0], done - first[0][1], done, total)
        bar.update(task, completed=done, total=total, left=left)

    # A timer starts the bar. The first report may come much later, while programs are compiled.
    timer = Timer(QUIET_SECONDS, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield update
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
