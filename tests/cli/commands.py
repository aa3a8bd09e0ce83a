"""Commands as a user types them, small enough to run in a blink, and the table that they read."""

import numpy as np
import pandas as pd
from click.testing import CliRunner

from heteroscope import cli
from heteroscope.cli.interrupts import INTERRUPTED

POINT = ["--rho", "0.9", "--gamma", "0.1", "--hidden", "6", "--steps", "10", "--jobs", "1", "--seed", "0"]
TINY_THEORY = 64  # points of the field theory, the same wherever it is run, so that it is compiled once
#: Constants of `heteroscope.paper.demo` with which the demo takes a blink.
TINY_DEMO = {
    "SEARCH": {
        "n_coarse": 3,
        "n_fine": 2,
        "calibrate": False,
        "cv": 2,
        "max_steps": 20,
        "hidden": (4,),
        "n_members": 1,
    },
    "N_ROWS": 80,
    "OVERFIT": {"rho": 0.99, "gamma": 0.01, "max_steps": 20},
    "DIAGRAM": {"max_steps": 20},
    "THEORY_POINTS": TINY_THEORY,
}


def run(*words):
    return CliRunner().invoke(cli.main, [str(word) for word in words])


def refused(*words):
    result = run(*words)
    assert result.exit_code not in (0, INTERRUPTED)
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1, "one line"
    assert "Traceback" not in result.stderr
    return result.stderr


def table(n=20, **columns):
    random = np.random.default_rng(0)
    a = random.standard_normal(n)
    town = random.choice(["Bern", "Oslo"], n)
    return pd.DataFrame({"a": a, "town": town, "y": a + 0.3 * random.standard_normal(n)}).assign(**columns)


def csv(tmp_path, frame):
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return path
