"""Data larger than memory on the command line: which arguments name a stream, and what its options mean."""

from pathlib import Path
from typing import Any

import click

from heteroscope.core import InputError


def is_stream(path: Path) -> bool:
    """A folder (of Parquet or ClimSim's files, or a Zarr store) or a NetCDF file; other files are tables."""
    return path.is_dir() or path.suffix.lower() in (".nc", ".nc4", ".cdf", ".zarr")


def open_named(path: Path, target: str | None) -> Any:
    """The stream of a folder or file, ClimSim's training part if its files are there."""
    from heteroscope.data import open_stream
    from heteroscope.datasets import SOLAR_FLUX, climsim_stream, is_climsim

    if is_climsim(path):
        return climsim_stream(path, target or SOLAR_FLUX)
    return open_stream(path, target=target)


def test_rows(path: Path, target: str | None, test: Path | None, seed: int) -> Any:
    """Rows to test on: a draw from the stream named, or the paper's draw from ClimSim's validation part."""
    from heteroscope.data import draw_rows
    from heteroscope.datasets import SOLAR_FLUX, TEST_ROWS, climsim_stream, is_climsim

    if test is not None:
        stream = open_named(test, target)
    elif is_climsim(path):
        stream = climsim_stream(path, target or SOLAR_FLUX, "val")
    else:
        raise InputError(f"{path} is a stream: name another one with --test, from which rows to test on are drawn")
    return draw_rows(stream, min(TEST_ROWS, stream.n_rows), seed)


def stream_settings(path: Path, stream: Any, epochs: float | None, given: dict[str, Any]) -> dict[str, Any]:
    """Arguments of an estimator: `--epochs` as steps, and the paper's network and batches for ClimSim unless given."""
    from heteroscope.datasets import PAPER, is_climsim

    found = (PAPER if is_climsim(path) else {}) | given
    if epochs is not None:
        if "max_steps" in given:
            raise InputError("--epochs and --steps say the same thing: give one of them")
        if epochs <= 0:
            raise InputError(f"--epochs must be positive, got {epochs:g}")
        batch = found.get("batch_size", "auto")
        found["max_steps"] = stream.steps(epochs) if batch == "auto" else stream.steps(epochs, batch)
    return found


EPOCHS = click.option("--epochs", type=float, help="Of a stream: how often every row is read, instead of --steps.")
