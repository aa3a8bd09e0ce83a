"""Fit many methods on many named sets, in an order that is balanced whenever it stops, and keep the records as CSV.

The folder has one CSV file per set, with one row per fit, and the settings that all fits share. Both are small text
files that belong into version control: whoever has them can add sets, methods and splits without fitting again what is
there. Each row has a checksum: a row that was damaged on the disk, or changed by hand, is fitted again.
"""

import csv
import dataclasses
import difflib
import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
from sklearn.base import clone

from heteroscope import datasets
from heteroscope.baselines import AnyEstimator, choose_methods
from heteroscope.comparison.fit_records import SCORES, FitRecord
from heteroscope.comparison.run_comparison import fit_and_score, method_seed, with_parameters
from heteroscope.core import (
    REVISIONS,
    Identity,
    InputError,
    Progress,
    atomic_write,
    check_positive_integer,
    error_text,
    exclusive_folder,
    refuse_other_settings,
    settings_of,
    warn_of_damage,
)
from heteroscope.datasets import SOURCES, Protocol, Split

FORMAT = 1  # number of the format of these folders
SETTINGS = "settings.json"
#: Methods of a leaderboard unless others are named, and the most training rows unless another number is given.
LEADERBOARD_METHODS, MAX_TRAIN = ("ours", "mle-ensemble", "ngboost", "catboost"), 1000
#: Columns of the files: first a checksum of the row's other cells, so that damage is found row by row.
CHECK, COLUMNS = "check", ["method", "split", "n_train", "n_test", *SCORES, "processor_seconds", "error"]
_DIGITS, _CHECK_DIGITS = "%.6g", 12  # of the numbers in the files, of the checksums


def extend_leaderboard(
    folder: str | Path,
    sets: Sequence[str],
    methods: Sequence[str] = LEADERBOARD_METHODS,
    *,
    n_splits: int = 5,
    max_train: int = MAX_TRAIN,
    protocol: Protocol = "literature",
    seed: int = 0,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Make the fits that a folder of records lacks: split 0 of every set and method, then split 1, and so on.

    Every method gets the same training rows: of a split with more than `max_train` of them, its first `max_train`,
    which are a random sample, since a split has its rows in random order. All test rows count. Each fit runs in one
    process, and is written as soon as it is done.

    Parameters
    ----------
    folder : str or Path
        The folder of records, see `read_leaderboard`.
    sets : sequence of str
        Names of real sets of `heteroscope.datasets`.
    methods : sequence of str, default=("ours", "mle-ensemble", "ngboost", "catboost")
        Names of `heteroscope.baselines.METHODS`.
    n_splits : int, default=5
        The number of splits.
    max_train : int, default=1000
        The most training rows.
    protocol : str, default="literature"
        How rows are split, see `heteroscope.datasets.splits`.
    seed : int, default=0
        Seed of the splits and of the methods.
    progress : callable, default=None
        Called with (fits done, all fits) after each fit.

    Returns
    -------
    DataFrame
        What `read_leaderboard` returns.

    See Also
    --------
    read_leaderboard : Read the records without fitting.
    """
    check_positive_integer("n_splits", n_splits)
    check_positive_integer("max_train", max_train)
    _refuse_others(sets)
    folder = Path(folder)
    estimators = {
        name: with_parameters(estimator, n_jobs=1) for name, estimator in choose_methods(methods, max_train).items()
    }
    with exclusive_folder(folder):
        _open(folder, protocol, seed, max_train, {name: settings_of(one) for name, one in estimators.items()})
        wanted = [(name, number, method) for number in range(n_splits) for name in sets for method in estimators]
        kept = _finished(read_leaderboard(folder)) if any(folder.glob("*.csv")) else set()
        todo = [fit for fit in wanted if fit not in kept]
        for done, record in enumerate(_fits(todo, estimators, n_splits, max_train, protocol, seed), start=1):
            name = todo[done - 1][0]
            _add(folder / f"{name}.csv", record)
            if progress:
                progress(len(wanted) - len(todo) + done, len(wanted))
    return read_leaderboard(folder)


def read_leaderboard(folder: str | Path) -> pd.DataFrame:
    """Read a folder of records.

    Parameters
    ----------
    folder : str or Path
        A folder with one CSV file per set, as `extend_leaderboard` writes it.

    Returns
    -------
    DataFrame
        One row per fit: `set`, `method`, `split`, `n_train`, `n_test`, the scores of `SCORES`, `processor_seconds` and
        `error`.
    """
    paths = sorted(Path(folder).glob("*.csv"))
    if not paths:
        raise InputError(f"{folder} has no records: name a folder that holds a leaderboard, or make fits")
    return pd.concat([_read(path).assign(set=path.stem) for path in paths], ignore_index=True)


def _read(path: Path) -> pd.DataFrame:
    """Return the rows of one file, and warn of those that are damaged; raise an `InputError` if it is another table."""
    try:
        with path.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
            header, *rows = list(csv.reader(file)) or [[]]
    except (ValueError, csv.Error) as error:
        raise InputError(f"{path} is no table of records ({error_text(error)}): remove it") from error
    if header != [CHECK, *COLUMNS]:
        raise InputError(f"{path} has other columns than the records of a leaderboard: remove it, or name its folder")
    whole = [cells for check, *cells in filter(None, rows) if check == _check(cells)]
    if damaged := sum(map(bool, rows)) - len(whole):
        warn_of_damage(path, f"{damaged} of its rows do not have their checksum", "their fits count as missing")
    text = pd.DataFrame(whole, columns=COLUMNS).to_csv(index=False)
    frame = pd.read_csv(io.StringIO(text), dtype={"method": str, "error": object}, float_precision="round_trip")
    if frame.duplicated(["method", "split"]).any():
        raise InputError(f"{path} has a method twice on one split: remove one of the rows")
    return frame


def _check(cells: Sequence[str]) -> str:
    """Return the first digits of a checksum of a row's cells as they stand in the file."""
    return hashlib.sha256("\n".join(cells).encode("utf-8", "surrogateescape")).hexdigest()[:_CHECK_DIGITS]


def _finished(records: pd.DataFrame) -> set[tuple[str, int, str]]:
    """Return (set, split, method) of all fits that have scores; those that failed are tried again."""
    done = records[records["error"].isna()]
    return set(zip(done["set"], done["split"], done["method"], strict=True))


def _fits(
    todo: Sequence[tuple[str, int, str]],
    estimators: dict[str, AnyEstimator],
    n_splits: int,
    max_train: int,
    protocol: Protocol,
    seed: int,
) -> Iterator[FitRecord]:
    """Yield the record of each fit."""
    at: tuple[str, int] | None = None
    for name, number, method in todo:
        if at != (name, number):
            at = (name, number)
            split = datasets.splits(name, protocol=protocol, n_splits=n_splits, seed=seed)[number]
            split = first_rows(split, max_train)
        seeded = with_parameters(clone(estimators[method]), random_state=method_seed(seed, number))
        yield fit_and_score(method, number, seeded, split)


def first_rows(split: Split, most: int) -> Split:
    """Return a split with at most its first `most` training rows: a random sample, as its rows have no order."""
    if len(split.y_train) <= most:
        return split
    return dataclasses.replace(split, x_train=split.x_train[:most], y_train=split.y_train[:most], identity=None)


def _open(folder: Path, protocol: str, seed: int, max_train: int, methods: dict[str, Identity]) -> None:
    """Refuse a folder with fits of other settings; write the settings of this run and of the methods it adds."""
    path = folder / SETTINGS
    shared: Identity = {
        "heteroscope_leaderboard": FORMAT,
        "revision": REVISIONS["comparisons"],
        "sets": REVISIONS["real sets"],
        "protocol": protocol,
        "seed": seed,
        "max_train": max_train,
    }
    known: dict[str, Identity] = {}
    if path.is_file():
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            known = stored.pop("methods")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{path} is damaged ({error!r}): restore it, or name another folder") from error
        refuse_other_settings(folder, "a leaderboard", stored, shared, "name another folder")
        for name in known.keys() & methods.keys():
            cure = f"remove its rows there and its entry in {SETTINGS}, or name another folder"
            refuse_other_settings(folder, f"fits of {name}", known[name], methods[name], cure)
    elif any(folder.glob("*.csv")):
        raise InputError(f"{folder} has tables but no {SETTINGS}: name another folder")
    with atomic_write(path) as partial:
        text = json.dumps(shared | {"methods": known | methods}, indent=1)
        partial.write_text(f"{text}\n", encoding="utf-8")


def _add(path: Path, record: FitRecord) -> None:
    """Add one fit to a set's file, in the place of an earlier one that failed, sorted by split and method."""
    frame = pd.DataFrame([record.as_row()])
    if path.is_file():
        old = _read(path)
        same = (old["method"] == record.method) & (old["split"] == record.split)
        frame = pd.concat([old[~same].astype({"error": object}), frame], ignore_index=True)
    text = frame.sort_values(["split", "method"]).to_csv(columns=COLUMNS, index=False, float_format=_DIGITS)
    _, *rows = csv.reader(io.StringIO(text, newline=""))
    with (
        atomic_write(path) as partial,
        partial.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file,
    ):
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([CHECK, *COLUMNS])
        writer.writerows([_check(cells), *cells] for cells in rows)


def _refuse_others(sets: Sequence[str]) -> None:
    """Raise an `InputError` unless all names are those of real sets, each once."""
    if not sets:
        raise InputError("a leaderboard needs at least one set: name some")
    for name in sets:
        if name not in SOURCES:
            near = difflib.get_close_matches(name, SOURCES, n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise InputError(f"no real data set is called {name!r}{hint}: choose among {', '.join(SOURCES)}")
        if list(sets).count(name) > 1:
            raise InputError(f"the set {name!r} is listed twice: name each once")
