"""How the training of one model ended. A failed training raises no error: its status is part of the result."""

from enum import StrEnum


class Status(StrEnum):
    """The four ways in which a training can end; `meaning` gives cause and remedy."""

    CONVERGED = "converged"
    RUNAWAY = "runaway"
    OUT_OF_STEPS = "out of steps"
    NOT_FINITE = "not finite"

    @property
    def meaning(self) -> str:
        """Cause and remedy in one sentence."""
        return _MEANINGS[self]


_MEANINGS = {
    Status.CONVERGED: "the gradient has vanished: this is a minimum of the objective",
    Status.RUNAWAY: "the mean interpolates the data and the precision grows without bound: "
    "no minimum was found; lower rho or raise gamma",
    Status.OUT_OF_STEPS: "training took all its steps, the usual end where batches keep the gradient from "
    "vanishing; raise max_steps only if longer trainings score better on held-out rows",
    Status.NOT_FINITE: "numbers overflowed during training; check the data for extreme values or lower rho",
}
