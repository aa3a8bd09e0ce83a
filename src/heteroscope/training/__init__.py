"""Train models: Adam, recipes, inspection, tiles, worker processes and streams."""

from heteroscope.training.adam import bearable_peak, cosine_adam
from heteroscope.training.cluster_backends import use_backend
from heteroscope.training.recipes import PATIENT_SHARES, Recipe, Stage, exchanging_rounds, mean_first_recipe
from heteroscope.training.streaming.partial_fit import begin, fits, go_on
from heteroscope.training.streaming.rounds import Plan, train_on_stream
from heteroscope.training.streaming.stream_run import (
    SEARCH_SHARE,
    Ground,
    held_score,
    refuse_beside_a_stream,
    stream_batch,
    survey_ground,
)
from heteroscope.training.streaming.worker import Judging, Reading
from heteroscope.training.tile import Fit, Job
from heteroscope.training.workers import Task, prepare_worker, run, train, train_each, until_done

__all__ = [
    "PATIENT_SHARES",
    "SEARCH_SHARE",
    "Fit",
    "Ground",
    "Job",
    "Judging",
    "Plan",
    "Reading",
    "Recipe",
    "Stage",
    "Task",
    "bearable_peak",
    "begin",
    "cosine_adam",
    "exchanging_rounds",
    "fits",
    "go_on",
    "held_score",
    "mean_first_recipe",
    "prepare_worker",
    "refuse_beside_a_stream",
    "run",
    "stream_batch",
    "survey_ground",
    "train",
    "train_each",
    "train_on_stream",
    "until_done",
    "use_backend",
]
