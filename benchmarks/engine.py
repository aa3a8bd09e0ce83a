"""Measure model-steps per second of our engine and of the same training in torch (einsum over all models at once).

Prints one row per arrangement: model-steps per second, GFLOPS and the ratio to our engine. A model-step is one
full-batch Adam step of both networks of one model: forward, backward, gradient clipped by its norm, moments and
parameters updated. The models are the paper's 22 x 22 grid of 3 x 128 networks on the 64 points of the sine set. The
arrangements take turns, so that a change of the machine's load affects all of them; each runs once before timing, so
that compilation, process start and memory allocation do not count.
"""

import statistics
from collections.abc import Callable
from itertools import pairwise
from time import perf_counter

import numpy as np
import torch
from scipy.special import logit

from heteroscope import datasets
from heteroscope.core.grids import NETWORK_GRID
from heteroscope.core.regularisation import strengths
from heteroscope.data.rows import Batch
from heteroscope.networks import PRECISION_FLOOR, UNIT_PRECISION_BIAS, Architecture
from heteroscope.networks.objectives import joint_objective
from heteroscope.training.recipes import Recipe
from heteroscope.training.schedules import cosine_adam
from heteroscope.training.stages import Stage
from heteroscope.training.steps import Job
from heteroscope.training.workers import Task, train

N_PROCESSES = 2
HIDDEN = (128, 128, 128)
ENGINE_STEPS = 1000  # per model and turn; of models that are retired early, the steps they took are counted
ENGINE_MODELS = 64  # per turn: the engine's rate does not depend on their number, and turns should be short
TORCH_STEPS = 16  # per model and turn
N_TURNS = 5
CLIP = 1000.0  # largest norm of a model's gradient
RATE = 5e-3  # learning rate
LOGIT_RHO, LOGIT_GAMMA = (grid.ravel() for grid in np.meshgrid(logit(NETWORK_GRID), logit(NETWORK_GRID)))
N_MODELS = LOGIT_RHO.size


def main() -> None:
    """Print the table of BENCHMARKS.md; the best turn is the one with the least other load."""
    split = datasets.load("sine", seed=0)
    x, y = split.x_train, split.y_train
    engine = f"heteroscope's engine, {N_PROCESSES} processes"
    peer = f"torch einsum, all models at once, {N_PROCESSES} threads"
    fused = f"the same with `Adam(fused=True)`, {N_PROCESSES} threads"
    turns = {engine: _engine_turn(x, y), peer: _torch_turn(x, y), fused: _torch_turn(x, y, fused=True)}
    for turn in turns.values():
        turn()
    rates = {name: [] for name in turns}
    sgemm = []
    for _ in range(N_TURNS):
        for name, turn in turns.items():
            rates[name].append(turn())
        sgemm.append(_sgemm_gflops())
    work = _flops_of_a_step(*x.shape) / 1e9

    print(f"{N_MODELS} models, {len(y)} points, networks of {HIDDEN}, {N_TURNS} alternating turns.\n")
    print(
        "| arrangement | model-steps/s, median | best turn | its GFLOPS | engine over this, median | best over best |"
    )
    print("|---|---:|---:|---:|---:|---:|")
    for name, own in rates.items():
        ratio = statistics.median(ours / rate for ours, rate in zip(rates[engine], own, strict=True))
        best = max(rates[engine]) / max(own)
        numbers = f"{statistics.median(own):,.0f} | {max(own):,.0f} | {max(own) * work:.0f} | {ratio:.2f} | {best:.2f}"
        print(f"| {name} | {numbers} |")
    print(f"| a large sgemm on the same machine (the limit) | | | {max(sgemm):.0f} | | |")


def _engine_turn(x: np.ndarray, y: np.ndarray) -> Callable[[], float]:
    """Return a function that trains some of the models and returns model-steps per second."""
    stage = Stage(joint_objective, ("mean", "precision"), cosine_adam(ENGINE_STEPS, RATE))
    recipe = Recipe(Architecture(x.shape[1], HIDDEN), (stage,))
    jobs = [Job(float(rho), float(gamma), seed=0) for rho, gamma in zip(LOGIT_RHO, LOGIT_GAMMA, strict=True)]
    jobs = jobs[:: -(-N_MODELS // ENGINE_MODELS)]
    tasks = [Task(Batch(x, y, np.ones_like(y)), jobs)]

    def turn() -> float:
        start = perf_counter()
        (fits,) = train(tasks, recipe, n_jobs=N_PROCESSES)
        return sum(fit.steps for fit in fits) / (perf_counter() - start)

    return turn


def _torch_turn(x: np.ndarray, y: np.ndarray, fused: bool | None = None) -> Callable[[], float]:
    """Return the same for torch, which has one tensor per layer for all models."""
    torch.set_num_threads(N_PROCESSES)
    torch.manual_seed(0)
    rows, targets = torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
    coefficients = [torch.tensor(part, dtype=torch.float32) for part in strengths(LOGIT_RHO, LOGIT_GAMMA)]
    mean_network, precision_network = _torch_network(x.shape[1], 0.0), _torch_network(x.shape[1], UNIT_PRECISION_BIAS)
    variables = [tensor for network in (mean_network, precision_network) for layer in network for tensor in layer]
    optimiser = torch.optim.Adam(variables, lr=RATE, fused=fused)

    def turn() -> float:
        start = perf_counter()
        for _ in range(TORCH_STEPS):
            optimiser.zero_grad()
            mean = _torch_apply(mean_network, rows)
            precision = torch.nn.functional.softplus(_torch_apply(precision_network, rows)) + PRECISION_FLOOR
            likelihood = 0.5 * (precision * (mean - targets) ** 2 - torch.log(precision)).mean(dim=1)
            rho, mean_penalty, precision_penalty = coefficients
            loss = (
                rho * likelihood
                + mean_penalty * _torch_weight_norm(mean_network)
                + precision_penalty * _torch_weight_norm(precision_network)
            )
            loss.sum().backward()
            _clip_each_model(variables)
            optimiser.step()
        return N_MODELS * TORCH_STEPS / (perf_counter() - start)

    return turn


def _torch_network(n_features: int, level: float) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Return weights and biases of all models, layer by layer, with `level` as the last bias."""
    sizes = (n_features, *HIDDEN, 1)
    layers = [
        (torch.randn(N_MODELS, n_in, n_out) * (2 / n_in) ** 0.5, torch.zeros(N_MODELS, 1, n_out))
        for n_in, n_out in pairwise(sizes)
    ]
    layers[-1][1].add_(level)
    return [(weight.requires_grad_(), bias.requires_grad_()) for weight, bias in layers]


def _torch_apply(network: list[tuple[torch.Tensor, torch.Tensor]], rows: torch.Tensor) -> torch.Tensor:
    """Return the outputs of all models, (model, row)."""
    weight, bias = network[0]
    hidden = torch.einsum("ni,mio->mno", rows, weight) + bias
    for weight, bias in network[1:]:
        hidden = torch.einsum("mni,mio->mno", torch.nn.functional.leaky_relu(hidden), weight) + bias
    return hidden[:, :, 0]


def _torch_weight_norm(network: list[tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
    """Return the sum of squared weights of each model."""
    return sum((weight**2).sum(dim=(1, 2)) for weight, _ in network)


@torch.no_grad()
def _clip_each_model(variables: list[torch.Tensor]) -> None:
    """Scale the gradient of each model separately to a norm of at most CLIP."""
    norm = torch.sqrt(sum((tensor.grad**2).sum(dim=(1, 2)) for tensor in variables))
    scale = (CLIP / norm).clamp(max=1.0)[:, None, None]
    for tensor in variables:
        tensor.grad.mul_(scale)


def _sgemm_gflops(size: int = 3000) -> float:
    """Return the GFLOPS of one large product of matrices in single precision."""
    left, right = torch.randn(size, size), torch.randn(size, size)
    torch.mm(left, right)
    start = perf_counter()
    torch.mm(left, right)
    return 2 * size**3 / (perf_counter() - start) / 1e9


def _flops_of_a_step(n_rows: int, n_features: int) -> float:
    """Count multiplications and additions of a step of both networks: outputs, weight and input gradients."""
    sizes = (n_features, *HIDDEN, 1)
    products = [n_in * n_out for n_in, n_out in pairwise(sizes)]
    return 2 * 2 * n_rows * (2 * sum(products) + sum(products[1:]))
