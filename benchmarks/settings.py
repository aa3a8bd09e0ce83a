"""Measure test scores for different networks, batch sizes, learning rates and numbers of steps.

Print the table of docs/research/defaults.md: one row per setting, with NLL and RMSE on three data sets and the seconds
per model. Each fit is an ensemble of three networks at one fixed (rho, gamma) per set, on three splits. To leave search
and calibration out of the comparison, the NLL is taken after scaling the std by the factor that is best for the test
rows.
"""

from time import perf_counter
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from heteroscope import datasets
from heteroscope.data.rows import Rows
from heteroscope.distributions import metrics
from heteroscope.networks import Architecture
from heteroscope.networks.ensemble import moment_match, predict_members, stack_members
from heteroscope.networks.objectives import joint_objective, mean_objective
from heteroscope.training.recipes import Recipe
from heteroscope.training.schedules import cosine_adam
from heteroscope.training.stages import Stage
from heteroscope.training.steps import Job
from heteroscope.training.workers import Task, train

LOGITS = {"yacht": 9.0, "housing": 3.0, "concrete": 7.0}  # logit of rho on the diagonal, where each set is fitted
N_SPLITS, N_MEMBERS = 3, 3
A = {"hidden": (128, 128, 128), "batch": 256, "peak": 5e-3, "memory": 0.999, "share": 5 / 12}
B = {"hidden": (64, 64, 64), "batch": 128, "peak": 2e-2, "memory": 0.95, "share": 0.1}
TRIALS: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "A: 3 x 128, batches of 256, rate 5e-3, memory 0.999, 5/12 for the mean, 2,000 steps",
        A | {"steps": 2000},
    ),
    ("A, 500 steps", A | {"steps": 500}),
    ("3 x 128, batches of 256, schedule B, 500 steps", B | {"hidden": (128,) * 3, "batch": 256, "steps": 500}),
    ("the same without batches", B | {"hidden": (128,) * 3, "batch": None, "steps": 500}),
    (
        "B, the default: 3 x 64, batches of 128, rate 2e-2, memory 0.95, 1/10 for the mean, 1,000 steps",
        B | {"steps": 1000},
    ),
    ("B, 700 steps", B | {"steps": 700}),
    ("B, batches of 64", B | {"batch": 64, "steps": 1000}),
    ("B, batches of 256", B | {"batch": 256, "steps": 1000}),
    ("B, rate 1e-2", B | {"peak": 1e-2, "steps": 1000}),
    ("B, rate 3e-2", B | {"peak": 3e-2, "steps": 1000}),
    ("B, memory 0.98", B | {"memory": 0.98, "steps": 1000}),
    ("B, 3 x 32", B | {"hidden": (32,) * 3, "steps": 1000}),
    ("B, 2 x 64", B | {"hidden": (64,) * 2, "steps": 1000}),
    ("B, 4 x 64", B | {"hidden": (64,) * 4, "steps": 1000}),
    ("B, leaky ReLU", B | {"activation": "leaky_relu", "steps": 1000}),
    ("B, GELU", B | {"activation": "gelu", "steps": 1000}),
    ("B, tanh", B | {"activation": "tanh", "steps": 1000}),
)


def main() -> None:
    """Print the table of docs/research/defaults.md."""
    columns = " | ".join(f"{name}: NLL, RMSE" for name in LOGITS)
    print(f"| setting | {columns} | core seconds per model |")
    print("|---|" + "---:|" * (len(LOGITS) + 1))
    for title, setting in TRIALS:
        scores = [_trial(name, logit, **setting) for name, logit in LOGITS.items()]
        cells = " | ".join(f"{nll:.2f}, {rmse:.2f}" for nll, rmse, _ in scores)
        print(f"| {title} | {cells} | {np.mean([seconds for *_, seconds in scores]):.1f} |", flush=True)
    print()


def _trial(
    name: str,
    logit: float,
    steps: int,
    hidden: tuple[int, ...],
    batch: int | None,
    share: float,
    peak: float,
    memory: float,
    activation: str = "silu",
) -> tuple[float, float, float]:
    """Return mean test NLL and RMSE over splits, and seconds per model without compilation."""
    scores = []
    for split in datasets.splits(name, protocol="literature", n_splits=N_SPLITS):
        rows = Rows(split.x_train, split.y_train, np.ones(len(split.y_train)))
        scaling = rows.scaling()
        first = round(share * steps)
        stages = (
            Stage(mean_objective, ("mean",), cosine_adam(first, peak)._replace(memory=memory)),
            Stage(joint_objective, ("mean", "precision"), cosine_adam(steps - first, peak)._replace(memory=memory)),
        )
        recipe = Recipe(Architecture(rows.x.shape[1], hidden, activation), stages, batch)
        task = Task(rows.batch(scaling), [Job(logit, -logit, seed) for seed in range(N_MEMBERS)])
        train([task._replace(jobs=task.jobs[:1])], recipe, n_jobs=1)  # compiles
        start = perf_counter()
        (fits,) = train([task], recipe, n_jobs=1)
        seconds = (perf_counter() - start) / N_MEMBERS
        moments = moment_match(
            *predict_members(stack_members([f.params for f in fits]), split.x_test, scaling, activation)
        )
        scores.append(
            (
                _best_nll(split.y_test, moments.mean, moments.std),
                metrics.rmse(split.y_test, moments.mean, moments.std),
                seconds,
            )
        )
    nll, rmse, seconds = np.mean(scores, axis=0)
    return float(nll), float(rmse), float(seconds)


def _best_nll(y: np.ndarray, mean: np.ndarray, std: np.ndarray) -> float:
    """Return the NLL after scaling the std by the best factor for these rows."""
    return float(minimize_scalar(lambda s: metrics.nll(y, mean, np.exp(s) * std), bounds=(-2, 3)).fun)


if __name__ == "__main__":
    main()
