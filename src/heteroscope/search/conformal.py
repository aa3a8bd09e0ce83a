"""Keep what conformal intervals need of a search: the chosen point's models of each fold, and their held-out scores."""

import numpy as np
from jaxtyping import Int

from heteroscope.core import InputError, Parameter
from heteroscope.data import Rows
from heteroscope.distributions import Conformal, scores
from heteroscope.networks import FittedEnsemble, Params, mean_bounds, stack_members, widest_std
from heteroscope.search.cross_validation import Point
from heteroscope.search.folds import Folds


def check_conformal(conformal: object) -> float | None:
    """Return the share of rows to set aside; None for False or True, which set none aside."""
    if isinstance(conformal, bool | np.bool_):
        return None
    if not isinstance(conformal, int | float | np.number) or not 0 < conformal < 1:
        raise InputError(
            Parameter("conformal"),
            f" must be True, False or a share of the rows between 0 and 1, got {conformal!r}",
        )
    return float(conformal)


def refuse_unequal(given: Rows) -> None:
    """Raise an `InputError` for rows of different weights, which are not exchangeable."""
    used = given.weight[given.weight > 0]
    if np.ptp(used) > 0:
        raise InputError("conformal intervals are for rows of equal weight: leave out sample_weight, or conformal")


def set_aside(share: float, given: Rows, random: np.random.RandomState) -> tuple[Rows, Rows]:
    """Return the rows to search and fit on, and a random share of the rows that only scores are computed from."""
    order = random.permutation(np.flatnonzero(given.weight > 0))
    n_aside = int(np.ceil(share * len(order)))
    if len(order) - n_aside < 2:
        raise InputError(
            Parameter("conformal", share),
            f" leaves {len(order) - n_aside} of {len(order)} rows to fit: set fewer aside",
        )
    return given.take(np.sort(order[n_aside:])), given.take(np.sort(order[:n_aside]))


def check_folds(folds: Folds, rows: Rows) -> None:
    """Raise an `InputError` unless there is one fold, or the folds hold out each row once."""
    if len(folds) == 1:
        return
    held = np.concatenate([np.column_stack([fold.held.x, fold.held.y, fold.held.weight]) for fold in folds])
    once = np.column_stack([rows.x, rows.y, rows.weight])
    same = held.shape == once.shape and np.array_equal(held[np.lexsort(held.T)], once[np.lexsort(once.T)])
    if not same:
        raise InputError(
            "conformal intervals need one fold, or folds that hold out each row once: choose another ", Parameter("cv")
        )


def conformal_of_folds(
    point: Point, held: Folds, trained: Folds, calibrate: bool, like: FittedEnsemble, unit: float
) -> Conformal:
    """Return the scores of the held-out rows by the models of their folds, which the point has kept.

    `held` are the folds as held out, `trained` as trained on (without wild targets), in the units of the networks.
    `like` is the final model, which has the same activation and target; a row of weight `unit` is one row.
    """
    ensembles, found = [], []
    for result, fold, own in zip(point.results, held, trained, strict=True):
        bounds = (widest_std(own.training.y), mean_bounds(own.training.y)) if calibrate else (np.inf, (-np.inf, np.inf))
        usable = [member for member in result.members if _is_finite(member)]
        if not usable:
            raise InputError(
                "training on a fold did not stay finite: fit without ",
                Parameter("conformal"),
                ", or with fewer ",
                Parameter("max_steps"),
            )
        members = stack_members(usable)
        ensemble = FittedEnsemble(
            members, own.training.scaling(), like.activation, 1.0, *bounds, lognormal=like.lognormal
        )
        ensembles.append(ensemble)
        found.append(scores(ensemble, fold.held.x, fold.held.y, counts(fold.held, unit)))
    fold_numbers = np.repeat(np.arange(len(found)), [len(part) for part in found])
    return Conformal(tuple(ensembles), np.concatenate(found), fold_numbers)


def _is_finite(member: Params) -> bool:
    return all(np.isfinite(part).all() for network in member for layer in network for part in layer)


def conformal_of_rows(ensemble: FittedEnsemble, aside: Rows) -> Conformal:
    """Return the scores of rows that the final model has not seen."""
    y = np.log(aside.y) if ensemble.lognormal else aside.y
    found = scores(ensemble, aside.x, y, np.ones(len(y), dtype=np.int64))
    return Conformal((), found, np.zeros(len(found), dtype=np.int64))


def counts(rows: Rows, unit: float) -> Int[np.ndarray, " row"]:
    """Return how often each merged row was given."""
    return np.rint(rows.weight / unit).astype(np.int64)
