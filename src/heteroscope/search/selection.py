"""The rules that pick a point: held-out score with a one-standard-error rule, or the paper's rule on training rows."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from heteroscope import metrics
from heteroscope.errors import InputError
from heteroscope.phases import Phase
from heteroscope.search.points import Folds, Point, held_rows

SELECTIONS = ("nll", "crps", "paper")
OVERFIT = (Phase.O_I, Phase.O_II)


def choose(points: Sequence[Point], folds: Folds, selection: str) -> int:
    """The index of the point to take; all points have seen the same folds.

    The lowest held-out score wins, points that overfit being passed over while there are others; then the point of
    smallest rho of the same phase that is no worse by more than one standard error of the paired difference takes its
    place.
    """
    if selection == "paper":
        middle = paper_midpoint(points)
        return int(np.argmin([abs(middle - point.logits[0]) for point in points]))
    losses, scores = _losses_and_scores(points, folds, selection)
    best = int(np.argmin(scores))
    share = held_rows(folds).weight
    share = share / share.sum()
    similar = [k for k, p in enumerate(points) if p.phase == points[best].phase and p.logits[0] < points[best].logits[0]]
    for index in sorted(similar, key=lambda k: points[k].logits[0]):
        difference = losses[index] - losses[best]
        excess = float(share @ difference)
        if excess <= np.sqrt(np.sum(share**2 * (difference - excess) ** 2)):
            return index
    return best


def finalists(points: Sequence[Point], folds: Folds, selection: str, n: int) -> list[int]:
    """The indices of the `n` lowest scores, in the order of the points; none that overfits while there are others."""
    _, scores = _losses_and_scores(points, folds, selection)
    ranked = np.argsort(scores, kind="stable")[:n].tolist()
    return sorted(index for index in ranked if np.isfinite(scores[index])) or ranked[:1]


def _losses_and_scores(
    points: Sequence[Point], folds: Folds, selection: str
) -> tuple[Float[np.ndarray, "point held"], Float[np.ndarray, " point"]]:
    """Loss by row and its average; broken points score infinity, overfit ones too while there are others."""
    held = held_rows(folds)
    losses = np.array([row_loss(selection, held.y, point.mean, point.std) for point in points])
    scores = np.nan_to_num(np.average(losses, axis=1, weights=held.weight), nan=np.inf)
    overfit = np.array([point.phase in OVERFIT for point in points])
    return losses, scores if overfit.all() else np.where(overfit, np.inf, scores)


def row_loss(
    selection: str, y: Float[np.ndarray, " held"], mean: Float[np.ndarray, " held"], std: Float[np.ndarray, " held"]
) -> Float[np.ndarray, " held"]:
    """The loss of each row: negative log likelihood or CRPS."""
    functions = {"nll": metrics.nll_by_row, "crps": metrics.crps_by_row}
    if selection not in functions:
        raise InputError(f"selection must be one of {', '.join(SELECTIONS)}, got {selection!r}")
    return functions[selection](y, mean, std)


def paper_midpoint(points: Sequence[Point]) -> float:
    """Halfway in the logit between the points of lowest *training* mean MSE and std MSE: the paper's rule."""
    lowest = [min(points, key=lambda p, name=name: p.training_score(name)) for name in ("mean_mse", "std_mse")]
    return float(np.mean([point.logits[0] for point in lowest]))
