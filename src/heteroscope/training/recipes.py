"""Training methods as data: a recipe is a sequence of stages, which one training loop runs for every method."""

from collections.abc import Sequence
from numbers import Integral
from typing import NamedTuple

from heteroscope.core import InputError, Parameter, defaults, resolve_schedule
from heteroscope.networks import Architecture, first_mean_objective, joint_objective, mean_objective
from heteroscope.training.schedules import (
    PEAK_RATE,
    constant_rate_adam,
    cosine_adam,
    fast_joint_adam,
    fast_mean_adam,
    paper_adam,
    stable_peak_rate,
)
from heteroscope.training.stages import HoldCollapsed, InspectionTimes, PrecisionLevel, RelativeRates, Stage

PENALTIES = ("weights", "gradients")
SCHEDULES = ("auto", "fast", "cosine", "levelled", "paper")
#: Share of all steps that train the mean alone. The paper's is 250,000 of 600,000.
MEAN_SHARE = {"fast": 0.5, "cosine": 0.1, "levelled": 0.1, "paper": 5 / 12}
MEAN_RATE, BIAS_RATE = 0.1, 3.0  # relative rates of "fast": of the mean in the joint stage, and of all biases
#: "fast" from a small start: shares of the steps that train without inspection, the mean alone and then both networks.
UNINSPECTED_SHARES = 0.25, 0.125
AGAIN_SHARE = 0.25  # diagrams whose cells exchange models: share of the steps after the last exchange


class Recipe(NamedTuple):
    """Everything that is the same for all models trained together; hashable, so that it can be compiled in."""

    architecture: Architecture
    stages: tuple[Stage, ...]
    batch_size: int | None = None  # rows per step; None: all rows
    retires: bool = True  # a model leaves a stage once further steps gain nothing; otherwise it runs every step
    neighbours: int = 1  # a batch consists of runs of so many consecutive rows

    @property
    def steps(self) -> int:
        """The largest number of steps that a model takes."""
        return _steps(self.stages)

    @property
    def penalises_gradients(self) -> bool:
        """Whether the penalty is that of input gradients instead of weights."""
        return self.stages[-1].penalises_gradients

    @property
    def program(self) -> "Recipe":
        """The recipe as it is compiled beside a stage: what its networks are and how rows are drawn."""
        return self._replace(stages=())


def mean_first_recipe(
    architecture: Architecture,
    max_steps: object,
    schedule: str = "auto",
    batch_size: int | None = None,
    penalty: str = defaults.PENALTY,
) -> Recipe:
    """Return the recipe that trains the mean alone and then both networks, with `max_steps` steps in all.

    "fast" is for exact gradients. "cosine" is for batches. "levelled" is "cosine" with the level of the precision in
    closed form, for deeper minima. "paper" splits 600,000 steps as the paper does, 250,000 : 350,000, and its learning
    rate continues from the first stage to the second. "auto" is "fast" without and "cosine" with `batch_size`.
    `penalty` is "weights" or "gradients", those of the outputs with respect to the inputs.
    """
    return _penalised(_mean_first(architecture, max_steps, schedule, batch_size), penalty)


def _mean_first(architecture: Architecture, max_steps: object, schedule: str, batch_size: int | None) -> Recipe:
    """Return the recipe with weights as its penalty."""
    steps = checked_steps(max_steps)
    if schedule not in SCHEDULES:
        raise InputError(f"schedule must be one of {', '.join(SCHEDULES)}, got {schedule!r}")
    chosen = resolve_schedule(schedule, batch_size)
    if chosen == "fast":
        escape = _escape_zero_stages(architecture, steps) if batch_size is None else ()
        return Recipe(architecture, (*escape, *_fast_stages(steps - _steps(escape))), batch_size)
    first = max(1, round(steps * MEAN_SHARE[chosen]))
    if chosen == "paper":
        cycle = max(2, steps // 12)
        optimisers = paper_adam(first, cycle), paper_adam(steps - first, cycle, offset=first)
    else:
        peak = stable_peak_rate(architecture.hidden)
        optimisers = cosine_adam(first, peak), cosine_adam(steps - first, peak)
    mean = Stage(mean_objective, ("mean",), optimisers[0])
    joint = Stage(joint_objective, ("mean", "precision"), optimisers[1])
    if chosen == "levelled":
        mean = mean._replace(objective=first_mean_objective, precision_level=PrecisionLevel.FROM_RESIDUALS)
        joint = joint._replace(constant=HoldCollapsed(), precision_level=PrecisionLevel.SOLVED)
    return Recipe(architecture, (mean, joint), batch_size)


def _penalised(recipe: Recipe, penalty: str) -> Recipe:
    """Return the recipe with this penalty in every stage."""
    if penalty not in PENALTIES:
        raise InputError(Parameter("penalty"), f" must be one of {', '.join(PENALTIES)}, got {penalty!r}")
    if penalty == "weights":
        return recipe
    return recipe._replace(stages=tuple(stage.with_gradient_penalty() for stage in recipe.stages))


def exchange_recipes(
    architecture: Architecture, max_steps: object, penalty: str = defaults.PENALTY
) -> tuple[Recipe, ...]:
    """Return the recipes of a diagram whose cells exchange models, one recipe per round.

    The rounds are: the first stages of "fast", up to the mean; its joint stage; the joint stage again at half the rate.
    Cells exchange models between rounds.
    """
    steps = checked_steps(max_steps)
    escape = _escape_zero_stages(architecture, steps)
    steps -= _steps(escape)
    again = round(steps * AGAIN_SHARE)
    mean, joint = _fast_stages(steps - again)
    last = joint._replace(optimiser=fast_joint_adam(again, PEAK_RATE / 2))
    rounds = (*escape, mean), (joint,), (last,)
    return tuple(_penalised(Recipe(architecture, stages), penalty) for stages in rounds if _steps(stages))


def _fast_stages(steps: int) -> tuple[Stage, Stage]:
    """Return the stages of "fast": the mean beside the best constant precision, then both at different rates."""
    first = max(1, round(steps * MEAN_SHARE["fast"]))
    mean = Stage(
        first_mean_objective,
        ("mean",),
        fast_mean_adam(first),
        precision_level=PrecisionLevel.FROM_RESIDUALS,
        relative_rates=RelativeRates(bias=BIAS_RATE),
    )
    joint = Stage(
        joint_objective,
        ("mean", "precision"),
        fast_joint_adam(steps - first),
        constant=HoldCollapsed(),
        relative_rates=RelativeRates(MEAN_RATE, BIAS_RATE),
    )
    return mean, joint


def _escape_zero_stages(architecture: Architecture, steps: int) -> tuple[Stage, ...]:
    """Return the first stages from a small start: train without inspection so that networks can leave zero.

    The smoother steps of "fast" never leave zero, and an inspection on the way would call a network constant. A mean
    that has not left zero at the end of its stage is set to zero, and stays there while both networks train.
    """
    if architecture.start == "he":
        return ()
    mean, both = (constant_rate_adam(int(steps * share)) for share in UNINSPECTED_SHARES)
    stages = (
        Stage(mean_objective, ("mean",), mean, inspected=InspectionTimes.AT_END),
        Stage(joint_objective, ("mean", "precision"), both, inspected=InspectionTimes.AT_END),
    )
    return tuple(stage for stage in stages if stage.steps)


def _steps(stages: Sequence[Stage]) -> int:
    return sum(stage.steps for stage in stages)


def checked_steps(max_steps: object) -> int:
    """Return `max_steps` as an integer of at least 2, one step for each of two stages; raise an error otherwise."""
    if isinstance(max_steps, bool) or not isinstance(max_steps, Integral) or max_steps < 2:
        raise InputError(Parameter("max_steps"), f" must be an integer of at least 2, got {max_steps!r}")
    return int(max_steps)
