"""Save fitted models to disk and load them."""

from heteroscope.model_files.folders import (
    ARRAYS,
    DESCRIPTION,
    FORMAT,
    Bundle,
    check_destination,
    load_bundle,
    load_model,
    save_model,
)
from heteroscope.model_files.loaded_model import LoadedModel
from heteroscope.model_files.onnx_export import export_onnx

__all__ = [
    "ARRAYS",
    "DESCRIPTION",
    "FORMAT",
    "Bundle",
    "LoadedModel",
    "check_destination",
    "export_onnx",
    "load_bundle",
    "load_model",
    "save_model",
]
