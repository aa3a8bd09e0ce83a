"""The model card: what a model was fitted to, how, with which versions, and where its predictions end."""

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

import numpy as np

from heteroscope.estimators import HeteroskedasticRegressorCV, PointRegressor
from heteroscope.phases import COVERAGE, Verdict

PACKAGES = ("heteroscope", "numpy", "scipy", "scikit-learn", "jax")
MOST_RANGES = 60  # inputs whose ranges are listed


class ModelCard(NamedTuple):
    """Facts by section, as pairs of a name and a text; and the limits of the predictions, one sentence each."""

    facts: dict[str, list[tuple[str, str]]]
    limits: list[str]


def model_card(model: PointRegressor, names: list[str], target: str) -> ModelCard:
    """Describe a fitted model.

    Parameters
    ----------
    model : HeteroskedasticRegressor or HeteroskedasticRegressorCV
        The fitted model.
    names : list of str
        The names of its features.
    target : str
        The name of the target.

    Returns
    -------
    ModelCard
        Its data, its fit, its settings, the versions of the software, and its limits.
    """
    scaling, ensemble = model.scaling_, model.ensemble()
    ranges = list(zip(names, scaling.x_low, scaling.x_high, strict=True))
    of_what = f"the logarithm of {target}" if ensemble.lognormal else target
    data = [("target", f"{of_what}: mean {scaling.y_centre:.4g}, std {scaling.y_scale:.4g} in the training rows")]
    data += [("features", str(len(names)))]
    data += [(f"range of {name}", f"{low:.4g} to {high:.4g}") for name, low, high in ranges[:MOST_RANGES]]
    if len(ranges) > MOST_RANGES:
        data.append(("further features", f"{len(ranges) - MOST_RANGES}, not listed here"))
    held = model.held_out_
    data.append(("held-out rows", "none" if held is None else f"{len(held.y)} in {len(np.unique(held.fold))} folds"))
    family = "Gaussian" if np.isinf(ensemble.df) else f"Student-t with {ensemble.df:.3g} degrees of freedom"
    family = "lognormal" if ensemble.lognormal else family
    fit = [
        ("model", type(model).__name__),
        ("rho, gamma", f"{model.rho_:.10g}, {model.gamma_:.10g}"),
        ("phase of the networks", model.phase_),
        ("predictive distribution", family),
        ("factor of the std", f"{model.std_scale_:.4g}"),
        ("members", f"{len(model.members_.mean[0].weight)}; trainings ended: {', '.join(sorted(set(model.status_)))}"),
        ("training steps", str(model.n_iter_)),
    ]
    if isinstance(model, HeteroskedasticRegressorCV):
        fit.append(("points of the search", str(len(model.cv_results_["rho"]))))
    settings = [(name, repr(value)) for name, value in sorted(model.get_params(deep=False).items())]
    facts = {"Data": data, "Fit": fit, "Settings": settings, "Versions": versions()}
    return ModelCard(facts, [*_limits_of_inputs(model), *limits_of_evidence(model.verdict_)])


def versions() -> list[tuple[str, str]]:
    """Return the versions of Python and of the packages that decide about the numbers."""
    found = [("Python", platform.python_version())]
    for name in PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:  # an application may be frozen without the packages' metadata
            found.append((name, "not known"))
    return found


def _limits_of_inputs(model: PointRegressor) -> list[str]:
    """Return what the model does not know because of its inputs."""
    said = [
        "Outside the ranges of the inputs above nothing was learned; beyond twice their width the std is widened and a "
        "warning is given.",
        "What drives mean and std are associations in the training rows, not causes.",
    ]
    if model.std_scale_ != 1.0:
        said.append(
            "The std was multiplied by one factor for all rows: coverage is right on average, and in single groups of "
            "rows only as far as the quarters above show it."
        )
    return said


def limits_of_evidence(verdict: Verdict | None) -> list[str]:
    """Return how far the evidence reaches.

    Parameters
    ----------
    verdict : Verdict or None
        What held-out rows say.

    Returns
    -------
    list of str
        One sentence each.
    """
    said = ["All of this holds for new rows that come about as these did: check the coverage again when things change."]
    if verdict is None:
        return ["No rows were held out, so nothing here tells how good the predictions are.", *said]
    error = 100 * np.sqrt(COVERAGE * (1 - COVERAGE) / verdict.n_rows)
    said.append(f"From {verdict.n_rows} held-out rows the coverage of 90 % intervals is known to ± {error:.1f} points.")
    return said
