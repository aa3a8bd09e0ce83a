"""What every method that is trained here shares: engine, networks, prediction, and the hooks that tell them apart."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy import stats

from heteroscope.baselines.heads import variance_head
from heteroscope.core import Identity, Progress, Status, defaults, resolve_batch_size
from heteroscope.data import Rows, Scaling
from heteroscope.distributions import squared_score
from heteroscope.estimators import MemberMoments, StreamRegressor
from heteroscope.networks import Architecture, Objective, Params, member_outputs, moment_match, stack_members
from heteroscope.phases import RUNAWAY_SCORE
from heteroscope.training import Fit, Job, Recipe, Stage, Task, cosine_adam, stable_peak_rate, train


@dataclass(eq=False, repr=False)
class TrainedRegressor(StreamRegressor, ABC):
    """A regressor that minimises the objective of its method; its parameters are fields, and `__init__` only stores.

    Subclasses say which objective, what their head is, and how `fit` chooses what is left to choose.
    """

    _: KW_ONLY
    held_out: Any = 0.2
    hidden: Any = defaults.HIDDEN
    activation: Any = defaults.ACTIVATION
    start: Any = "he"
    max_steps: Any = defaults.SEARCH_STEPS
    batch_size: Any = "auto"
    n_jobs: Any = None
    random_state: Any = None
    verbose: Any = 0

    #: What the second network stands for.
    head = staticmethod(variance_head)
    #: Whether `fit` takes a stream.
    takes_streams = False
    #: Whether a fit leaves `arrays_`, by name, beside the networks.
    keeps_arrays = False

    @abstractmethod
    def objective(self) -> Objective:
        """What one model minimises; it must be hashable by value and picklable."""

    def declared(self) -> Identity:
        """The objective by a name of its own and its settings: what a method that takes streams is resumed by."""
        raise NotImplementedError(f"{type(self).__name__} takes no streams")

    def stages(self, steps: int) -> tuple[Stage, ...]:
        """How `steps` steps are spent: both networks at once under `objective`, unless a method says otherwise."""
        return (Stage(self.objective(), ("mean", "precision"), cosine_adam(steps, stable_peak_rate(self.hidden))),)

    def outputs_wanted(self) -> int:
        """How many numbers the second network gives a row."""
        return 1

    def members_wanted(self) -> int:
        """How many models with different starts are moment-matched into one Gaussian."""
        return 1

    def completed(self, params: Params) -> Params:
        """The networks of a trained model as predictions read them."""
        return params

    def _recipe(self, rows: Rows, steps: int) -> Recipe:
        # Models run every step: the rules by which the engine retires a model are about its own objective and head.
        batch_size = resolve_batch_size(self.batch_size, len(rows.y))
        return Recipe(self._architecture(rows), self.stages(steps), batch_size, retires=False)

    def _architecture(self, rows: Rows) -> Architecture:
        return super()._architecture(rows)._replace(outputs=self.outputs_wanted())

    def _train(
        self, rows: Rows, scaling: Scaling, jobs: Sequence[Job], recipe: Recipe, progress: Progress | None
    ) -> list[Fit]:
        """The engine's fits, with a status that reads the second network as this method's head does."""
        fits = train([Task(rows.batch(scaling), jobs)], recipe, n_jobs=self.n_jobs, progress=progress)[0]
        fits = [fit._replace(params=self.completed(fit.params)) for fit in fits]
        return [fit._replace(status=self._status(fit, rows, scaling)) for fit in fits]

    def _status(self, fit: Fit, rows: Rows, scaling: Scaling) -> Status:
        """How a training ended; "converged" is never said, since without a penalty there is nothing to converge to."""
        if fit.status == Status.NOT_FINITE:
            return fit.status
        (mean,), (std,) = self._predict_members(stack_members([fit.params]), rows.x, scaling)
        score = squared_score(rows.y, mean, std, sample_weight=rows.weight)
        return Status.RUNAWAY if score < RUNAWAY_SCORE else Status.OUT_OF_STEPS

    def _predict_members(
        self, members: Params, x: Float[np.ndarray, "point feature"], scaling: Scaling
    ) -> MemberMoments:
        """Mean and std of every member, the second network read by the head."""
        mean, outputs = member_outputs(members, x, scaling, self.activation)
        return mean, scaling.y_scale / np.sqrt(self.head(outputs[:, :, 0]))

    def _forecast(self, members: Params, x: Float[np.ndarray, "point feature"], scaling: Scaling) -> Any:
        """The predictive rule: the distribution of every row that members not yet kept would predict."""
        prediction = moment_match(*self._predict_members(members, x, scaling))
        return stats.norm(prediction.mean, prediction.std)
