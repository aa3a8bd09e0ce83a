"""Train models: Adam, learning-rate schedules, recipes, inspection, the training loop, worker processes and streams."""

from heteroscope.training.cluster_backends import use_backend
from heteroscope.training.recipes import UNINSPECTED_SHARES, Recipe, exchange_recipes, mean_first_recipe
from heteroscope.training.schedules import cosine_adam, stable_peak_rate
from heteroscope.training.stages import Stage
from heteroscope.training.steps import Job
from heteroscope.training.streaming.partial_fit import begin_partial_fit, continue_partial_fit, partial_fits
from heteroscope.training.streaming.rounds import StreamTraining, train_on_stream
from heteroscope.training.streaming.stream_run import (
    SEARCH_SHARE,
    StreamRun,
    refuse_with_stream,
    start_stream_run,
)
from heteroscope.training.streaming.worker import PredictMembers, RoundEvaluation
from heteroscope.training.tile import Fit
from heteroscope.training.workers import Task, prepare_worker, run_tasks, train, train_as_tiles, until_done

__all__ = [
    "SEARCH_SHARE",
    "UNINSPECTED_SHARES",
    "Fit",
    "Job",
    "PredictMembers",
    "Recipe",
    "RoundEvaluation",
    "Stage",
    "StreamRun",
    "StreamTraining",
    "Task",
    "begin_partial_fit",
    "continue_partial_fit",
    "cosine_adam",
    "exchange_recipes",
    "mean_first_recipe",
    "partial_fits",
    "prepare_worker",
    "refuse_with_stream",
    "run_tasks",
    "stable_peak_rate",
    "start_stream_run",
    "train",
    "train_as_tiles",
    "train_on_stream",
    "until_done",
    "use_backend",
]
