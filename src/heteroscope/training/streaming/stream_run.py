"""Start a run on a stream, and train models in it: the surveyed stream, its row order and its checkpoint folder."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

from heteroscope.core import (
    Identity,
    InputError,
    exclusive_folder,
    progress_bar,
    resolve_stream_batch_size,
)
from heteroscope.data import RowOrder, Stream, Survey, survey_stream
from heteroscope.training.recipes import Recipe
from heteroscope.training.steps import Job
from heteroscope.training.streaming.checkpoint import remember_choice, run_identity
from heteroscope.training.streaming.rounds import StreamTraining, train_on_stream
from heteroscope.training.streaming.worker import PredictMembers, RoundEvaluation
from heteroscope.training.tile import Fit

SEARCH_SHARE = 0.1  # share of the rows that a search holds out, up to the number of rows that a survey keeps


class StreamRun(NamedTuple):
    """One fit on a stream: the surveyed stream, its row order and its checkpoint folder."""

    survey: Survey
    order: RowOrder
    store: Path | None  # folder of the checkpoints; None: nothing is kept
    n_jobs: int | None
    verbose: bool

    def train(
        self,
        name: str,
        method: Identity,
        jobs: Sequence[Job],
        recipe: Recipe,
        predict_members: PredictMembers,
        drop_losing: bool = False,
    ) -> list[Fit]:
        """Train all jobs on each batch that is read; return the fits in the order of the jobs.

        `name` is that of the checkpoint and of the progress bar. `method` declares what the jobs minimise and at which
        points. With `drop_losing`, the jobs are points of one line, and points that can no longer win are not trained
        to the end.
        """
        evaluation = RoundEvaluation(self.survey.sample, self.survey.held, predict_members)
        training = StreamTraining(self.order, jobs, recipe, evaluation, drop_losing)
        checkpoint = None if self.store is None else self.store / f"{name}.npz"
        with progress_bar(name, self.verbose, "steps") as progress:
            return train_on_stream(
                training, n_jobs=self.n_jobs, checkpoint=checkpoint, method=method, progress=progress
            )

    def choose(self, method: Identity, jobs: Sequence[Job], recipe: Recipe, choose: Callable[[], int]) -> int:
        """Return the index of the candidate to continue with: the one in the folder, or that of `choose()`.

        The choice is kept because a near tie may be decided the other way when the run is resumed elsewhere.
        """
        path = None if self.store is None else self.store / "choice.json"
        return remember_choice(path, run_identity(self.order, jobs, recipe, method), choose)


def start_stream_run(
    stream: Stream,
    share: float,
    batch_size: int | str | None,
    seed: int,
    store: str | Path | None,
    n_jobs: int | None,
    verbose: bool | int,
) -> StreamRun:
    """Read the stream once and hold out a share of its rows, or load what an earlier run in `store` kept of it."""
    folder = None if store is None else Path(store)
    lock = nullcontext() if folder is None else exclusive_folder(folder)
    with lock, progress_bar("surveying", bool(verbose), "rows") as progress:
        survey = survey_stream(stream, share, folder, progress)
    order = RowOrder(stream, survey.training, survey.scaling, resolve_stream_batch_size(batch_size), seed)
    return StreamRun(survey, order, folder, n_jobs, bool(verbose))


def refuse_with_stream(y: object, sample_weight: object, schedule: object = None) -> None:
    """Raise an error for arguments that a stream cannot be combined with."""
    if y is not None:
        raise InputError("a stream brings its own target: call fit(stream), without y")
    if sample_weight is not None:
        raise InputError("a stream takes no sample_weight: leave it out, or give arrays in memory")
    if schedule in ("fast", "levelled"):
        raise InputError(
            f'schedule="{schedule}" needs all rows in memory, which a stream is not: use "cosine" or "paper"'
        )
