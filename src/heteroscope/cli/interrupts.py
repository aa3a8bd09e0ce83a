"""Make Ctrl-C end a command at once, and leave no worker process behind."""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

INTERRUPTED = 130  # exit code: 128 + the number of SIGINT, as shells have it
GRACE = 10.0  # seconds that an interrupted command has to clean up before it is killed
_received = threading.Event()


@contextmanager
def interruptible() -> Iterator[None]:
    """End the process on Ctrl-C even if a library swallows the KeyboardInterrupt.

    Python raises KeyboardInterrupt as usual. The process is killed if it still runs after `GRACE` seconds, or if the
    exception was raised where Python discards it. A background job, which ignores SIGINT, goes on ignoring it.
    """
    _received.clear()
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        _received.set()
        timer = threading.Timer(GRACE, _kill_process)
        timer.daemon = True
        timer.start()
        signal.default_int_handler(number, frame)

    previous_hook = sys.unraisablehook

    def unraisable(discarded: "UnraisableHookArgs") -> None:
        if issubclass(discarded.exc_type, KeyboardInterrupt):  # raised in a destructor or in JAX's garbage collection
            _kill_process()
        previous_hook(discarded)

    signal.signal(signal.SIGINT, interrupt)
    sys.unraisablehook = unraisable
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.unraisablehook = previous_hook


def was_interrupted() -> bool:
    """Return whether Ctrl-C was pressed: a library may have turned the KeyboardInterrupt into an error of its own."""
    return _received.is_set()


def stop_workers() -> None:
    """Kill the processes that training started; ignore further interrupts meanwhile."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _kill_workers()


def _kill_process() -> NoReturn:
    _kill_workers()
    os.write(sys.stderr.fileno(), b"Error: interrupted\n")
    os._exit(INTERRUPTED)


def _kill_workers() -> None:
    for process in multiprocessing.active_children():
        if process.pid is not None:  # joblib's processes have no kill() of their own
            os.kill(process.pid, signal.SIGKILL)
