"""Named data sets, simulated and real, all as `Split` records; `heteroscope.data` reads a user's own tables."""

import difflib
from typing import Literal, TypeAlias, get_args

from heteroscope.core import Identity, InputError, Parameter, named_set
from heteroscope.datasets import climsim, simulated
from heteroscope.datasets.climsim import PAPER, SOLAR_FLUX, TEST_ROWS, climsim_stream, is_climsim
from heteroscope.datasets.climsim_generated import generate_climsim
from heteroscope.datasets.literature import ORDERS, published_splits
from heteroscope.datasets.packaged import Source
from heteroscope.datasets.simulated import PROCESSES
from heteroscope.datasets.sources import SOURCES, sample
from heteroscope.datasets.splitting import Indices, Sample, Split, literature_splits, paper_split

#: How rows are divided into training and test rows: see `splits`.
Protocol: TypeAlias = Literal["paper", "literature", "published"]

__all__ = [
    "PAPER",
    "PROCESSES",
    "SOLAR_FLUX",
    "SOURCES",
    "TEST_ROWS",
    "Indices",
    "Protocol",
    "Sample",
    "Source",
    "Split",
    "climsim",
    "climsim_stream",
    "generate_climsim",
    "identify",
    "is_climsim",
    "literature_splits",
    "load",
    "names",
    "paper_split",
    "published_splits",
    "simulated",
    "splits",
]


def names() -> tuple[str, ...]:
    """Return the names of all data sets that `load` knows, simulated sets first.

    Returns
    -------
    tuple of str
    """
    return (*simulated.PROCESSES, *SOURCES)


def load(name: str, *, seed: int = 0, protocol: Protocol = "paper") -> Split:
    """Return training and test rows of a named data set: the first of `splits` with the same arguments.

    Parameters
    ----------
    name : str
        One of `names()`.
    seed : int, default=0
        Decides which rows are drawn, or which are held out.
    protocol : {"paper", "literature", "published"}, default="paper"
        How rows are divided, see `splits`.

    Returns
    -------
    Split

    See Also
    --------
    splits : several splits of the same set.

    Examples
    --------
    >>> from heteroscope import datasets
    >>> split = datasets.load("sine", seed=0)
    >>> split.x_train.shape, split.y_test.shape
    ((64, 1), (64,))
    """
    return splits(name, protocol=protocol, n_splits=1, seed=seed)[0]


def splits(name: str, *, protocol: Protocol = "paper", n_splits: int | None = None, seed: int = 0) -> list[Split]:
    """Return several independent splits of a named data set.

    Parameters
    ----------
    name : str
        One of `names()`.
    protocol : {"paper", "literature", "published"}, default="paper"
        "paper": two thirds of the rows of a real set are for training; of a simulated set, 64 training and 64 test rows
        are drawn anew. Split k has the seed `seed + k`.
        "literature": 90 % of the rows of a real set are for training; simulated sets are refused.
        "published": the very splits of 90 % and 10 % on which the literature publishes its scores (Hernandez-Lobato and
        Adams 2015, Gal 2016), for yacht, housing, concrete, wine, power and protein.
    n_splits : int or None, default=None
        The number of splits; None is 1 for "paper" and 20 for the others (5 for the published ones of protein).
    seed : int, default=0
        Decides which rows are drawn, or which are held out; the published splits have none.

    Returns
    -------
    list of Split

    See Also
    --------
    load : one split.
    """
    if name not in names():
        raise InputError(f"no data set is called {name!r}{_suggestion(name)}: choose one of {', '.join(names())}")
    if protocol not in get_args(Protocol):
        raise InputError(f"no protocol is called {protocol!r}: choose one of {', '.join(get_args(Protocol))}")
    if n_splits is not None and n_splits < 1:
        raise InputError(Parameter("n_splits", n_splits), ": choose at least one split")
    if protocol != "paper" and name in simulated.PROCESSES:
        raise InputError(
            f"{name} is simulated and has no rows to split 90/10: use ",
            Parameter("protocol", "paper"),
            " for new rows",
        )
    if protocol == "published":
        if name not in ORDERS:
            raise InputError(
                f"no splits of {name} are published, but of {', '.join(ORDERS)}: use ",
                Parameter("protocol", "literature"),
            )
        rows = sample(name, published_order=True)
        published = published_splits(name, rows.y, n_splits)
        return [rows.split(cut, identify(name, protocol=protocol, split=k)) for k, cut in enumerate(published)]
    if protocol == "literature":
        rows = sample(name)
        cuts = literature_splits(len(rows.y), n_splits or 20, seed)
        return [rows.split(cut, identify(name, protocol=protocol, seed=seed, split=k)) for k, cut in enumerate(cuts)]
    seeds = range(seed, seed + (n_splits or 1))
    if name in simulated.PROCESSES:
        return [simulated.draw(name, seed=k)[0] for k in seeds]
    rows = sample(name)
    return [rows.split(paper_split(len(rows.y), k), identify(name, protocol=protocol, seed=k)) for k in seeds]


def identify(name: str, **choices: object) -> Identity:
    """Return the identity of a named data set, by which stores and records recognise it.

    Parameters
    ----------
    name : str
        One of `names()`.
    **choices
        What was chosen about its rows, such as `seed` or `protocol`: words and numbers.

    Returns
    -------
    dict
        The name, the revision of its rows, and the choices.
    """
    return named_set("simulated sets" if name in simulated.PROCESSES else "real sets", name, **choices)


def _suggestion(name: str) -> str:
    """Return " (did you mean ...?)" with the most similar name, or "" if none is similar."""
    close = difflib.get_close_matches(name, names(), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
