"""Methods side by side: every method on every split of a data set, one record each, and one table of them all.

difference to the first method = average over splits of (score - the first method's score on that split),
its standard error = SD of these paired differences / sqrt(number of splits)
"""

import hashlib
import json
import math
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
import pandas as pd
from sklearn.base import clone

from heteroscope import datasets, metrics
from heteroscope.baselines import BASELINES
from heteroscope.baselines.methods import METHODS, choose_methods, left_out
from heteroscope.datasets import Protocol, Split, literature_splits, paper_split
from heteroscope.datasets.simulated import PROCESSES
from heteroscope.datasets.split import Indices
from heteroscope.datasets.tables import Missing, TableEncoder, read_table
from heteroscope.errors import InputError
from heteroscope.files import whole
from heteroscope.progress import Progress
from heteroscope.rows import Rows
from heteroscope.streams.stream import Stream

__all__ = ["METHODS", "SCORES", "compare", "left_out", "markdown", "summary"]

FORMAT = 1
SETTINGS, RECORDS, RUNS = "settings.json", "records", "runs"
N_SPLITS = 20
#: What is reported of every fit, with its title.
SCORES = {
    "nll": "NLL",
    "crps": "CRPS",
    "rmse": "RMSE",
    "ece": "ECE",
    "std_mse": "std MSE",
    "interval_coverage": "90 % coverage",
    "seconds": "seconds",
}
_NO_SETTING = {"n_jobs", "random_state", "verbose"}  # parameters that do not make another method


class StreamSplit(NamedTuple):
    """A stream to train on, which brings its own target, and rows to test on in memory: the same under every seed."""

    x_train: Stream
    y_train: None
    x_test: Any
    y_test: Any
    target_name: str


class Record(NamedTuple):
    """One method on one split: its scores on the test rows, or NaN and why there are none."""

    method: str
    split: int
    n_train: int
    n_test: int
    scores: dict[str, float]
    parameters: dict[str, str]
    error: str | None = None


def compare(
    data: str | Path | Stream,
    methods: Sequence[str] | Mapping[str, Any] | None = None,
    *,
    target: str | None = None,
    test: Rows | None = None,
    settings: Mapping[str, Any] | None = None,
    protocol: Protocol | None = None,
    n_splits: int = N_SPLITS,
    seed: int = 0,
    missing: Missing = "refuse",
    out: str | Path | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """One row a (method, split) with its scores on the test rows; `summary` makes one row a method of them.

    `data` is a named set of `heteroscope.datasets`, or a .csv or .parquet file whose column `target` is predicted.
    `methods` are names of `METHODS` (unless given, all that are installed and can bear the rows), or a mapping from
    your own names to estimators. `protocol` is "literature" (90/10 splits) unless the set is simulated, which has
    "paper" only. With `out`, every finished fit is kept in that folder, and a second call goes on from there. A method
    that fails on a split gets a row without scores that says why in `error`; the next call tries it again.

    `data` may be a stream, with the rows to `test` on: its "splits" then are seeds, one is enough, and with `out` a fit
    that is killed goes on where it was. `settings` are parameters for all methods that have them.
    """
    streamed = isinstance(data, Stream)
    if isinstance(n_splits, bool) or not isinstance(n_splits, int) or n_splits < (1 if streamed else 2):
        raise InputError(f"n_splits={n_splits!r}: a spread and a standard error need at least two splits")
    protocol = protocol or ("paper" if not streamed and data in PROCESSES else "literature")
    splits: Sequence[Split | StreamSplit]
    if isinstance(data, Stream):
        if test is None or target is not None:
            raise InputError("a stream brings its target and needs rows to test on: give test, leave out target")
        named = pd.DataFrame(test.x, columns=list(data.feature_names)) if data.named else test.x
        splits = [StreamSplit(data, None, named, test.y, data.target_name)] * n_splits
        methods = methods or ("ours", *(name for name, baseline in BASELINES.items() if baseline.takes_streams))
    else:
        splits = _splits(data, target, protocol, n_splits, seed, missing)
    estimators = {
        name: _with(clone(estimator), n_jobs=n_jobs, **settings or {})
        for name, estimator in choose_methods(methods, len(splits[0].x_train)).items()
    }
    folder = None if out is None else _open(Path(out), _settings(data, splits[0], protocol, seed, missing))
    records: list[Record] = []
    for number, split in enumerate(splits):
        for name, estimator in estimators.items():
            record = None if folder is None else _kept(folder, name, number, _parameters(estimator))
            if record is None:
                seeded = _with(clone(estimator), random_state=_seed(seed, number))
                store = {"store": folder / RUNS / f"{name}-{number:03d}"} if streamed and folder is not None else {}
                record = _judge(name, number, seeded, split, **store)
                if folder is not None:
                    _write(_path(folder, name, number), record._asdict())
            records.append(record)
            if progress:
                progress(len(records), len(splits) * len(estimators))
    return pd.DataFrame(
        [
            {
                "method": r.method,
                "split": r.split,
                "n_train": r.n_train,
                "n_test": r.n_test,
                **r.scores,
                "error": r.error,
            }
            for r in records
        ]
    )


def summary(records: pd.DataFrame) -> pd.DataFrame:
    """One row a method: mean and SD of each score over the splits, and the paired difference to the first method.

    Of a score s the columns are s, s_sd, s_difference and s_se; `fits` counts the splits with scores, `failed` those
    without. A difference is taken over the splits on which both methods have scores.
    """
    names = list(dict.fromkeys(records["method"]))
    failed = records["error"].notna().groupby(records["method"]).sum()[names]
    table = pd.DataFrame({"fits": records.groupby("method").size()[names] - failed, "failed": failed})
    for score in SCORES:
        by_split = records.pivot(index="split", columns="method", values=score)[names]
        with np.errstate(invalid="ignore"):  # an infinite NLL has no spread
            gap = by_split.sub(by_split[names[0]], axis=0)
            table[score], table[f"{score}_sd"] = by_split.mean(), by_split.std(ddof=1)
            table[f"{score}_difference"], table[f"{score}_se"] = gap.mean(), gap.std(ddof=1) / np.sqrt(gap.count())
    return table.rename_axis("method")


def markdown(table: pd.DataFrame) -> str:
    """A `summary` as two Markdown tables: mean ± SD, and the differences to the first method ± standard error."""
    blocks = []
    for (title, cells), heading in zip(cell_texts(table).items(), ("Scores", "Differences"), strict=True):
        lines = [f"| method | {' | '.join(cells.columns)} |", f"|---|{'---:|' * len(cells.columns)}"]
        lines += [f"| {name} | {' | '.join(row)} |" for name, row in zip(cells.index, cells.to_numpy(), strict=True)]
        blocks.append(f"## {heading}\n\n{title}\n\n" + "\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def cell_texts(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """A `summary` for people: the two tables as text, by their titles; a method that failed says how often."""
    names = [f"{name} ({failed} failed)" if failed else str(name) for name, failed in table["failed"].items()]
    first = table.index[0]
    scores, gaps = pd.DataFrame(index=names), pd.DataFrame(index=names)
    for score, title in SCORES.items():
        scores[title] = _plus_minus(table[score], table[f"{score}_sd"], sign="")
        gaps[title] = _plus_minus(table[f"{score}_difference"], table[f"{score}_se"], sign="+")
    return {
        f"Mean ± SD over {table['fits'].max()} splits, on test rows, in the target's units": scores,
        f"Difference to {first} on the same split ± its standard error": gaps.iloc[1:],
    }


def _plus_minus(centres: pd.Series, spreads: pd.Series, sign: str) -> list[str]:
    """One split has no spread, and none is printed."""
    texts = [f"{centre:{sign}.3g}" for centre in centres]
    return [
        text if math.isnan(spread) and not math.isnan(centre) else f"{text} ± {spread:.2g}"
        for text, centre, spread in zip(texts, centres, spreads, strict=True)
    ]


def _judge(name: str, number: int, estimator: Any, split: Split | StreamSplit, **store: Path) -> Record:
    sizes, parameters = (len(split.x_train), len(split.y_test)), _parameters(estimator)
    start = time.perf_counter()
    try:
        forecast = metrics.forecast_of(estimator.fit(split.x_train, split.y_train, **store), split.x_test)
        scores = metrics.evaluate(split.y_test, *forecast)
    except Exception as error:  # of any library: one method that fails must not cost the others their hours
        nothing = dict.fromkeys(SCORES, math.nan)
        return Record(
            name, number, *sizes, nothing, parameters, f"{type(error).__name__}: {' '.join(str(error).split())}"
        )
    scores["seconds"] = time.perf_counter() - start
    return Record(name, number, *sizes, {score: float(scores[score]) for score in SCORES}, parameters)


def _with(estimator: Any, **parameters: Any) -> Any:
    """The estimator with those parameters that it has and that are not None."""
    known = estimator.get_params(deep=False)
    return estimator.set_params(**{k: value for k, value in parameters.items() if k in known and value is not None})


def _parameters(estimator: Any) -> dict[str, str]:
    """What makes a method this one, as text."""
    settings = {name: repr(value) for name, value in estimator.get_params(deep=False).items()}
    return {"class": type(estimator).__name__} | {k: text for k, text in settings.items() if k not in _NO_SETTING}


def _seed(seed: int, number: int) -> int:
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0])


def _splits(
    data: str | Path, target: str | None, protocol: Protocol, n_splits: int, seed: int, missing: Missing
) -> list[Split]:
    if data in datasets.names() or not _is_file_name(data):
        if target is not None:
            raise InputError(f"target={target!r} is for tables, and {data} is a named set: leave it out")
        return datasets.splits(str(data), protocol=protocol, n_splits=n_splits, seed=seed)
    if target is None:
        raise InputError(f"{data} is a table: say which of its columns to predict, such as target='price'")
    frame = read_table(Path(data))
    if protocol not in get_args(Protocol):
        raise InputError(f"no protocol is called {protocol!r}: choose one of {', '.join(get_args(Protocol))}")
    TableEncoder.fit(frame, target, missing=missing)  # what is wrong with the table is said about the whole of it
    if protocol == "literature":
        cuts = list(literature_splits(len(frame), n_splits, seed))
    else:
        cuts = [paper_split(len(frame), seed + k) for k in range(n_splits)]
    return [_table_split(Path(data).name, frame, target, missing, cut) for cut in cuts]


def _is_file_name(data: str | Path) -> bool:
    return isinstance(data, Path) or Path(data).suffix != "" or Path(data).exists()


def _table_split(name: str, frame: pd.DataFrame, target: str, missing: Missing, cut: Indices) -> Split:
    """One cut of a table, encoded by what its training rows show."""
    train, test = (frame.iloc[rows] for rows in cut)
    encoder = TableEncoder.fit(train, target, missing=missing, unknown="zeros")
    return Split(
        name,
        encoder.features(train),
        encoder.targets(train),
        encoder.features(test),
        encoder.targets(test),
        encoder.feature_names,
        target,
        "",
    )


def _settings(
    data: str | Path | Stream, split: Split | StreamSplit, protocol: str, seed: int, missing: str
) -> dict[str, Any]:
    """What all records of a folder have in common; the rows themselves stand there by their digest."""
    if isinstance(split, StreamSplit):
        trained_on, name = str(split.x_train.stamps()).encode(), split.x_train.files()[0].name
    else:
        trained_on, name = _bytes(split.x_train) + _bytes(split.y_train), Path(str(data)).name
    digest = hashlib.sha256(trained_on + _bytes(split.x_test) + _bytes(split.y_test)).hexdigest()
    return {
        "heteroscope_comparison": FORMAT,
        "heteroscope": version("heteroscope"),
        "data": name,
        "target": split.target_name,
        "protocol": protocol,
        "seed": seed,
        "missing": missing,
        "rows": digest,
    }


def _bytes(array: np.ndarray | pd.DataFrame) -> bytes:
    return np.ascontiguousarray(array).tobytes()


def _open(folder: Path, settings: dict[str, Any]) -> Path:
    """The folder if it is new, empty or holds records of the same settings."""
    path = folder / SETTINGS
    if path.is_file():
        found = _read(path)
        for name in settings:
            if found.get(name) != settings[name]:
                was = f"{name} {found.get(name)!r}, and now it is {settings[name]!r}"
                raise InputError(f"{folder} holds a comparison with {was}: name another folder, or remove this one")
        return folder
    try:
        if folder.is_dir() and any(entry.name not in (RECORDS, RUNS) for entry in folder.iterdir()):
            raise InputError(f"{folder} holds other files and no comparison: name another folder")
        (folder / RECORDS).mkdir(parents=True, exist_ok=True)
        _write(path, settings)
    except OSError as error:
        raise InputError(f"{folder} cannot be written to ({error.strerror}): name another folder") from error
    return folder


def _path(folder: Path, name: str, number: int) -> Path:
    return folder / RECORDS / f"{name}-{number:03d}.json"


def _kept(folder: Path, name: str, number: int, parameters: dict[str, str]) -> Record | None:
    """The record of a fit that was finished before, if it was this fit; a failure is none and is tried again."""
    path = _path(folder, name, number)
    if not path.is_file():
        return None
    found = _read(path)
    try:
        scores = {score: float(found["scores"][score]) for score in SCORES}
        record = Record(**found | {"scores": scores})
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged ({error!r}): remove it, and the fit is done again") from error
    for key in record.parameters | parameters:
        was, now = record.parameters.get(key), parameters.get(key)
        if was != now:
            raise InputError(
                f"{path} is of a fit with {key} {was}, and now it is {now}: remove it, or name another folder"
            )
    return record if record.error is None else None


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}): remove it, and the fit is done again") from error
    if not isinstance(found, dict):
        raise InputError(f"{path} is damaged (it holds no record): remove it, and the fit is done again")
    return found


def _write(path: Path, content: dict[str, Any]) -> None:
    """Numbers that JSON lacks become text."""
    with whole(path) as partial:
        partial.write_text(json.dumps(_plain(content), indent=1, ensure_ascii=False, allow_nan=False), encoding="utf-8")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value
