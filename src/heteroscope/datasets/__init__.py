"""Named data sets, simulated and real, all as one `Split` record; a user's own table is read by `datasets.tables`."""

import difflib
from typing import Any, Literal, get_args

from heteroscope.core import Identity, InputError, Parameter, named_set
from heteroscope.datasets import climsim, simulated, uci
from heteroscope.datasets.climsim import PAPER, SOLAR_FLUX, TEST_ROWS, climsim_stream, is_climsim
from heteroscope.datasets.climsim_made_up import write_made_up
from heteroscope.datasets.simulated import PROCESSES
from heteroscope.datasets.splitting import Indices, Sample, Split, literature_splits, paper_split

Protocol = Literal["paper", "literature"]

__all__ = [
    "PAPER",
    "PROCESSES",
    "SOLAR_FLUX",
    "TEST_ROWS",
    "Indices",
    "Protocol",
    "Sample",
    "Split",
    "climsim",
    "climsim_stream",
    "identify",
    "is_climsim",
    "literature_splits",
    "load",
    "names",
    "paper_split",
    "simulated",
    "splits",
    "write_made_up",
]


def names() -> tuple[str, ...]:
    """The names that `load` knows, simulated sets first."""
    return (*simulated.PROCESSES, *uci.SOURCES)


def load(name: str, *, seed: int = 0, protocol: Protocol = "paper") -> Split:
    """One split of a named set: the first of `splits` under the same seed and protocol."""
    return splits(name, protocol=protocol, n_splits=1, seed=seed)[0]


def splits(name: str, *, protocol: Protocol = "paper", n_splits: int | None = None, seed: int = 0) -> list[Split]:
    """Repeated splits of a named set.

    "paper": split k has seed `seed + k`; two thirds of a real set to train on, or a fresh draw of 64 + 64 rows of a
    simulated one; one split unless told. "literature": 90/10 splits of a real set, 20 unless told.
    """
    if name not in names():
        raise InputError(f"no data set is called {name!r}{_suggestion(name)}: choose one of {', '.join(names())}")
    if protocol not in get_args(Protocol):
        raise InputError(f"no protocol is called {protocol!r}: choose one of {', '.join(get_args(Protocol))}")
    if n_splits is not None and n_splits < 1:
        raise InputError(Parameter("n_splits", n_splits), ": ask for at least one split")
    if protocol == "literature":
        if name in simulated.PROCESSES:
            raise InputError(
                f"{name} is simulated and has no rows to split 90/10: use ",
                Parameter("protocol", "paper"),
                ", a fresh draw",
            )
        sample = uci.sample(name)
        cuts = literature_splits(len(sample.y), n_splits or 20, seed)
        return [sample.split(cut, identify(name, protocol=protocol, seed=seed, split=k)) for k, cut in enumerate(cuts)]
    seeds = range(seed, seed + (n_splits or 1))
    if name in simulated.PROCESSES:
        return [simulated.draw(name, seed=k)[0] for k in seeds]
    sample = uci.sample(name)
    return [sample.split(paper_split(len(sample.y), k), identify(name, protocol=protocol, seed=k)) for k in seeds]


def identify(name: str, **choices: Any) -> Identity:
    """What a named set is to `heteroscope.identity`: its name, the revision of its rows, and choices such as a seed."""
    return named_set("simulated sets" if name in simulated.PROCESSES else "real sets", name, **choices)


def _suggestion(name: str) -> str:
    close = difflib.get_close_matches(name, names(), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
