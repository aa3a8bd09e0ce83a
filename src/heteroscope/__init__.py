"""Regression that knows how sure it is, and that tells which phase a model is in before it is trusted."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heteroscope.diagrams import field_diagram, open_diagram, phase_diagram
    from heteroscope.estimators import HeteroskedasticRegressor, HeteroskedasticRegressorCV
    from heteroscope.model_files import load_model, save_model

__version__ = version("heteroscope")
__all__ = [
    "HeteroskedasticRegressor",
    "HeteroskedasticRegressorCV",
    "__version__",
    "field_diagram",
    "load_model",
    "open_diagram",
    "phase_diagram",
    "save_model",
]

# Loaded when first asked for, so that the command line answers before JAX is imported.
_HOMES = {
    "HeteroskedasticRegressor": "heteroscope.estimators",
    "HeteroskedasticRegressorCV": "heteroscope.estimators",
    "field_diagram": "heteroscope.theory",
    "load_model": "heteroscope.model_files",
    "open_diagram": "heteroscope.store",
    "phase_diagram": "heteroscope.sweep",
    "save_model": "heteroscope.model_files",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'heteroscope' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
