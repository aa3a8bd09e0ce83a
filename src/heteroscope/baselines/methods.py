"""The names by which methods are asked for in a comparison, and which of them can be had here."""

import difflib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

from heteroscope.baselines.base import TrainedRegressor
from heteroscope.baselines.ensembles import EnsembleRegressor, MLEEnsembleRegressor
from heteroscope.baselines.faithful import FaithfulRegressor
from heteroscope.baselines.mle_and_beta_nll import BetaNLLRegressor, MLERegressor
from heteroscope.baselines.natural_laplace import NaturalLaplaceRegressor
from heteroscope.baselines.other_libraries import INSTALL, CatBoostPeer, GaussianProcessPeer, NGBoostPeer, require
from heteroscope.baselines.reliable_variance import ReliableVarianceRegressor
from heteroscope.baselines.student_t_and_variational import StudentTRegressor, VariationalVarianceRegressor
from heteroscope.core import InputError
from heteroscope.estimators import HeteroskedasticRegressorCV

#: The one place where a method is added: `heteroscope compare` and model folders know all that stand here.
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


class Method(NamedTuple):
    """How a method is made; the package of the extra `compare` that it needs, and the training rows it can bear."""

    make: Callable[[], Any]
    package: str | None = None
    max_rows: float = math.inf


#: The next method is one line here: anything with `fit(X, y)` and `predict(X, return_std=True)`.
METHODS: dict[str, Method] = {
    "ours": Method(HeteroskedasticRegressorCV),
    **{name: Method(baseline) for name, baseline in BASELINES.items()},
    "ngboost": Method(NGBoostPeer, package="ngboost"),
    "catboost": Method(CatBoostPeer, package="catboost"),
    "gp": Method(GaussianProcessPeer, max_rows=2000),
}
#: Behind the name of a method that is trained here, an ensemble of it: `ours-ensemble`, `faithful-ensemble`, ...
ENSEMBLE = "-ensemble"
ENSEMBLED = ("ours", *BASELINES)


def choose_methods(methods: Sequence[str] | Mapping[str, Any] | None, n_rows: int) -> dict[str, Any]:
    """An unfitted estimator a method for `n_rows` training rows: those named, those given, or by default all but some.

    A method that is named but unknown, not installed or too slow for the rows is refused; `left_out` says which ones
    the default passes over.
    """
    if methods is None:
        return {name: method.make() for name, method in METHODS.items() if name not in left_out(n_rows)}
    if isinstance(methods, str) or not len(methods):
        raise InputError(f"methods must be a list of one or more of {', '.join(METHODS)}, got {methods!r}")
    if isinstance(methods, Mapping):
        return {_file_name(name): estimator for name, estimator in methods.items()}
    repeated = [name for name in methods if list(methods).count(name) > 1]
    if repeated:
        raise InputError(f"the method {repeated[0]!r} is listed twice: name each once")
    return {name: _named(name, n_rows) for name in methods}


def left_out(n_rows: int) -> dict[str, str]:
    """The methods that the default passes over for this many training rows, each with the reason."""
    reasons = {}
    for name, method in METHODS.items():
        if method.package and find_spec(method.package) is None:
            reasons[name] = f"the package {method.package!r} is not installed: {INSTALL}"
        elif n_rows > method.max_rows:
            reasons[name] = f"it is for at most {method.max_rows} training rows, here are {n_rows}"
    return reasons


def _named(name: str, n_rows: int) -> Any:
    if name not in METHODS:
        member = str(name).removesuffix(ENSEMBLE)
        if str(name).endswith(ENSEMBLE) and member in ENSEMBLED:
            return EnsembleRegressor(METHODS[member].make())
        near = difflib.get_close_matches(str(name), METHODS, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise InputError(f"no method is called {name!r}{hint}: choose among {', '.join(METHODS)}")
    method = METHODS[name]
    if method.package:
        require(method.package)
    if n_rows > method.max_rows:
        raise InputError(f"{name} is for at most {method.max_rows} training rows, here are {n_rows}: leave it out")
    return method.make()


def _file_name(name: Any) -> str:
    """A user's own name for a method, which becomes part of a file's name."""
    if not isinstance(name, str) or not re.fullmatch(r"\w[\w.+-]*", name):
        raise InputError(f"the method name {name!r} is no file's name: use letters, digits, '-', '_', '.' and '+'")
    return name
