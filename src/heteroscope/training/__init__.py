"""Train models: Adam, recipes, inspection, tiles, worker processes and streams."""

from heteroscope.training.adam import cosine_adam, stable_peak_rate
from heteroscope.training.cluster_backends import use_backend
from heteroscope.training.recipes import PATIENT_SHARES, Recipe, Stage, exchange_recipes, mean_first_recipe
from heteroscope.training.streaming.partial_fit import begin_partial_fit, continue_partial_fit, partial_fits
from heteroscope.training.streaming.rounds import Plan, train_on_stream
from heteroscope.training.streaming.stream_run import (
    SEARCH_SHARE,
    StreamRun,
    held_out_score,
    refuse_with_stream,
    start_stream_run,
)
from heteroscope.training.streaming.worker import Judges, PredictMembers
from heteroscope.training.tile import Fit, Job
from heteroscope.training.workers import Task, prepare_worker, run_tasks, train, train_as_tiles, until_done

__all__ = [
    "PATIENT_SHARES",
    "SEARCH_SHARE",
    "Fit",
    "Job",
    "Judges",
    "Plan",
    "PredictMembers",
    "Recipe",
    "Stage",
    "StreamRun",
    "Task",
    "begin_partial_fit",
    "continue_partial_fit",
    "cosine_adam",
    "exchange_recipes",
    "held_out_score",
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
