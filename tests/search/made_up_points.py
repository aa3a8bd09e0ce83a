"""Points whose held-out predictions are made up, so that the best of them is known."""

import numpy as np

from heteroscope.core.status import Status
from heteroscope.data.rows import Rows
from heteroscope.networks import Architecture
from heteroscope.phases.labels import HeldOut, Observables
from heteroscope.search import Fold, Point
from heteroscope.search.cross_validation import FoldResult
from heteroscope.training.recipes import mean_first_recipe

RANDOM = np.random.default_rng(0)
N = 400
Y = RANDOM.normal(size=N)
ROWS = Rows(np.arange(float(N))[:, None], Y, np.ones(N))
HALVES = np.arange(200), np.arange(200, 400)
FOLDS = [Fold(ROWS.take(HALVES[1]), ROWS.take(HALVES[0])), Fold(ROWS.take(HALVES[0]), ROWS.take(HALVES[1]))]
RECIPE = mean_first_recipe(Architecture(1, (8,)), 100)
HOLDS = HeldOut(score=1.0, residual_share=0.5, nll_gain=0.3)
HONEST = Observables(0.7, 0.5, 0.4, 1.0, 1.0, HOLDS)
MEMORISED = HONEST._replace(residual_share=0.01, held_out=HeldOut(score=50.0, residual_share=0.9, nll_gain=-20.0))
FLAT = HONEST._replace(mean_spread=0.0, residual_share=1.0, log_precision_spread=0.0)


def point(logit_rho, std, mean_mse=1.0, std_mse=1.0, mean=None, observables=HONEST, recipe=RECIPE):
    """A point with the same std everywhere, seen by both halves."""
    mean = np.zeros(N) if mean is None else mean
    results = tuple(
        FoldResult(
            mean[None, half],
            np.full((1, len(half)), float(std)),
            {"mean_mse": mean_mse, "std_mse": std_mse},
            observables,
            Status.CONVERGED,
        )
        for half in HALVES
    )
    return Point((float(logit_rho), -float(logit_rho)), results, recipe)
