"""One model for all tests of the command line that read one."""

import pytest

from tests.cli.commands import POINT, csv, run, table


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    """A table and the model folder that `fit` made of it."""
    folder = tmp_path_factory.mktemp("fitted")
    path = csv(folder, table())
    result = run("fit", path, "--target", "y", "--out", folder / "model", *POINT)
    assert result.exit_code == 0, result.output
    return path, folder / "model"
