"""Regression that knows how sure it is, and that tells which phase a model is in before it is trusted."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from heteroscope import datasets, field, plots
    from heteroscope.diagrams import field_diagram, open_diagram, phase_diagram
    from heteroscope.distributions import metrics
    from heteroscope.estimators import HeteroskedasticRegressor, HeteroskedasticRegressorCV
    from heteroscope.explanation import diagnose
    from heteroscope.model_files import load_model, save_model

__all__ = [
    "HeteroskedasticRegressor",
    "HeteroskedasticRegressorCV",
    "__version__",
    "datasets",
    "diagnose",
    "field",
    "field_diagram",
    "load_model",
    "metrics",
    "open_diagram",
    "phase_diagram",
    "plots",
    "save_model",
]

# Import each public name at its first use: the command line prints help before JAX is imported.
_HOMES = {
    "HeteroskedasticRegressor": "heteroscope.estimators",
    "HeteroskedasticRegressorCV": "heteroscope.estimators",
    "diagnose": "heteroscope.explanation",
    "field_diagram": "heteroscope.diagrams",
    "load_model": "heteroscope.model_files",
    "metrics": "heteroscope.distributions",
    "open_diagram": "heteroscope.diagrams",
    "phase_diagram": "heteroscope.diagrams",
    "save_model": "heteroscope.model_files",
}
_PACKAGES = ("datasets", "field", "plots")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("heteroscope")
    if name in _PACKAGES:
        return import_module(f"heteroscope.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'heteroscope' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
