"""Arguments that name data larger than memory, and the options that go with them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heteroscope.core import InputError

if TYPE_CHECKING:
    from heteroscope.data import Rows, Stream

EPOCHS = click.option("--epochs", type=float, help="For a stream: how often to read every row; sets the steps.")


def is_stream(path: Path) -> bool:
    """Return whether `path` names a stream: a folder, a Zarr store or a NetCDF file. Other files are tables."""
    return path.is_dir() or path.suffix.lower() in (".nc", ".nc4", ".cdf", ".zarr")


def open_stream_at(path: Path, target: str | None) -> "Stream":
    """Open the stream at `path`; of a folder with ClimSim's files, its training part."""
    from heteroscope.data import open_stream
    from heteroscope.datasets import SOLAR_FLUX, climsim_stream, is_climsim

    if is_climsim(path):
        return climsim_stream(path, target or SOLAR_FLUX)
    return open_stream(path, target=target)


def draw_test_rows(path: Path, target: str | None, test: Path | None, seed: int) -> "Rows":
    """Draw test rows from the stream `test`, or for ClimSim from its validation part as the paper does."""
    from heteroscope.data import draw_rows
    from heteroscope.datasets import SOLAR_FLUX, TEST_ROWS, climsim_stream, is_climsim

    if test is not None:
        stream = open_stream_at(test, target)
    elif is_climsim(path):
        stream = climsim_stream(path, target or SOLAR_FLUX, "val")
    else:
        raise InputError(f"{path} is a stream: name another stream with --test, from which test rows are drawn")
    return draw_rows(stream, min(TEST_ROWS, stream.n_rows), seed)


def stream_settings(path: Path, stream: "Stream", epochs: float | None, given: dict[str, Any]) -> dict[str, Any]:
    """Return the estimator's parameters: those given, `--epochs` as steps, and for ClimSim the paper's as defaults."""
    from heteroscope.datasets import PAPER, is_climsim

    settings = (PAPER if is_climsim(path) else {}) | given
    if epochs is not None:
        if "max_steps" in given:
            raise InputError("--epochs and --steps set the same thing: give one of them")
        if epochs <= 0:
            raise InputError(f"--epochs must be positive, got {epochs:g}")
        batch = settings.get("batch_size", "auto")
        settings["max_steps"] = stream.steps(epochs) if batch == "auto" else stream.steps(epochs, batch)
    return settings
