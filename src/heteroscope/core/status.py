"""How one model's training ended: failures are data, one status a model."""

from enum import StrEnum


class Status(StrEnum):
    """The four ways a training can end; `meaning` says the cause and the remedy."""

    CONVERGED = "converged"
    RUNAWAY = "runaway"
    OUT_OF_STEPS = "out of steps"
    NOT_FINITE = "not finite"

    @property
    def meaning(self) -> str:
        """One sentence of cause and remedy."""
        return _MEANINGS[self]


_MEANINGS = {
    Status.CONVERGED: "the gradient has vanished: this is a minimum of the objective",
    Status.RUNAWAY: "the mean interpolates the data and the precision grows without end: the objective has no minimum "
    "here; lower rho or raise gamma",
    Status.OUT_OF_STEPS: "the step limit came before the gradient vanished; raise max_steps if the fit matters here",
    Status.NOT_FINITE: "numbers overflowed during training; check the data for extreme values or lower rho",
}
