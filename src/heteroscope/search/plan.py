"""The plan of a search: which points it visits, for how long they are trained, and by what they are compared."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from heteroscope.core import InputError, Progress, diagonal_logits, halves_points
from heteroscope.search.around_point import search_around
from heteroscope.search.cross_validation import Logits
from heteroscope.search.cv_results import SearchResult
from heteroscope.search.diagonal_and_grid import MEMBERS_PER_FOLD, CandidateSearch, search_diagonal, search_grid
from heteroscope.search.folded_rows import FoldedRows
from heteroscope.search.halving import HALVING_LENGTHS, search_by_halving
from heteroscope.search.selection import SELECTIONS
from heteroscope.training import Recipe

SEARCHES = ("diagonal", "grid", "theory")
LENGTHS = (0.25, 1.0)  # training lengths, as shares of max_steps; measured in docs/research/defaults.md


class SearchPlan(NamedTuple):
    """The settings of a search on rows in memory.

    Parameters
    ----------
    kind : {"diagonal", "grid", "theory"}
        Where the points lie. "diagonal" is a search by halving if the rows are many.
    selection : {"nll", "crps", "paper"}
        The rule of choice, see `choose`.
    calibrate : bool
        Whether points are compared after scaling their std.
    n_coarse, n_fine, n_off_diagonal, n_finalists : int
        Numbers of points, see `search_diagonal`.
    keep_members : bool
        Whether the trained networks of each fold are kept.
    """

    kind: str
    selection: str
    calibrate: bool
    n_coarse: int
    n_fine: int
    n_off_diagonal: int
    n_finalists: int
    keep_members: bool

    @property
    def line(self) -> Float[np.ndarray, " t"]:
        """Logits of the first points of the diagonal."""
        return diagonal_logits(self.n_coarse)

    @property
    def compares_lengths(self) -> bool:
        """Whether several training lengths are compared; the paper has one length, and only the diagonal."""
        return self.calibrate and self.selection != "paper"

    def members_per_fold(self, n_members: int) -> int:
        """Return how many models a point has on each fold, for a final fit of `n_members`."""
        return min(n_members, MEMBERS_PER_FOLD) if self.calibrate else 1

    def halves(self, data: FoldedRows) -> bool:
        """Return whether the search on these rows is one by halving."""
        return self.compares_lengths and self.kind == "diagonal" and halves_points(len(data.rows.y), len(data.folds))

    def lengths(self, data: FoldedRows) -> tuple[float, ...]:
        """Return the training lengths as shares of `max_steps`, the shortest first."""
        if not self.compares_lengths:
            return LENGTHS[-1:]
        return HALVING_LENGTHS if self.halves(data) else LENGTHS


def check_plan(plan: SearchPlan) -> None:
    """Raise an `InputError` if the kind or the rule of choice is unknown, or if they contradict each other."""
    if plan.selection not in SELECTIONS:
        raise InputError(f"selection must be one of {', '.join(SELECTIONS)}, got {plan.selection!r}")
    if plan.kind not in SEARCHES:
        raise InputError(f"search must be one of {', '.join(SEARCHES)}, got {plan.kind!r}")
    if plan.kind != "diagonal" and plan.selection == "paper":
        raise InputError(f'selection="paper" is a rule for the diagonal: use "nll" or "crps" with search="{plan.kind}"')


def search_by_plan(
    plan: SearchPlan,
    data: FoldedRows,
    recipes: Sequence[Recipe],
    family: str,
    predicted_point: Callable[[], Logits],
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> SearchResult:
    """Train the points of the plan and choose one.

    Parameters
    ----------
    plan : SearchPlan
        Which points, and how they are compared.
    data : FoldedRows
        The rows to train on and to compare by, in the units of the networks' target.
    recipes : sequence of Recipe
        One recipe for each of `plan.lengths(data)`.
    family : {"auto", "gaussian", "student-t"}
        The distribution by which finalists are compared.
    predicted_point : callable
        Returns the theory's point; called only for a search by theory.
    n_jobs : int or None, default=None
        Number of processes.
    progress : callable or None, default=None
        Called with the number of finished steps and about how many there will be.

    Returns
    -------
    SearchResult
        All points and the chosen one.
    """
    halves = plan.halves(data)
    search = CandidateSearch(
        data.folds,
        recipes,
        plan.selection,
        plan.calibrate,
        n_jobs,
        progress,
        family,
        plan.keep_members,
        n_first=1 if halves else None,
    )
    n_off_diagonal = plan.n_off_diagonal if plan.compares_lengths else 0
    if plan.kind == "theory":
        return search_around(search, predicted_point())
    if plan.kind == "grid":
        return search_grid(search, plan.line, plan.n_finalists)
    if halves:
        return search_by_halving(search, plan.line, plan.n_fine, n_off_diagonal)
    return search_diagonal(search, plan.line, plan.n_fine, plan.n_finalists, n_off_diagonal)
