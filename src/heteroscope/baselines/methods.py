"""The names of all methods that `heteroscope compare` knows, and the estimators behind them."""

import difflib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeAlias

from heteroscope.baselines.base import TrainedRegressor
from heteroscope.baselines.ensembles import EnsembleRegressor, MLEEnsembleRegressor
from heteroscope.baselines.faithful import FaithfulRegressor
from heteroscope.baselines.mle_and_beta_nll import BetaNLLRegressor, MLERegressor
from heteroscope.baselines.natural_laplace import NaturalLaplaceRegressor
from heteroscope.baselines.reliable_variance import ReliableVarianceRegressor
from heteroscope.baselines.rivals import (
    INSTALL,
    BARTPeer,
    BDEPeer,
    CatBoostPeer,
    ConformalCatBoostPeer,
    GaussianProcessPeer,
    NGBoostPeer,
    QuantileBoostingPeer,
    QuantileForestPeer,
    RealMLPPeer,
    TabICLPeer,
    TabMPeer,
    TabPFNPeer,
    TreeffuserPeer,
    XGBDistributionPeer,
    require,
)
from heteroscope.baselines.student_t_and_variational import StudentTRegressor, VariationalVarianceRegressor
from heteroscope.core import InputError
from heteroscope.estimators import HeteroskedasticRegressorCV

#: The baselines that are trained here. To add one, add a line: `heteroscope compare` and model files read this table.
BASELINES: dict[str, type[TrainedRegressor]] = {
    "mle": MLERegressor,
    "beta-nll": BetaNLLRegressor,
    "mle-ensemble": MLEEnsembleRegressor,
    "faithful": FaithfulRegressor,
    "natural-laplace": NaturalLaplaceRegressor,
    "reliable": ReliableVarianceRegressor,
    "student-t": StudentTRegressor,
    "variational": VariationalVarianceRegressor,
}


#: An estimator of any library, with `fit(X, y)` and `predict(X, return_std=True)` or `pred_dist(X)`.
AnyEstimator: TypeAlias = Any


class Method(NamedTuple):
    """How to make a method's estimator, the packages it needs, the most training rows it can take, when it runs.

    One that is not `by_default` runs only if it is named: it takes minutes, or needs files that are not in its package.
    """

    make: Callable[[], AnyEstimator]
    packages: tuple[str, ...] = ()
    max_rows: float = math.inf
    by_default: bool = True


#: All methods. A method of another library is one more line: it needs `fit(X, y)` and `predict(X, return_std=True)`, or
#: `pred_dist(X)`.
METHODS: dict[str, Method] = {
    "ours": Method(HeteroskedasticRegressorCV),
    **{name: Method(baseline) for name, baseline in BASELINES.items()},
    "ngboost": Method(NGBoostPeer, ("ngboost",)),
    "catboost": Method(CatBoostPeer, ("catboost",)),
    "gp": Method(GaussianProcessPeer, max_rows=2000),  # its time grows with the third power of the rows
    "gp-matern": Method(partial(GaussianProcessPeer, kernel="matern"), max_rows=2000, by_default=False),
    "xgboost-distribution": Method(XGBDistributionPeer, ("xgboost_distribution",), by_default=False),
    "quantile-boosting": Method(QuantileBoostingPeer, by_default=False),
    "quantile-forest": Method(QuantileForestPeer, ("quantile_forest",), by_default=False),
    "conformal-catboost": Method(ConformalCatBoostPeer, ("catboost", "crepes"), by_default=False),
    "bart": Method(BARTPeer, ("stochtree",), by_default=False),
    "bde": Method(BDEPeer, ("bde",), by_default=False),
    "realmlp": Method(RealMLPPeer, ("pytabkit",), by_default=False),
    "tabm": Method(TabMPeer, ("pytabkit",), by_default=False),
    "treeffuser": Method(TreeffuserPeer, ("treeffuser",), by_default=False),
    "tabpfn": Method(TabPFNPeer, ("tabpfn",), max_rows=50_000, by_default=False),
    "tabicl": Method(TabICLPeer, ("tabicl",), max_rows=50_000, by_default=False),
}
#: The name of a method that is trained here plus this suffix is an ensemble of it: `ours-ensemble`, ...
ENSEMBLE_SUFFIX = "-ensemble"
WITH_ENSEMBLES = ("ours", *BASELINES)


def choose_methods(methods: Sequence[str] | Mapping[str, AnyEstimator] | None, n_rows: int) -> dict[str, AnyEstimator]:
    """Return an unfitted estimator for each method.

    Parameters
    ----------
    methods : sequence of str, mapping from str to estimator, or None
        Names of `METHODS`, or your own estimators by names of your own. None is every method that is `by_default`,
        installed and can take the rows; `left_out` says which of them cannot. A name that is unknown, not installed
        or too slow for the rows raises an `InputError`.
    n_rows : int
        The number of training rows.

    Returns
    -------
    dict of str to estimator
        The estimators by name.
    """
    if methods is None:
        missing = left_out(n_rows)
        return {name: method.make() for name, method in METHODS.items() if method.by_default and name not in missing}
    if isinstance(methods, str) or not len(methods):
        raise InputError(f"methods must be a list of one or more of {', '.join(METHODS)}, got {methods!r}")
    if isinstance(methods, Mapping):
        return {_file_name(name): estimator for name, estimator in methods.items()}
    repeated = [name for name in methods if list(methods).count(name) > 1]
    if repeated:
        raise InputError(f"the method {repeated[0]!r} is listed twice: name each once")
    return {name: _named(name, n_rows) for name in methods}


def left_out(n_rows: int) -> dict[str, str]:
    """Return the methods that `choose_methods(None, n_rows)` leaves out, each with the reason.

    Parameters
    ----------
    n_rows : int
        The number of training rows.

    Returns
    -------
    dict of str to str
        The reason for each method that is left out: a package that is not installed, or too many rows.
    """
    reasons = {}
    for name, method in METHODS.items():
        absent = [package for package in method.packages if find_spec(package) is None]
        if not method.by_default:
            continue
        if absent:
            reasons[name] = f"the package {absent[0]!r} is not installed: {INSTALL[absent[0]]}"
        elif n_rows > method.max_rows:
            reasons[name] = f"it takes at most {method.max_rows} training rows, and there are {n_rows}"
    return reasons


def _named(name: str, n_rows: int) -> AnyEstimator:
    """Return the estimator of one name; raise an `InputError` if it cannot be used here."""
    if name not in METHODS:
        member = str(name).removesuffix(ENSEMBLE_SUFFIX)
        if str(name).endswith(ENSEMBLE_SUFFIX) and member in WITH_ENSEMBLES:
            return EnsembleRegressor(METHODS[member].make())
        near = difflib.get_close_matches(str(name), METHODS, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise InputError(f"no method is called {name!r}{hint}: choose among {', '.join(METHODS)}")
    method = METHODS[name]
    for package in method.packages:
        require(package)
    if n_rows > method.max_rows:
        raise InputError(f"{name} takes at most {method.max_rows} training rows, and there are {n_rows}: leave it out")
    return method.make()


def _file_name(name: object) -> str:
    """Return a user's own name of a method if it can be part of a file name; raise an `InputError` otherwise."""
    if not isinstance(name, str) or not re.fullmatch(r"\w[\w.+-]*", name):
        raise InputError(
            f"the method name {name!r} is no part of a file name: use letters, digits, '-', '_', '.' and '+'"
        )
    return name
