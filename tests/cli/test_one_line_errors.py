"""What the command line promises whatever a command does: one line for a mistake, a bug and an interrupt."""

import os
import signal
import subprocess
import sys
import time

import pytest

from heteroscope import cli
from heteroscope.cli.interrupts import INTERRUPTED
from heteroscope.core import InputError, Parameter
from tests.cli.commands import refused, run

SWALLOWED = """
    while True:
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            pass
"""
LOST_IN_A_DESTRUCTOR = """
    class Slow:
        def __del__(self):
            time.sleep(60)

    Slow()
    time.sleep(60)
"""
DEAF = """
import signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
from heteroscope.cli import interrupts, one_line_errors
interrupts.GRACE = 0.2

@one_line_errors.click.command("wait", cls=one_line_errors.OneLineCommand)
def wait(quiet):
    print("waiting", flush=True)
{body}
group = one_line_errors.OneLineGroup(commands=[wait])
group.main(["wait"])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends a Unix signal")
@pytest.mark.parametrize("body", [SWALLOWED, LOST_IN_A_DESTRUCTOR])
def test_an_interrupt_ends_a_command_that_swallows_it(body):
    with subprocess.Popen([sys.executable, "-c", DEAF.format(body=body)], stdout=-1, stderr=-1, text=True) as started:
        assert started.stdout.readline() == "waiting\n"
        started.send_signal(signal.SIGINT)
        _, error = started.communicate(timeout=60)
    assert (started.returncode, error) == (INTERRUPTED, "Error: interrupted\n")


def test_an_interrupt_that_a_library_turns_into_another_error_is_told_as_such(fitted, monkeypatch):
    def turned(_):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as error:
            raise RuntimeError("the pool is closed") from error

    stopped = []
    monkeypatch.setattr("heteroscope.cli.interrupts.GRACE", 1000.0)
    monkeypatch.setattr("heteroscope.cli.one_line_errors.stop_workers", lambda: stopped.append(True))
    monkeypatch.setattr("heteroscope.model_files.load_bundle", turned)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
    try:
        result = run("predict", fitted[1], fitted[0])
    finally:
        signal.signal(signal.SIGINT, before)
    assert (result.exit_code, result.stderr) == (INTERRUPTED, "Error: interrupted\n")
    assert stopped


@pytest.mark.skipif(sys.platform != "linux", reason="looks for the workers in /proc")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_is_one_line_and_leaves_no_worker(fitted, tmp_path, jobs):
    words = ["fit", str(fitted[0]), "--target", "y", "--out", str(tmp_path / "m"), "--steps", "1000000", "--jobs", jobs]
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # a background job ignores it
    code = f"{heed}; from heteroscope.cli import main; main()"
    started = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        wait_for(lambda: len(session(started.pid)) > int(jobs))
        started.send_signal(signal.SIGINT)
        _, error = started.communicate(timeout=60)
        assert (started.returncode, error) == (INTERRUPTED, "Error: interrupted\n")
        wait_for(lambda: not session(started.pid))
        assert list(tmp_path.iterdir()) == []
    finally:
        for pid in session(started.pid):
            os.kill(pid, signal.SIGKILL)


def session(leader):
    """The living processes of a session, by number."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as file:
                state, _, _, number = file.read().rsplit(")", 1)[1].split()[:4]
        except OSError:
            continue
        if int(number) == leader and state != "Z":
            found.append(int(pid))
    return found


def wait_for(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)


def test_a_bug_is_one_line_and_debug_shows_it_all(fitted, monkeypatch):
    def bug(_):
        raise RuntimeError("two\nlines")

    monkeypatch.setattr("heteroscope.model_files.load_bundle", bug)
    message = refused("predict", fitted[1], fitted[0])
    assert "RuntimeError: two lines" in message
    assert "--debug" in message
    assert isinstance(run("predict", fitted[1], fitted[0], "--debug").exception, RuntimeError)


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (InputError(Parameter("max_steps"), " must be positive"), "--steps must be positive"),
        (InputError("gaps: fit with ", Parameter("missing", "impute")), "gaps: fit with --missing impute"),
        (InputError("column 'max_steps': set ", Parameter("batch_size")), "column 'max_steps': set --batch"),
        (InputError(Parameter("n_coarse"), " must be positive"), "n_coarse must be positive"),
        (InputError(Parameter("model"), " was 1"), "model was 1"),
        (InputError("/tmp/max_steps.csv is\nempty"), "/tmp/max_steps.csv is empty"),
        (ValueError("max_steps must\nbe positive"), "max_steps must be positive"),
    ],
)
def test_parameters_are_shown_as_the_options_that_set_them(fitted, monkeypatch, error, shown):
    def mistake(_):
        raise error

    monkeypatch.setattr("heteroscope.model_files.load_bundle", mistake)
    assert refused("predict", fitted[1], fitted[0]) == f"Error: {shown}\n"


WITH_JOBS = [name for name, command in cli.main.commands.items() if any("--jobs" in one.opts for one in command.params)]


@pytest.mark.parametrize("name", WITH_JOBS)
def test_no_jobs_are_refused_by_every_command_that_has_them(tmp_path, name):
    words = {"fit": ["t.csv", "--target", "y", "--out", tmp_path / "m"], "demo": []}.get(name, ["sine"])
    words += ["--out", tmp_path / "out"] if name in ("map", "demo") else []
    message = "Error: --jobs must be a positive number or -1 for all cores, got 0\n"
    assert refused(name, *words, "--jobs", "0") == message


def test_typos_suggest_the_near_one():
    assert "did you mean 'predict'?" in refused("predit", "m", "t.csv")
    assert "--target" in refused("fit", "t.csv", "--taget", "y")
    assert "choose one of" in refused("xyzzy")


def test_what_is_left_out_is_named():
    assert "--target" in refused("fit", "t.csv")
    assert "TABLE" in refused("fit", "--target", "y", "--out", "m")


@pytest.mark.parametrize(
    ("redirection", "cause"), [(">&-", "standard output is closed"), ("> /dev/full", "No space left on device")]
)
def test_output_that_goes_nowhere_is_an_error(redirection, cause):
    command = f"{sys.executable} -m heteroscope --help {redirection}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=250)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert cause in done.stderr
    assert done.stderr.count("\n") == 1
