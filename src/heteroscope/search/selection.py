"""Choose a point: by its held-out score, with a one-standard-error rule, or by the paper's rule on training rows."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from heteroscope.core import InputError
from heteroscope.distributions import frozen, metrics
from heteroscope.phases import Phase
from heteroscope.search.cross_validation import Point
from heteroscope.search.folds import Folds, held_rows
from heteroscope.search.std_calibration import HOPELESS_SCALE, std_scale
from heteroscope.search.tails import choose_tails
from heteroscope.training import Recipe

SELECTIONS = ("nll", "crps", "paper")
OVERFIT = (Phase.O_I, Phase.O_II)
APART = 0.6  # smallest distance between finalists, in logits; measured in docs/research/defaults.md
# Standard errors of a paired difference from the best point up to which a point ties with it, and beyond which it has
# lost; conventions that were not tuned.
TIE, LOST = 1.0, 2.0


def choose(points: Sequence[Point], folds: Folds, selection: str, calibrate: bool = False) -> int:
    """Return the index of the point to use; all points must have been evaluated on all these folds.

    - With `calibrate`: take the lowest held-out score after scaling the std. Ignore points whose std scale exceeds
      HOPELESS_SCALE.
    - Without: take the lowest held-out score. Ignore points labelled as overfit, unless all are. Then apply the
      one-standard-error rule: of the points of the same phase whose score is worse by at most one standard error of the
      paired difference, take the one of smallest rho.
    """
    if selection == "paper":
        middle = paper_midpoint(points)
        return int(np.argmin([abs(middle - point.logits[0]) for point in points]))
    losses, scores = losses_and_scores(points, folds, selection, calibrate)
    best = int(np.argmin(scores))
    if calibrate:
        return best
    share = held_rows(folds).weight
    share = share / share.sum()
    similar = [
        k for k, p in enumerate(points) if p.phase == points[best].phase and p.logits[0] < points[best].logits[0]
    ]
    for index in sorted(similar, key=lambda k: points[k].logits[0]):
        difference = losses[index] - losses[best]
        excess = float(share @ difference)
        if excess <= np.sqrt(np.sum(share**2 * (difference - excess) ** 2)):
            return index
    return best


def choose_finalists(
    points: Sequence[Point], folds: Folds, selection: str, n: int, calibrate: bool = False
) -> list[int]:
    """Return the sorted indices of the `n` points to evaluate on more folds: the lowest scores.

    The best point of each training length comes first. With `calibrate`, points at least APART from all points taken
    so far come next: one fold cannot rank neighbours, and scores after scaling often have two separate minima.
    """
    _, scores = losses_and_scores(points, folds, selection, calibrate)
    ranked = np.argsort(scores, kind="stable").tolist()
    ranked = [k for k in ranked if np.isfinite(scores[k])] or ranked[:1]
    best_of_length: dict[Recipe, int] = {}
    for k in ranked:
        best_of_length.setdefault(points[k].recipe, k)
    first = list(best_of_length.values())
    for k in ranked if calibrate else []:
        if all(_distance(points[k], points[other]) >= APART for other in first):
            first.append(k)
    return sorted([*first, *(k for k in ranked if k not in first)][:n])


def _distance(one: Point, other: Point) -> float:
    """Return the largest difference of a logit; infinity for different training lengths."""
    if one.recipe != other.recipe:
        return np.inf
    return max(abs(a - b) for a, b in zip(one.logits, other.logits, strict=True))


def within(points: Sequence[Point], folds: Folds, selection: str, family: str, n_errors: float) -> list[int]:
    """Return the indices of the points that are near the best one, the best first.

    loss_k - loss_best <= n_errors * standard error of this difference, row by row,

    of the distribution that `choose_tails` gives each point, on the folds that all of them were evaluated on. Points
    that must not be chosen are left out, see `losses_and_scores`.
    """
    held = held_rows(folds[: len(points[0].results)])
    share = held.weight / held.weight.sum()
    losses = []
    for point in points:
        (mean, std), tails = point.held_out, choose_tails(point, folds, family)
        losses.append(row_loss(selection, held.y, mean, tails.std_scale * std, tails.df))
    scores = np.nan_to_num(np.array(losses) @ share, nan=np.inf)
    _, gaussian = losses_and_scores(points, folds[: len(points[0].results)], selection, calibrate=True)
    scores = np.where(np.isfinite(gaussian), scores, np.inf)
    best = int(np.argmin(scores))
    near = [best]
    for k in np.argsort(scores, kind="stable").tolist():
        difference = losses[k] - losses[best]
        excess = float(share @ difference)
        if k != best and np.isfinite(scores[k]):
            error = np.sqrt(np.sum(share**2 * (difference - excess) ** 2))
            near += [k] if excess <= n_errors * error else []
    return near


def held_out_mean_mse(point: Point, folds: Folds) -> float:
    """Return `mean_mse` of the held-out rows that the point was evaluated on; infinity instead of NaN."""
    held = held_rows(folds[: len(point.results)])
    return float(np.nan_to_num(metrics.mean_mse(held.y, *point.held_out, sample_weight=held.weight), nan=np.inf))


def held_out_loss(point: Point, folds: Folds, selection: str, calibrate: bool) -> Float[np.ndarray, " held"]:
    """Return the loss of each held-out row that the point was evaluated on; with `calibrate`, of the scaled std."""
    mean, std = point.held_out
    scale = std_scale(point, folds) if calibrate else 1.0
    return row_loss(selection, held_rows(folds[: len(point.results)]).y, mean, scale * std)


def losses_and_scores(
    points: Sequence[Point], folds: Folds, selection: str, calibrate: bool
) -> tuple[Float[np.ndarray, "point held"], Float[np.ndarray, " point"]]:
    """Return the loss of each point and held-out row, and the score of each point: its average loss.

    A score is infinite for NaN. It is also infinite for points that must not be chosen, unless all are such: with
    `calibrate` those with a std scale above HOPELESS_SCALE, without it those labelled as overfit.
    """
    losses = np.array([held_out_loss(point, folds, selection, calibrate) for point in points])
    scores = np.nan_to_num(np.average(losses, axis=1, weights=held_rows(folds).weight), nan=np.inf)
    if calibrate:
        excluded = np.array([not std_scale(point, folds) <= HOPELESS_SCALE for point in points])
    else:
        excluded = np.array([point.phase in OVERFIT for point in points])
    return losses, scores if excluded.all() else np.where(excluded, np.inf, scores)


def row_loss(
    selection: str,
    y: Float[np.ndarray, " held"],
    mean: Float[np.ndarray, " held"],
    std: Float[np.ndarray, " held"],
    df: float = np.inf,
) -> Float[np.ndarray, " held"]:
    """Return the loss of each row, negative log likelihood ("nll") or CRPS ("crps"), of a Gaussian or a Student-t."""
    functions = {"nll": metrics.nll_by_row, "crps": metrics.crps_by_row}
    if selection not in functions:
        raise InputError(f"selection must be one of {', '.join(SELECTIONS)}, got {selection!r}")
    return functions[selection](y, mean, std) if np.isinf(df) else functions[selection](y, frozen(mean, std, df))


def paper_midpoint(points: Sequence[Point]) -> float:
    """Return the logit halfway between the points of lowest *training* mean MSE and std MSE: the paper's rule."""
    ends = []
    for name in ("mean_mse", "std_mse"):
        training = [point.training_score(name) for point in points]
        ends.append(points[int(np.argmin(training))].logits[0])
    return float(np.mean(ends))
