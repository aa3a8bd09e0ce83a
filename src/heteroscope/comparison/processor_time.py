"""Measure the processor time of this process, its threads and its worker processes.

Seconds on a clock depend on what else runs; processor seconds hardly do. Python counts worker processes only when they
have ended, and those of joblib stay alive between fits, so Linux is asked for them.
"""

import os
from pathlib import Path

_PROC = Path("/proc")


def processor_seconds() -> float:
    """Return the processor seconds so far of this process and of all processes that it has started.

    Where there is no /proc, those of processes that still run are not counted.

    Returns
    -------
    float
        Seconds, of user and system; only differences mean something.
    """
    now = os.times()
    return now.user + now.system + now.children_user + now.children_system + _of_living_descendants()


def _of_living_descendants() -> float:
    """Return the processor seconds of processes below this one, with those that these have waited for."""
    if not (_PROC / "self" / "stat").is_file():
        return 0.0
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for path in _PROC.glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        number = int(path.parent.name)
        parents[number], ticks[number] = int(fields[1]), sum(map(int, fields[11:15]))
    below, generation = 0, {os.getpid()}
    while generation:
        generation = {number for number, parent in parents.items() if parent in generation}
        below += sum(ticks[number] for number in generation)
    return below / os.sysconf("SC_CLK_TCK")
