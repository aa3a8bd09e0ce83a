"""Open ClimSim's low-resolution files as streams: ten million atmospheric columns, 124 inputs, 128 outputs.

Users download the files from Hugging Face, `LEAP/subsampled_low_res`; `docs/climsim.md` says how.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from heteroscope.core import InputError
from heteroscope.data import NpyFile, NpyStream, Rows, draw_rows

LEVELS = 60  # heights at which temperature and humidity are given
COLUMNS = 384  # atmospheric columns per time step; all rows of a time step come before those of the next
#: The columns of the input files, in their order.
INPUTS = (
    *(f"state_t_{k}" for k in range(LEVELS)),
    *(f"state_q0001_{k}" for k in range(LEVELS)),
    "state_ps",
    "pbuf_SOLIN",
    "pbuf_LHFLX",
    "pbuf_SHFLX",
)
SURFACE = tuple(f"cam_out_{name}" for name in ("NETSW", "FLWDS", "PRECSC", "PRECC", "SOLS", "SOLL", "SOLSD", "SOLLD"))
#: The columns of the target files, in their order.
OUTPUTS = (*(f"ptend_t_{k}" for k in range(LEVELS)), *(f"ptend_q0001_{k}" for k in range(LEVELS)), *SURFACE)
Part: TypeAlias = Literal["train", "val", "scoring"]
#: The number of rows of the published files.
N_ROWS: dict[Part, int] = {"train": 10_091_520, "val": 1_441_920, "scoring": 1_681_920}
SOLAR_FLUX = "cam_out_NETSW"  # the output that the paper predicts
PAPER_HIDDEN, PAPER_BATCH = (256, 256, 256), 256
#: The paper's settings as arguments of an estimator; for its 12 epochs, set max_steps=stream.steps(PAPER_EPOCHS).
PAPER: dict[str, Any] = {"hidden": PAPER_HIDDEN, "batch_size": PAPER_BATCH}
PAPER_EPOCHS = 12
TEST_ROWS = 7209  # rows of the paper's test set
DOWNLOAD = "huggingface-cli download LEAP/subsampled_low_res --repo-type dataset --local-dir FOLDER"


def file_names(part: Part) -> tuple[str, str]:
    """Return the names of the input file and of the target file of a part."""
    return f"{part}_input.npy", f"{part}_target.npy"


def is_climsim(folder: str | Path) -> bool:
    """Return whether a folder holds one or both of ClimSim's training files.

    Parameters
    ----------
    folder : str or Path
        The folder.

    Returns
    -------
    bool
    """
    return any((Path(folder) / name).is_file() for name in file_names("train"))


def climsim_stream(folder: str | Path, target: str = SOLAR_FLUX, part: Part = "train") -> NpyStream:
    """Open one part of ClimSim as a stream.

    Parameters
    ----------
    folder : str or Path
        The folder with the downloaded files.
    target : str, default="cam_out_NETSW"
        The output to predict; surface outputs may be given without "cam_out_". The default is the net solar flux.
    part : {"train", "val", "scoring"}, default="train"
        Which pair of files to open.

    Returns
    -------
    NpyStream
    """
    if part not in get_args(Part):
        raise InputError(f"no part of ClimSim is called {part!r}: choose one of {', '.join(get_args(Part))}")
    inputs, targets = (Path(folder) / name for name in file_names(part))
    for path in (inputs, targets):
        if not path.is_file():
            raise InputError(f"{path} is missing: download it with `{DOWNLOAD}`")
    return NpyStream(inputs, targets, full_name(target), INPUTS, OUTPUTS)


def full_name(target: str) -> str:
    """Return the full name of an output; a short name, such as NETSW, is that of a surface output."""
    name = target if target in OUTPUTS else f"cam_out_{target}"
    if name not in OUTPUTS:
        raise InputError(
            f"ClimSim has no output {target!r}: choose among {', '.join(SURFACE)}, ptend_t_0, ..., ptend_q0001_59"
        )
    return name


def draw_test_rows(folder: str | Path, target: str = SOLAR_FLUX, n_rows: int = TEST_ROWS, seed: int = 0) -> Rows:
    """Draw random rows of the part `val` without replacement, as a test set.

    Parameters
    ----------
    folder : str or Path
        The folder with the downloaded files.
    target : str, default="cam_out_NETSW"
        The output to predict, as in `climsim_stream`.
    n_rows : int, default=7209
        The number of rows; the default is that of the paper.
    seed : int, default=0
        The seed of the draw.

    Returns
    -------
    Rows
        Inputs, targets and weights (all one).
    """
    return draw_rows(climsim_stream(folder, target, "val"), n_rows, seed)


def create_files(folder: str | Path, part: Part, n_rows: int) -> Sequence[NpyFile]:
    """Write the headers of a part's two files in the published format (float32, C order); rows are added later."""
    made = []
    for name, n_columns in zip(file_names(part), (len(INPUTS), len(OUTPUTS)), strict=True):
        path = Path(folder) / name
        with path.open("wb") as file:
            header = {"descr": "<f4", "fortran_order": False, "shape": (n_rows, n_columns)}
            np.lib.format.write_array_header_1_0(file, header)
            made.append(NpyFile(path, n_rows, n_columns, np.dtype("<f4"), file.tell()))
    return made
