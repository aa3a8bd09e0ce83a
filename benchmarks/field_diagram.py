"""Measure the time of one field-theory diagram (19 x 19 cells, 4096 points): our Newton solver against Adam.

Prints a table of seconds per diagram, and a table of how Newton's cells end on each simulated set. Adam follows the
paper: 100,000 steps for all cells at once in float32, compiled by JAX. Only 200 steps are timed and scaled up, so the
benchmark does not show how close Adam comes to the minimum.
"""

from collections import Counter
from time import perf_counter

import jax
import jax.numpy as jnp
import numpy as np
import optax

from heteroscope import field
from heteroscope.core import FIELD_GRID
from heteroscope.datasets.simulated import PROCESSES, field_draw

N_POINTS = 4096
N_PROCESSES = 2
N_TURNS = 5
ADAM_STEPS, ADAM_TIMED = 100_000, 200  # steps of the paper, and steps that are timed


def main() -> None:
    """Print both tables."""
    x, y = field_draw("sine", N_POINTS)
    first, *warm = (_diagram_seconds(x, y, N_PROCESSES) for _ in range(1 + N_TURNS))
    alone = min(_diagram_seconds(x, y, 1) for _ in range(N_TURNS))
    adam = _adam_seconds_per_step(x, y) * ADAM_STEPS
    separate = min(_separate_seconds(x, y) for _ in range(N_TURNS))
    together = [min(_whole_seconds(x, y, n) for _ in range(N_TURNS)) for n in (1, N_PROCESSES)]

    print("## Field theory: one diagram\n")
    print(f"The sine set, {N_POINTS} points, {len(FIELD_GRID)} x {len(FIELD_GRID)} cells.\n")
    print("| solver | seconds per diagram | Adam's time / this |")
    print("|---|---:|---:|")
    print(f"| field.solve_grid, {N_PROCESSES} processes, first call | {first:.2f} | {adam / first:,.0f} |")
    print(f"| the same, best of {N_TURNS} further calls | {min(warm):.2f} | {adam / min(warm):,.0f} |")
    print(f"| the same, one process | {alone:.2f} | {adam / alone:,.0f} |")
    print(f"| Adam in JAX, {ADAM_STEPS:,} steps, scaled from {ADAM_TIMED} | {adam:,.0f} | 1 |")
    print("\n| cells and folds | seconds per diagram |")
    print("|---|---:|")
    print(f"| field.solve_grid, then field.fold_curve, one process | {separate:.2f} |")
    print(f"| field.solve_with_folds, one process | {together[0]:.2f} |")
    print(f"| the same, {N_PROCESSES} processes | {together[1]:.2f} |\n")
    print("| set | converged | runaway | out of steps | largest relative residual of a converged cell |")
    print("|---|---:|---:|---:|---:|")
    for name in PROCESSES:
        grid = field.solve_grid(*field_draw(name, N_POINTS), FIELD_GRID, FIELD_GRID)
        count = Counter(grid.status.ravel().tolist())
        worst = grid.residual[grid.status == field.Status.CONVERGED].max()
        print(f"| {name} | {count['converged']} | {count['runaway']} | {count['out of steps']} | {worst:.0e} |")


def _diagram_seconds(x: np.ndarray, y: np.ndarray, n_jobs: int) -> float:
    """Return the seconds of one diagram by Newton."""
    start = perf_counter()
    field.solve_grid(x, y, FIELD_GRID, FIELD_GRID, n_jobs=n_jobs)
    return perf_counter() - start


def _separate_seconds(x: np.ndarray, y: np.ndarray) -> float:
    """Return the seconds of all cells and then all folds, each found from scratch and with its jumps."""
    start = perf_counter()
    field.solve_grid(x, y, FIELD_GRID, FIELD_GRID)
    field.fold_curve(x, y, FIELD_GRID)
    return perf_counter() - start


def _whole_seconds(x: np.ndarray, y: np.ndarray, n_jobs: int) -> float:
    """Return the seconds of all cells and all folds, each fold from the last finite cell of its gamma."""
    start = perf_counter()
    field.solve_with_folds(x, y, FIELD_GRID, FIELD_GRID, n_jobs=n_jobs)
    return perf_counter() - start


def _adam_seconds_per_step(x: np.ndarray, y: np.ndarray) -> float:
    """Return the seconds per step of Adam on mean and log precision of all cells at once, in one compiled loop."""
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
    start = perf_counter()
    jax.block_until_ready(run(state))
    return (perf_counter() - start) / ADAM_TIMED


if __name__ == "__main__":
    main()
