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

__all__ = [
    "ARRAYS",
    "DESCRIPTION",
    "FORMAT",
    "Bundle",
    "check_destination",
    "load_bundle",
    "load_model",
    "save_model",
]
