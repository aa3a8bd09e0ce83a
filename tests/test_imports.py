"""Help, worker processes and services start fast: the lower packages import slow libraries only when they need them."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("package", "not_imported"),
    [
        ("cli", "jax scipy pandas xarray pyarrow sklearn"),
        ("core", "jax scipy pandas xarray pyarrow sklearn"),
        ("data", "jax scipy pandas xarray pyarrow sklearn zarr h5netcdf"),
        ("datasets", "jax scipy pandas xarray pyarrow sklearn zarr h5netcdf"),
    ],
)
def test_a_package_imports_nothing_slow(package, not_imported):
    script = f"import sys, heteroscope.{package}; print(*sorted(set('{not_imported}'.split()) & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", script], text=True).split() == []
