"""What every fit on a stream begins with and is made of: a survey, an order of rows, and rounds with a progress bar."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from heteroscope.core import (
    Identity,
    InputError,
    exclusive_folder,
    progress_bar,
    resolve_stream_batch_size,
)
from heteroscope.data import RowOrder, Stream, Survey, survey_stream
from heteroscope.distributions import metrics
from heteroscope.networks import stack_members
from heteroscope.training.recipes import Recipe
from heteroscope.training.streaming.checkpoint import describe, kept_choice
from heteroscope.training.streaming.rounds import Plan, train_on_stream
from heteroscope.training.streaming.worker import Judges, PredictMembers
from heteroscope.training.tile import Fit, Job

SEARCH_SHARE = 0.1  # of the rows that a search is judged by, if that is not more than a survey keeps


class StreamRun(NamedTuple):
    """What models of one fit stand on: the surveyed stream, its order, and a folder for what must not be lost."""

    survey: Survey
    order: RowOrder
    store: Path | None
    n_jobs: int | None
    verbose: bool

    def train(
        self,
        name: str,
        method: Identity,
        jobs: Sequence[Job],
        recipe: Recipe,
        read: PredictMembers,
        drops: bool = False,
    ) -> list[Fit]:
        """The jobs' fits, all on each batch that is read; `name` is the checkpoint's and the progress bar's.

        `method` declares what the jobs minimise and at which points.
        """
        judging = Judges(self.survey.sample, self.survey.held, read)
        plan = Plan(self.order, jobs, recipe, judging, drops)
        checkpoint = None if self.store is None else self.store / f"{name}.npz"
        with progress_bar(name, self.verbose, "steps") as progress:
            return train_on_stream(plan, n_jobs=self.n_jobs, checkpoint=checkpoint, method=method, progress=progress)

    def choose(self, method: Identity, jobs: Sequence[Job], recipe: Recipe, choose: Callable[[], int]) -> int:
        """Which of the trained candidates to go on with: kept in the folder, since a near tie may fall either way."""
        path = None if self.store is None else self.store / "choice.json"
        return kept_choice(path, describe(self.order, jobs, recipe, method), choose)


def start_stream_run(
    stream: Stream, share: float, batch_size: Any, seed: int, store: Any, n_jobs: int | None, verbose: Any
) -> StreamRun:
    """Read the stream once, or find what an earlier run in `store` kept of it."""
    folder = None if store is None else Path(store)
    alone = nullcontext() if folder is None else exclusive_folder(folder)
    with alone, progress_bar("surveying", bool(verbose), "rows") as progress:
        found = survey_stream(stream, share, folder, progress)
    order = RowOrder(stream, found.training, found.scaling, resolve_stream_batch_size(batch_size), seed)
    return StreamRun(found, order, folder, n_jobs, bool(verbose))


def refuse_with_stream(y: Any, sample_weight: Any, schedule: Any = None) -> None:
    """One line for what a stream cannot be combined with."""
    if y is not None:
        raise InputError("a stream brings its own target: call fit(stream), without y")
    if sample_weight is not None:
        raise InputError("a stream takes no sample_weight: leave it out, or give arrays in memory")
    if schedule in ("fast", "levelled"):
        raise InputError(
            f'schedule="{schedule}" needs all rows in memory, which a stream is not: use "cosine" or "paper"'
        )


def held_out_score(fit: Fit, ground: StreamRun, read: PredictMembers) -> float | None:
    """`squared_score` of the rows held out, if there are any."""
    held = ground.survey.held
    if not len(held.y):
        return None
    (mean,), (std,) = read(stack_members([fit.params]), held.x, ground.order.scaling)
    return metrics.squared_score(held.y, mean, std)
