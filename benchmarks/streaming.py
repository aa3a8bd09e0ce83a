"""Measure training on a stream, in four parts, each of which prints a table or a sentence.

speed: rows per second from a stream and from memory; memory: peak resident memory by number of rows; epoch: the time of
one epoch of the paper's ClimSim run; accuracy: scores beside those of the true distribution. Files in ClimSim's format
with a known mean and std are generated first and kept in the folder --data for the next run. `python -m
benchmarks.streaming --help` shows how to run single parts, or all of them at another size.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from tempfile import gettempdir

import jax
import numpy as np
import psutil

from heteroscope.baselines import choose_methods
from heteroscope.core.grids import diagonal_logits
from heteroscope.data.rows import Batch, Rows
from heteroscope.datasets.climsim import N_ROWS, PAPER, climsim_stream, draw_test_rows
from heteroscope.datasets.climsim_generated import generate_climsim, truth
from heteroscope.distributions import metrics
from heteroscope.networks import Architecture
from heteroscope.training.recipes import Recipe, mean_first_recipe
from heteroscope.training.stages import Stage
from heteroscope.training.steps import Job, init_model, take_steps, with_new_optimiser
from heteroscope.training.streaming.rounds import StreamTraining, train_on_stream
from heteroscope.training.streaming.stream_run import start_stream_run
from heteroscope.training.streaming.worker import RoundEvaluation, StreamRound, train_group
from heteroscope.training.workers import pad, prepare_worker, run_tasks

N_POINTS = 12  # of the diagonal
JOBS = [Job(float(t), -float(t), 0) for t in diagonal_logits(N_POINTS)]
TARGET = "cam_out_NETSW"
METHODS = ("ours", "beta-nll", "mle-ensemble")
PARTS = ("speed", "memory", "epoch", "accuracy")
EXAMPLE_FIT = """
import sys
from heteroscope import HeteroskedasticRegressorCV
from heteroscope.datasets.climsim import PAPER, climsim_stream
model = HeteroskedasticRegressorCV(n_coarse=12, n_fine=0, n_members=1, max_steps=int(sys.argv[2]), n_jobs=2,
                                   random_state=0, **PAPER)
model.fit(climsim_stream(sys.argv[1]))
"""


def main(arguments: list[str] | None = None) -> None:
    """Run the chosen parts, or all; at full size all take about an hour on two cores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"among {', '.join(PARTS)}  [default: all]")
    parser.add_argument(
        "--data", type=Path, default=Path(gettempdir()) / "heteroscope-streaming", help="folder of the files"
    )
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of epoch and accuracy")
    parser.add_argument("--memory-rows", default="100000,1000000,10091520", help="rows of memory, comma-separated")
    parser.add_argument("--steps", type=int, default=150, help="steps of speed and memory")
    parser.add_argument("--turns", type=int, default=5, help="timed turns of speed")
    parser.add_argument("--epochs", type=float, default=6.0, help="epochs of accuracy")
    parser.add_argument("--hidden", default="64,64", help="hidden layers of accuracy")
    chosen = parser.parse_args(arguments if arguments is not None else [])
    for part in chosen.parts or PARTS:
        if part not in PARTS:
            parser.error(f"no part is called {part!r}: choose one of {', '.join(PARTS)}")
        globals()[f"_{part}"](chosen)


def _generated_files(chosen: argparse.Namespace, n_rows: int) -> Path:
    """Return the folder of generated files with this many rows; write them if they are missing."""
    folder = chosen.data / f"climsim-{n_rows}"
    if not (folder / "complete").exists():
        generate_climsim(folder, n_rows)
        (folder / "complete").touch()
    return folder


def _recipe(steps: int) -> Recipe:
    """Return the training of the paper's ClimSim run."""
    return mean_first_recipe(Architecture(124, PAPER["hidden"]), steps, "cosine", PAPER["batch_size"])


def _speed(chosen: argparse.Namespace) -> None:
    """Print rows per second in memory and on a stream: steps of both networks, in turns, in one worker process."""
    folder = _generated_files(chosen, 200_000)
    print(f"3 x 256 networks, 124 inputs, batches of 256, {chosen.steps} steps, one process, median of turns.\n")
    print("| models | rows/s from memory | rows/s from the stream | stream over memory, turn by turn |")
    print("|---:|---:|---:|---|")
    for n_models in (1, N_POINTS):
        steps = max(20, chosen.steps // n_models)
        (seconds,) = run_tasks(_time_both, [(0, folder, JOBS[-n_models:], steps, chosen.turns)], n_jobs=1)
        rates = [[256 * steps / taken for taken in arm] for arm in seconds]
        ratios = ", ".join(f"{there / here:.2f}" for here, there in zip(*rates, strict=True))
        print(f"| {n_models} | {statistics.median(rates[0]):,.0f} | {statistics.median(rates[1]):,.0f} | {ratios} |")
    print()


def _time_both(_: int, folder: Path, jobs: list[Job], n_steps: int, n_turns: int) -> tuple[list[float], list[float]]:
    """Return the seconds of every turn, first in memory and then on the stream."""
    prepare_worker()
    stream = climsim_stream(folder, TARGET)
    run = start_stream_run(stream, 0.1, PAPER["batch_size"], 0, None, None, False)
    recipe = _recipe(10_000)
    stage = recipe.stages[1]
    models = [with_new_optimiser(init_model(job, recipe), stage) for job in jobs]
    x, y = stream.read(0, len(stream))
    rows = jax.device_put(pad(Rows(x, y, np.ones(len(y))).batch(run.order.scaling), len(y)))
    drawn = np.random.default_rng(0).integers(0, len(y), (n_steps, PAPER["batch_size"]))
    task = StreamRound(run.order, recipe, stage, 0, n_steps, None)

    def from_memory() -> None:
        for model in models:
            jax.block_until_ready(_steps_in_memory(model, rows, drawn, stage, recipe.architecture.activation))

    def from_stream() -> None:
        outcome = train_group(0, task, models)[1]
        if outcome.error:
            raise RuntimeError(outcome.error)

    seconds: tuple[list[float], list[float]] = ([], [])
    for turn in range(n_turns + 1):  # the first one compiles and is not counted
        for arm, taken in zip((from_memory, from_stream), seconds, strict=True):
            start = time.perf_counter()
            arm()
            if turn:
                taken.append(time.perf_counter() - start)
    return seconds


@partial(jax.jit, static_argnames=("stage", "activation"))
def _steps_in_memory(model, rows: Batch, drawn, stage: Stage, activation: str):
    """Take one step per row of `drawn`, on the batch with these row numbers."""

    def batch_at(step, key):
        return key, Batch(*(part[drawn[step]] for part in rows))

    return take_steps(model, batch_at, drawn.shape[0], stage, activation)


def _memory(chosen: argparse.Namespace) -> None:
    """Print the peak resident memory of a search, main process and two workers together, by number of rows."""
    print(f"Search over {N_POINTS} points, 3 x 256, two workers, {chosen.steps} steps after a pass over all rows.\n")
    print("| rows | files, GB | seconds of the pass and the steps | peak resident memory, GB |")
    print("|---:|---:|---:|---:|")
    for n_rows in map(int, chosen.memory_rows.split(",")):
        folder = _generated_files(chosen, n_rows)
        size = sum(path.stat().st_size for path in folder.glob("train_*.npy"))
        start = time.perf_counter()
        peak = _peak([sys.executable, "-c", EXAMPLE_FIT, str(folder), str(chosen.steps)])
        print(f"| {n_rows:,} | {size / 1e9:.2f} | {time.perf_counter() - start:.0f} | {peak / 1e9:.2f} |")
    print()


def _peak(command: list[str]) -> int:
    """Run a command; return the peak resident bytes of it and its children, where shared pages count once."""
    process = subprocess.Popen(command, env=os.environ | {"LOKY_MAX_CPU_COUNT": "2"})
    family, peak = psutil.Process(process.pid), 0
    while process.poll() is None:
        try:
            members = (family, *family.children(recursive=True))
            peak = max(peak, sum(member.memory_full_info().pss for member in members))
        except psutil.Error:  # one of them has just ended
            continue
        time.sleep(0.2)
    if process.returncode:
        raise RuntimeError(f"the fit ended with exit code {process.returncode}")
    return peak


def _epoch(chosen: argparse.Namespace) -> None:
    """Print the time of one epoch of the twelve-point diagonal, and the same scaled to the published files."""
    stream = climsim_stream(_generated_files(chosen, chosen.rows), TARGET)
    run = start_stream_run(stream, 0.1, PAPER["batch_size"], 0, None, 2, False)
    steps = stream.steps(1)
    stage = _recipe(10 * steps).stages[1]
    evaluation = RoundEvaluation(run.survey.sample, run.survey.held, _constant_prediction)

    def seconds(n_steps: int) -> float:
        last = stage._replace(optimiser=stage.optimiser._replace(steps=n_steps))
        recipe = Recipe(Architecture(124, PAPER["hidden"]), (last,), 256)
        start = time.perf_counter()
        train_on_stream(StreamTraining(run.order, JOBS, recipe, evaluation), n_jobs=2)
        return time.perf_counter() - start

    seconds(2)  # starts the workers
    taken = seconds(steps)
    whole = taken * N_ROWS["train"] / len(stream)
    print(f"One epoch of {N_POINTS} points at {len(stream):,} x 124, both networks of 3 x 256, two processes:")
    print(
        f"{steps:,} steps in {taken / 60:.1f} minutes ({len(stream) / taken:,.0f} rows/s for all twelve), compiling ",
        end="",
    )
    print(f"included; scaled to {N_ROWS['train']:,} rows {whole / 3600:.2f} hours.\n")


def _constant_prediction(members, x, scaling):
    """Return a constant mean and std at no cost, so that only the training is timed."""
    return np.zeros((1, len(x))), np.ones((1, len(x)))


def _accuracy(chosen: argparse.Namespace) -> None:
    """Print the scores of each method beside those of the distribution from which the rows were drawn."""
    folder = _generated_files(chosen, chosen.rows)
    stream, test = climsim_stream(folder, TARGET), draw_test_rows(folder, TARGET)
    real = truth(test.x, TARGET)
    hidden = tuple(int(size) for size in chosen.hidden.split(","))
    settings = {"hidden": hidden, "batch_size": 256, "max_steps": stream.steps(chosen.epochs), "n_jobs": 2}
    best = metrics.nll(test.y, real.mean, real.std)
    sizes = f"{chosen.rows:,} generated rows to train on, {len(test.y):,} to test on"
    print(f"{sizes}, networks {chosen.hidden}, {chosen.epochs:g} epochs.\n")
    print("| method | NLL | above the true model's | RMSE | mean of abs(std / true std - 1) | minutes |")
    print("|---|---:|---:|---:|---:|---:|")
    print(f"| the true model | {best:.4f} | 0 | {metrics.rmse(test.y, *real):.2f} | 0 | |")
    for name, estimator in choose_methods(METHODS, len(stream)).items():
        known = estimator.get_params()
        start = time.perf_counter()
        model = estimator.set_params(random_state=0, **{k: v for k, v in settings.items() if k in known}).fit(stream)
        minutes = (time.perf_counter() - start) / 60
        mean, std = model.predict(test.x, return_std=True)
        nll, error = metrics.nll(test.y, mean, std), np.mean(np.abs(std / real.std - 1))
        row = f"{nll:.4f} | {nll - best:.4f} | {metrics.rmse(test.y, mean, std):.2f} | {error:.3f} | {minutes:.1f}"
        print(f"| {name} | {row} |", flush=True)
    print()


if __name__ == "__main__":
    main(sys.argv[1:])
