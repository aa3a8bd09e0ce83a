"""Measure the seconds of a default fit on a small table, of NGBoost, and of an Optuna search over torch networks.

Prints one row per fit: seconds, ratios and test NLL. The table is concrete with 927 training rows; each method has two
processes or threads, and ours and NGBoost take turns. The torch search is what a user would write: a mean and a
precision network of 3 x 128, AdamW, batches of 256, 2,000 steps; Optuna suggests the learning rate and two weight
decays, and one held-out fifth of the rows scores each trial. A few trials are timed and scaled up to 100.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import optuna
import torch

from heteroscope import HeteroskedasticRegressorCV, datasets
from heteroscope.baselines import choose_methods
from heteroscope.data.scaling import fit_scaling
from heteroscope.distributions import metrics

N_TRIALS, TIMED_TRIALS = 100, 5  # of the Optuna search, and those that are timed
STEPS, BATCH, WIDTH = 2000, 256, 128
TURNS = 3
FITS = (
    "ours, defaults, the first of this shape on a machine: all is compiled",
    "the same in a new process, programs kept on disk",
    "the same again in that process",
    "NGBoost, 2,000 trees, early stopping and refit",
)


def main() -> None:
    """Print the table of BENCHMARKS.md."""
    torch.set_num_threads(2)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    split = _split()
    ngboost = choose_methods(["ngboost"], len(split.y_train))["ngboost"].set_params(random_state=0)
    turns = []
    for _ in range(TURNS):
        with TemporaryDirectory() as programs:
            ours = _ours_in_a_new_process(programs, 1) + _ours_in_a_new_process(programs, 2)
        turns.append([*ours, _timed(ngboost, split)])
    search = N_TRIALS / TIMED_TRIALS * _seconds(lambda: _torch_search(split, TIMED_TRIALS))
    seconds, scores = np.array(turns).transpose(2, 1, 0)  # of the four fits, turn by turn
    print(f"Concrete, {len(split.y_train)} training rows, medians of {TURNS} turns.\n")
    print("| fit | seconds | NGBoost's time over it, turn by turn | Optuna's time over it | test NLL |")
    print("|---|---:|---|---:|---:|")
    for name, times, score in zip(FITS, seconds, scores, strict=True):
        ratios = ", ".join(f"{ratio:.2f}" for ratio in seconds[-1] / times)
        print(f"| {name} | {np.median(times):.0f} | {ratios} | {search / np.median(times):.0f} | {score[0]:.2f} |")
    print(f"| {N_TRIALS} Optuna trials over torch, scaled from {TIMED_TRIALS} | {search:.0f} | | 1 | |")


def _split() -> datasets.Split:
    """Return the first 90/10 split of concrete."""
    return datasets.splits("concrete", protocol="literature", n_splits=1)[0]


def _ours_in_a_new_process(programs: str, n_fits: int) -> list[tuple[float, float]]:
    """Return seconds and test NLL of successive default fits; compiled programs are kept in `programs` only."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    done = subprocess.run(
        [sys.executable, "-c", f"from benchmarks.fit_time import fit_ours; fit_ours({n_fits})"],
        env=environment | {"XDG_CACHE_HOME": programs},
        capture_output=True,
        text=True,
        check=True,
    )
    seconds_and_scores = [float(number) for number in done.stdout.split()]
    return list(zip(seconds_and_scores[::2], seconds_and_scores[1::2], strict=True))


def fit_ours(n_fits: int) -> None:
    """Fit with default settings, and print seconds and test NLL of each fit."""
    for _ in range(n_fits):
        print(*_timed(HeteroskedasticRegressorCV(random_state=0), _split()))


def _timed(model, split) -> tuple[float, float]:
    """Return the seconds of the fit and its test NLL."""
    seconds = _seconds(lambda: model.fit(split.x_train, split.y_train))
    return seconds, metrics.nll(split.y_test, *model.predict(split.x_test, return_std=True))


def _seconds(work: Callable[[], object]) -> float:
    """Return the seconds that `work` takes."""
    start = perf_counter()
    work()
    return perf_counter() - start


def _torch_search(split: datasets.Split, n_trials: int) -> None:
    """Run an Optuna search over plain torch networks."""
    scaling = fit_scaling(split.x_train, split.y_train, torch.ones(len(split.y_train)).numpy())
    x = torch.tensor(scaling.inputs(split.x_train))
    y = torch.tensor(scaling.targets(split.y_train))
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(0))
    held, rest = order[: len(y) // 5], order[len(y) // 5 :]

    def objective(trial: optuna.Trial) -> float:
        mean, raw = _network(x.shape[1]), _network(x.shape[1])
        decays = [trial.suggest_float(f"decay_{name}", 1e-6, 1e-1, log=True) for name in ("mean", "precision")]
        groups = [
            {"params": net.parameters(), "weight_decay": decay} for net, decay in zip((mean, raw), decays, strict=True)
        ]
        solver = torch.optim.AdamW(groups, lr=trial.suggest_float("rate", 1e-4, 1e-2, log=True))
        for _ in range(STEPS):
            rows = rest[torch.randint(len(rest), (BATCH,))]
            loss = _nll(mean(x[rows]), raw(x[rows]), y[rows])
            solver.zero_grad()
            loss.backward()
            solver.step()
        with torch.no_grad():
            return float(_nll(mean(x[held]), raw(x[held]), y[held]))

    optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0)).optimize(objective, n_trials=n_trials)


def _network(n_features: int) -> torch.nn.Module:
    """Return a network of three hidden layers and one output."""
    sizes = [n_features, WIDTH, WIDTH, WIDTH]
    layers = [part for a, b in pairwise(sizes) for part in (torch.nn.Linear(a, b), torch.nn.SiLU())]
    return torch.nn.Sequential(*layers, torch.nn.Linear(WIDTH, 1), torch.nn.Flatten(0))


def _nll(mean: torch.Tensor, raw: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the mean of (precision (mean - y)^2 - log precision) / 2."""
    precision = torch.nn.functional.softplus(raw) + 1e-6
    return 0.5 * (precision * (mean - y) ** 2 - torch.log(precision)).mean()
