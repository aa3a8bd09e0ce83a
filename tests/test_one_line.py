"""What the command line's groups promise whatever a command does: here, that an interrupt ends it."""

import signal
import subprocess
import sys

import pytest

from heteroscope.cli.one_line import INTERRUPTED

DEAF = """
import signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
from heteroscope.cli import one_line
one_line.GRACE = 0.2

@one_line.click.command("wait", cls=one_line.OneLineCommand)
def wait(quiet):
    print("waiting", flush=True)
    while True:
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            pass

group = one_line.OneLineGroup(commands=[wait])
group.main(["wait"])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends a Unix signal")
def test_an_interrupt_ends_a_command_that_swallows_it():
    with subprocess.Popen([sys.executable, "-c", DEAF], stdout=-1, stderr=-1, text=True) as started:
        assert started.stdout.readline() == "waiting\n"
        started.send_signal(signal.SIGINT)
        _, error = started.communicate(timeout=60)
    assert (started.returncode, error) == (INTERRUPTED, "Error: interrupted\n")
