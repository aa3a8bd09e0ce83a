"""One stage of a training, as data: what is trained on which objective, by which optimiser, inspected when."""

from dataclasses import dataclass
from enum import Enum
from typing import Literal, NamedTuple, TypeAlias

import jax.numpy as jnp

from heteroscope.networks import (
    GradientPenalty,
    Layer,
    Network,
    Objective,
    Params,
    mean_alone_objective,
    precision_alone_objective,
)
from heteroscope.training.adam import Adam

NetworkName: TypeAlias = Literal["mean", "precision"]  # the fields of `Params`


@dataclass(frozen=True)
class HoldCollapsed:
    """If one of two networks collapses, replace it by its best constant and train the other one alone.

    A step then costs half. The objective of the network that is left contains the best constant in closed form.
    """

    mean_alone: Objective = mean_alone_objective  # for the mean beside a constant precision
    precision_alone: Objective = precision_alone_objective  # for the precision beside a constant mean


@dataclass(frozen=True)
class HeldConstant:
    """One network is constant: each inspection sets it to its best level in closed form."""

    network: NetworkName


class PrecisionLevel(Enum):
    """How the output bias of the precision network, its level, is found."""

    TRAINED = "by the steps of the optimiser only"
    SOLVED = "also at each inspection: where the likelihood has no gradient in it; the precision network is trained"
    FROM_RESIDUALS = "at each inspection: typical precision = 1 / variance of residuals; only the mean is trained"


class InspectionTimes(Enum):
    """When the models of a stage are inspected; only an inspected model can stop early or become constant."""

    WHILE_TRAINING = "after the first 250 steps, at each doubling, and at the end"
    AT_END = "at the end only: a network that is about to leave zero looks like one that collapses"


class RelativeRates(NamedTuple):
    """Factors of the learning rate: one for the mean network, one for the biases of both networks."""

    mean: float = 1.0
    bias: float = 1.0

    def factors(self, networks: dict[str, Network]) -> dict[str, Network] | None:
        """Return the factor of every weight and bias of the networks, or None if all factors are one."""
        if self.mean == self.bias == 1.0:
            return None
        own = {"mean": self.mean, "precision": 1.0}
        return {
            name: tuple(
                Layer(
                    jnp.full_like(layer.weight, own[name]),
                    jnp.full_like(layer.bias, own[name] * self.bias),
                )
                for layer in network
            )
            for name, network in networks.items()
        }


class Stage(NamedTuple):
    """Minimise `objective` over the networks named in `trains`; the other network stays as it is.

    Hashable, so that it can be compiled in.
    """

    objective: Objective
    trains: tuple[NetworkName, ...]
    optimiser: Adam
    constant: HoldCollapsed | HeldConstant | None = None  # None: a network that collapses alone is trained on
    precision_level: PrecisionLevel = PrecisionLevel.TRAINED
    inspected: InspectionTimes = InspectionTimes.WHILE_TRAINING
    relative_rates: RelativeRates = RelativeRates()
    collapses: bool = True  # False: zero is no minimum of the penalty, so no network is taken to collapse

    @property
    def steps(self) -> int:
        """The number of steps."""
        return self.optimiser.steps

    @property
    def program(self) -> "Stage":
        """The stage as it is compiled: without its number of steps, which is data of the optimiser."""
        return self._replace(optimiser=self.optimiser._replace(steps=0))

    @property
    def held(self) -> NetworkName | None:
        """The network that is held constant, if there is one."""
        return self.constant.network if isinstance(self.constant, HeldConstant) else None

    @property
    def holds_collapsed(self) -> bool:
        """Whether a network that collapses alone is replaced by its best constant."""
        return isinstance(self.constant, HoldCollapsed)

    def holding(self, network: NetworkName) -> "Stage":
        """Return the stage that follows when `network` has collapsed: hold it constant, train the other one alone."""
        if not isinstance(self.constant, HoldCollapsed):
            raise ValueError("only a stage with HoldCollapsed has objectives for one network alone")
        if network == "mean":
            alone = self._replace(objective=self.constant.precision_alone, trains=("precision",))
        else:
            alone = self._replace(
                objective=self.constant.mean_alone, trains=("mean",), precision_level=PrecisionLevel.TRAINED
            )
        return alone._replace(constant=HeldConstant(network))

    @property
    def penalises_gradients(self) -> bool:
        """Whether the penalty is that of input gradients instead of weights."""
        return isinstance(self.objective, GradientPenalty)

    def with_gradient_penalty(self) -> "Stage":
        """Return the stage with a penalty of the input gradients instead of the weights.

        Flat functions are no minimum of that objective at any finite penalty, so no network is replaced by a constant.
        The penalty depends on the level of the precision, so it is not solved from the likelihood alone.
        """
        level = PrecisionLevel.TRAINED if self.precision_level is PrecisionLevel.SOLVED else self.precision_level
        objective = GradientPenalty(self.objective, self.trains)
        return self._replace(objective=objective, constant=None, collapses=False, precision_level=level)

    def trained(self, params: Params) -> dict[str, Network]:
        """Return the networks that the stage trains, by name."""
        return {name: getattr(params, name) for name in self.trains}
