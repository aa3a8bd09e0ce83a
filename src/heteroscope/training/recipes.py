"""How a model is trained, as data: a sequence of stages, each an objective, the networks it moves and a solver.

A method is a `Recipe`; the engine runs any of them, so that no method brings a loop of its own.
"""

from collections.abc import Sequence
from numbers import Integral
from typing import NamedTuple

import jax.numpy as jnp

from heteroscope.core import InputError, Parameter, resolve_schedule
from heteroscope.networks import (
    Architecture,
    Layer,
    Network,
    Objective,
    first_mean_objective,
    joint_objective,
    mean_alone_objective,
    mean_objective,
    precision_alone_objective,
)
from heteroscope.training.adam import (
    Adam,
    cosine_adam,
    fast_adam,
    fast_joint_adam,
    paper_adam,
    patient_adam,
    stable_peak_rate,
)

SCHEDULES = ("auto", "fast", "cosine", "levelled", "paper")
MEAN_SHARE = {"fast": 0.5, "cosine": 0.1, "levelled": 0.1, "paper": 5 / 12}  # of all steps, for the mean alone
MEAN_RATE, BIAS_RATE = 0.1, 3.0  # of "fast": of the mean once it is fitted, and of all biases
PATIENT_SHARES = 0.25, 0.125  # of "fast" from a small start: the steps before all others, the mean alone and then both
AGAIN_SHARE = 0.25  # of the steps of a diagram whose cells exchange models: those after the last exchange


class Stage(NamedTuple):
    """Minimise `objective` over the networks named in `trains` (fields of `Params`), the others held fixed.

    `alone` names the objective of a network once the other has become constant: that one is then `held` at its best
    level in closed form, and a step costs half. A stage that `levels` moves the precision's level to where it fits the
    residuals whenever a model is looked at, and at its end. In a `patient` one no model is looked at before its end, so
    that none is called constant too early. The rates are relative to the solver's.
    """

    objective: Objective
    trains: tuple[str, ...]
    solver: Adam
    alone: tuple[tuple[str, Objective], ...] = ()
    held: str | None = None
    levels: bool = False
    patient: bool = False
    mean_rate: float = 1.0
    bias_rate: float = 1.0

    @property
    def program(self) -> "Stage":
        """What is compiled of a stage: all but its number of steps, which is data of the solver."""
        return self._replace(solver=self.solver._replace(steps=0))

    def holding(self, network: str) -> "Stage":
        """The same stage with one network constant, for the network that is left."""
        ((survivor, objective),) = [pair for pair in self.alone if pair[0] != network]
        return self._replace(objective=objective, trains=(survivor,), alone=(), held=network)

    def relative_rates(self, networks: dict[str, Network]) -> dict[str, Network] | None:
        """What the solver's rate is multiplied by in every weight and bias, or None where that is one everywhere."""
        if self.mean_rate == self.bias_rate == 1.0:
            return None
        own = {"mean": self.mean_rate, "precision": 1.0}
        return {
            name: tuple(
                Layer(
                    jnp.full_like(layer.weight, own[name]),
                    jnp.full_like(layer.bias, own[name] * self.bias_rate),
                )
                for layer in network
            )
            for name, network in networks.items()
        }


class Recipe(NamedTuple):
    """Everything that is the same for all models trained together; hashable, so that it can be compiled in.

    With `retires`, a model leaves a stage as soon as nothing is left to gain; without, it runs every step of it.
    A batch is made of runs of `neighbours` rows that follow each other.
    """

    architecture: Architecture
    stages: tuple[Stage, ...]
    batch_size: int | None = None
    retires: bool = True
    neighbours: int = 1

    @property
    def steps(self) -> int:
        """How many steps a model takes at most."""
        return _steps(self.stages)

    @property
    def program(self) -> "Recipe":
        """What is compiled of a recipe beside the stage: what its networks are and how rows are drawn."""
        return self._replace(stages=())


ALONE = (("mean", mean_alone_objective), ("precision", precision_alone_objective))


def mean_first_recipe(
    architecture: Architecture, max_steps: object, schedule: str = "auto", batch_size: int | None = None
) -> Recipe:
    """The mean alone, then both networks; each stage has its share of `max_steps`.

    The paper's schedule splits 250,000 : 350,000 and its learning rate runs on across the two stages. From a small
    start "fast" is patient first. "levelled" is "cosine" with all levels in closed form, for the sake of minima.
    """
    steps = checked_steps(max_steps)
    if schedule not in SCHEDULES:
        raise InputError(f"schedule must be one of {', '.join(SCHEDULES)}, got {schedule!r}")
    chosen = resolve_schedule(schedule, batch_size)
    if chosen == "fast":
        patience = _patience(architecture, steps) if batch_size is None else ()
        return Recipe(architecture, (*patience, *_fast_stages(steps - _steps(patience))), batch_size)
    first = max(1, round(steps * MEAN_SHARE[chosen]))
    if chosen == "paper":
        cycle = max(2, steps // 12)
        solvers = paper_adam(first, cycle), paper_adam(steps - first, cycle, offset=first)
    else:
        peak = stable_peak_rate(architecture.hidden)
        solvers = cosine_adam(first, peak), cosine_adam(steps - first, peak)
    mean = Stage(mean_objective, ("mean",), solvers[0])
    joint = Stage(joint_objective, ("mean", "precision"), solvers[1])
    if chosen == "levelled":
        mean = mean._replace(objective=first_mean_objective, levels=True)
        joint = joint._replace(alone=ALONE, levels=True)
    return Recipe(architecture, (mean, joint), batch_size)


def exchange_recipes(architecture: Architecture, max_steps: object) -> tuple[Recipe, ...]:
    """The stages of "fast", and the last again at half of its rate; models are exchanged before both networks train."""
    steps = checked_steps(max_steps)
    patience = _patience(architecture, steps)
    steps -= _steps(patience)
    again = round(steps * AGAIN_SHARE)
    mean, joint = _fast_stages(steps - again)
    last = joint._replace(solver=joint.solver._replace(steps=again, peak=joint.solver.peak / 2))
    rounds = (*patience, mean), (joint,), (last,)
    return tuple(Recipe(architecture, stages) for stages in rounds if _steps(stages))


def _fast_stages(steps: int) -> tuple[Stage, Stage]:
    """The mean to the end, with the constant precision of the moment; then both, the mean at a tenth of the rate."""
    first = max(1, round(steps * MEAN_SHARE["fast"]))
    return (
        Stage(first_mean_objective, ("mean",), fast_adam(first), levels=True, bias_rate=BIAS_RATE),
        Stage(
            joint_objective,
            ("mean", "precision"),
            fast_joint_adam(steps - first),
            alone=ALONE,
            mean_rate=MEAN_RATE,
            bias_rate=BIAS_RATE,
        ),
    )


def _patience(architecture: Architecture, steps: int) -> tuple[Stage, ...]:
    """From a small start: the mean and then both, as the paper trains them, until zero is left if it ever is.

    Steadier steps never leave it, and a look at a network in the meantime would call it constant. A mean that has not
    left it by itself is made zero, and stays so beside the precision.
    """
    if architecture.start == "he":
        return ()
    mean, both = (patient_adam(int(steps * share)) for share in PATIENT_SHARES)
    stages = (
        Stage(mean_objective, ("mean",), mean, patient=True),
        Stage(joint_objective, ("mean", "precision"), both, patient=True),
    )
    return tuple(stage for stage in stages if stage.solver.steps)


def _steps(stages: Sequence[Stage]) -> int:
    return sum(stage.solver.steps for stage in stages)


def checked_steps(max_steps: object) -> int:
    """As a number of steps, of which there must be one for each of two stages."""
    if isinstance(max_steps, bool) or not isinstance(max_steps, Integral) or max_steps < 2:
        raise InputError(Parameter("max_steps"), f" must be an integer of at least 2, got {max_steps!r}")
    return int(max_steps)
