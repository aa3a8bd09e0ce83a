"""What the command line's groups promise whatever a command does: here, that an interrupt ends it."""

import signal
import subprocess
import sys

import pytest

from heteroscope.cli.one_line import INTERRUPTED

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
from heteroscope.cli import one_line
one_line.GRACE = 0.2

@one_line.click.command("wait", cls=one_line.OneLineCommand)
def wait(quiet):
    print("waiting", flush=True)
{body}
group = one_line.OneLineGroup(commands=[wait])
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
