"""What every command shows of itself, at once, and that the documented ones run."""

import re
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from heteroscope import cli
from tests.cli.commands import TINY_DEMO, TINY_THEORY, run, table

ROOT = Path(__file__).parents[2]
COMMANDS = sorted(cli.main.commands)
DOCUMENTED = re.findall(r"^\$ heteroscope (.*)$", (ROOT / "docs" / "command-line.md").read_text(), flags=re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_an_example(command):
    text = run(command, "--help").stdout
    assert f"  heteroscope {command}" in text.split("Example", 1)[1]
    assert "--quiet" in text


def test_without_a_command_there_is_help():
    result = run()
    assert result.exit_code == 0
    assert all(command in result.stdout for command in COMMANDS)


def test_version():
    assert run("--version").stdout == f"heteroscope, version {version('heteroscope')}\n"


def test_the_package_is_a_program_too():
    told = subprocess.check_output([sys.executable, "-m", "heteroscope", "--version"], text=True)
    assert told == run("--version").stdout


@pytest.mark.parametrize("words", [[], ["--help"], ["fit", "--help"], ["--version"], ["fitt"]])
def test_it_imports_nothing_heavy(words):
    code = (
        "import sys\n"
        "from heteroscope.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "heavy = {'jax', 'pandas', 'scipy', 'sklearn', 'matplotlib', 'xarray', 'pyarrow', 'rich', 'joblib'}\n"
        "sys.exit(' '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_documented_commands_run_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, value in TINY_DEMO.items():
        monkeypatch.setattr(f"heteroscope.paper.demo.{name}", value)
    houses = table().rename(columns={"a": "area", "y": "price"}).assign(rooms=np.arange(20) % 5)
    houses.to_csv("houses.csv", index=False)
    assert {line.split()[0] for line in DOCUMENTED} == set(COMMANDS)
    for line in DOCUMENTED:
        words = shlex.split(line)
        if words[0] == "fit":
            words += ["--steps", "4", "--hidden", "4", "--members", "1", "--jobs", "1"]
            words += [] if "--rho" in words else ["--folds", "2"]
        if words[0] == "map":
            words += ["--steps", "20", "--hidden", "4", "--jobs", "1"]
        if words[0] == "field":
            words += ["--points", TINY_THEORY]
        if words[0] == "demo":
            words += ["--jobs", "1"]
        result = run(*words)
        assert result.exit_code == 0, f"{line}: {result.output}"
    assert "second_std" in pd.read_parquet("both.parquet")
