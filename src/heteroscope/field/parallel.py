"""Independent tasks in one process or several, with progress; joblib's `parallel_config` moves them to a cluster."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from joblib import Parallel, delayed

from heteroscope.core import Progress

Task = TypeVar("Task")
Result = TypeVar("Result")


def run_all(
    function: Callable[[Task], Result], tasks: Sequence[Task], n_jobs: int, progress: Progress | None
) -> list[Result]:
    """[function(task) for task in tasks]; `progress(done, total)` is called as results arrive, in order."""
    results: list[Result] = []
    for result in Parallel(n_jobs=n_jobs, return_as="generator")(delayed(function)(task) for task in tasks):
        results.append(result)
        if progress is not None:
            progress(len(results), len(tasks))
    return results
