"""Refuse to train in a process that was forked while JAX was running: its threads are gone there, its locks are not.

A process that was forked before JAX started in its parent trains like any other.
"""

import os

from heteroscope.core import InputError
from heteroscope.training.jax_internals import backends_are_initialized

_running_at_fork = False  # whether JAX was running when this process was forked
_running = False  # the same, noted just before a fork


def _before_fork() -> None:
    global _running
    _running = backends_are_initialized()


def _in_child() -> None:
    global _running_at_fork
    _running_at_fork = _running_at_fork or _running


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)


def refuse_after_fork() -> None:
    """Raise an `InputError` in a process in which training could wait for ever."""
    if _running_at_fork:
        raise InputError(
            "this process was forked while JAX was running, and training would hang in it: start processes with "
            'multiprocessing.get_context("spawn"), or fork before the first fit'
        )
