"""Measure the time of one field-theory diagram (19 x 19 cells, 4096 points), with its folds: the call that users make.

Prints a table of seconds per diagram beside Adam's, and a table of how Newton's cells end on each simulated set.
Other work on the machine changes processor seconds less than the clock. Those of this process and of its busiest worker
together are about what the clock would show on idle cores. Adam follows
the paper: 100,000 steps for all cells at once in float32, compiled by JAX. Only 200 steps are timed and scaled up, so
the benchmark does not show how close Adam comes to the minimum.
"""

import os
from collections import Counter
from collections.abc import Callable
from functools import partial
from time import perf_counter

import jax
import jax.numpy as jnp
import numpy as np
import optax
import psutil

from heteroscope import field, field_diagram
from heteroscope.core import FIELD_GRID
from heteroscope.datasets.simulated import PROCESSES, field_draw, field_draws

N_POINTS = 4096
N_PROCESSES = 2
N_TURNS = 5
ADAM_STEPS, ADAM_TIMED = 100_000, 200  # steps of the paper, and steps that are timed


def main() -> None:
    """Print both tables."""
    x, y, y_test = field_draws("sine", N_POINTS)
    diagram = partial(field_diagram, x, y, y_test=y_test)
    calls: dict[str, Callable[[], object]] = {
        "`field_diagram`, one process": diagram,
        f"`field_diagram`, {N_PROCESSES} processes": partial(diagram, n_jobs=N_PROCESSES),
        "`field_diagram(folds=False)`, one process": partial(diagram, folds=False),
        "`field_diagram(folds=True)`, all 19 folds, one process": partial(diagram, folds=True),
        "`field.solve_grid`: no folds, scores or labels": partial(field.solve_grid, x, y, FIELD_GRID, FIELD_GRID),
    }
    times: dict[str, list[tuple[float, float, float]]] = {title: [] for title in calls}
    for _ in range(N_TURNS):  # in turns, so that other work meets all of them
        for title, call in calls.items():
            times[title].append(_seconds(call))
    adam, adam_processor, _ = (seconds * ADAM_STEPS / ADAM_TIMED for seconds in _seconds_of_adam(x, y))
    print("## Field theory: one diagram\n")
    print(f"The sine set, {N_POINTS} points, {len(FIELD_GRID)} x {len(FIELD_GRID)} cells, {N_TURNS} calls in turns.\n")
    print(
        "| call | seconds by the clock: first, median, best | processor seconds, all processes: median, best "
        "| this process and its busiest worker | Adam's processor seconds / all processes' |\n|---|---:|---:|---:|---:|"
    )
    for title, found in times.items():
        clock, processor, longest = np.array(found).T
        ratio = adam_processor / np.median(processor)
        print(
            f"| {title} | {clock[0]:.2f}, {np.median(clock):.2f}, {clock.min():.2f} | {np.median(processor):.2f}, "
            f"{processor.min():.2f} | {np.median(longest):.2f}, {longest.min():.2f} | {ratio:,.0f} |"
        )
    print(
        f"| Adam in JAX, {ADAM_STEPS:,} steps, scaled from {ADAM_TIMED} | {adam:,.0f} | {adam_processor:,.0f} | | 1 |\n"
    )
    print("| set | converged | runaway | out of steps | largest relative residual of a converged cell |")
    print("|---|---:|---:|---:|---:|")
    for name in PROCESSES:
        grid = field.solve_grid(*field_draw(name, N_POINTS), FIELD_GRID, FIELD_GRID)
        count = Counter(grid.status.ravel().tolist())
        worst = grid.residual[grid.status == field.Status.CONVERGED].max()
        print(f"| {name} | {count['converged']} | {count['runaway']} | {count['out of steps']} | {worst:.0e} |")


def _seconds(call: Callable[[], object]) -> tuple[float, float, float]:
    """Return the seconds of a call by the clock, by the processors, and by those of this process and one worker."""
    clock, before = perf_counter(), _processor_seconds()
    call()
    clock = perf_counter() - clock
    used = {process: seconds - before.get(process, 0.0) for process, seconds in _processor_seconds().items()}
    own = used.pop(os.getpid())
    return clock, own + sum(used.values()), own + max(used.values(), default=0.0)


def _processor_seconds() -> dict[int, float]:
    """Return the processor seconds of this process and of its workers, which live on between calls, by their number."""
    process = psutil.Process()
    times = {one.pid: one.cpu_times() for one in (process, *process.children(recursive=True))}
    return {number: one.user + one.system for number, one in times.items()}


def _seconds_of_adam(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Return the seconds of the timed steps of Adam on mean and log precision of all cells, in one compiled loop."""
    spacing, target = float(x[1] - x[0]), jnp.asarray(y, jnp.float32)
    rho, gamma = (jnp.asarray(part.ravel(), jnp.float32) for part in np.meshgrid(FIELD_GRID, FIELD_GRID))
    optimiser = optax.chain(optax.clip_by_global_norm(1000.0), optax.adam(5e-4))

    def loss(fields: dict[str, jax.Array]) -> jax.Array:
        mean, log_precision = fields["mean"], fields["log_precision"]
        precision = jnp.exp(log_precision)
        likelihood = 0.5 * jnp.sum(precision * (mean - target) ** 2 - log_precision, axis=1)
        bend, stretch = (jnp.sum((jnp.diff(part, axis=1) / spacing) ** 2, axis=1) for part in (mean, precision))
        return jnp.sum(rho * likelihood + (1 - rho) * (gamma * bend + (1 - gamma) * stretch))

    def step(_: int, state: tuple) -> tuple:
        fields, moments = state
        updates, moments = optimiser.update(jax.grad(loss)(fields), moments)
        return optax.apply_updates(fields, updates), moments

    run = jax.jit(lambda state: jax.lax.fori_loop(0, ADAM_TIMED, step, state))
    zeros = {name: jnp.zeros((len(rho), len(y)), jnp.float32) for name in ("mean", "log_precision")}
    state = jax.block_until_ready(run((zeros, optimiser.init(zeros))))
    return _seconds(lambda: jax.block_until_ready(run(state)))


if __name__ == "__main__":
    main()
