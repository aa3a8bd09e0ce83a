"""ClimSim's low-resolution files by their own names: ten million atmospheric columns, 124 inputs, 128 outputs.

Download them from Hugging Face, `LEAP/subsampled_low_res`; `docs/climsim.md` says how.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from heteroscope.core import InputError
from heteroscope.data import NpyFile, NpyStream, Rows, draw_rows

LEVELS = 60
COLUMNS = 384  # atmospheric columns of a time step; rows are time-major
INPUTS = (
    *(f"state_t_{k}" for k in range(LEVELS)),
    *(f"state_q0001_{k}" for k in range(LEVELS)),
    "state_ps",
    "pbuf_SOLIN",
    "pbuf_LHFLX",
    "pbuf_SHFLX",
)
SURFACE = tuple(f"cam_out_{name}" for name in ("NETSW", "FLWDS", "PRECSC", "PRECC", "SOLS", "SOLL", "SOLSD", "SOLLD"))
OUTPUTS = (*(f"ptend_t_{k}" for k in range(LEVELS)), *(f"ptend_q0001_{k}" for k in range(LEVELS)), *SURFACE)
Part = Literal["train", "val", "scoring"]
#: Rows of the published files.
N_ROWS: dict[Part, int] = {"train": 10_091_520, "val": 1_441_920, "scoring": 1_681_920}
SOLAR_FLUX = "cam_out_NETSW"
PAPER_HIDDEN, PAPER_BATCH = (256, 256, 256), 256
#: The paper's training, as arguments of an estimator; its 12 epochs are `stream.steps(PAPER_EPOCHS)`.
PAPER: dict[str, Any] = {"hidden": PAPER_HIDDEN, "batch_size": PAPER_BATCH}
PAPER_EPOCHS = 12
TEST_ROWS = 7209
DOWNLOAD = "huggingface-cli download LEAP/subsampled_low_res --repo-type dataset --local-dir FOLDER"


def file_names(part: Part) -> tuple[str, str]:
    """The two files of a part."""
    return f"{part}_input.npy", f"{part}_target.npy"


def is_climsim(folder: str | Path) -> bool:
    """Does this folder hold ClimSim's training files, or at least one of them?"""
    return any((Path(folder) / name).is_file() for name in file_names("train"))


def climsim_stream(folder: str | Path, target: str = SOLAR_FLUX, part: Part = "train") -> NpyStream:
    """One part of ClimSim as a stream; `target` is an output's name, `cam_out_NETSW` or `NETSW` for the solar flux."""
    if part not in get_args(Part):
        raise InputError(f"no part of ClimSim is called {part!r}: choose one of {', '.join(get_args(Part))}")
    inputs, targets = (Path(folder) / name for name in file_names(part))
    for path in (inputs, targets):
        if not path.is_file():
            raise InputError(f"{path} is missing: download it with `{DOWNLOAD}`")
    return NpyStream(inputs, targets, full_name(target), INPUTS, OUTPUTS)


def full_name(target: str) -> str:
    """An output's name in full; a short one, such as NETSW, is a surface output's."""
    name = target if target in OUTPUTS else f"cam_out_{target}"
    if name not in OUTPUTS:
        raise InputError(
            f"ClimSim has no output {target!r}: choose among {', '.join(SURFACE)}, ptend_t_0, ..., ptend_q0001_59"
        )
    return name


def draw_test_rows(folder: str | Path, target: str = SOLAR_FLUX, n_rows: int = TEST_ROWS, seed: int = 0) -> Rows:
    """`n_rows` random rows of `val`, without replacement: the paper's test set has 7,209."""
    return draw_rows(climsim_stream(folder, target, "val"), n_rows, seed)


def create_files(folder: str | Path, part: Part, n_rows: int) -> Sequence[NpyFile]:
    """Empty files of a part in the published format, to be filled row by row: float32, C order."""
    made = []
    for name, n_columns in zip(file_names(part), (len(INPUTS), len(OUTPUTS)), strict=True):
        path = Path(folder) / name
        with path.open("wb") as file:
            header = {"descr": "<f4", "fortran_order": False, "shape": (n_rows, n_columns)}
            np.lib.format.write_array_header_1_0(file, header)
            made.append(NpyFile(path, n_rows, n_columns, np.dtype("<f4"), file.tell()))
    return made
