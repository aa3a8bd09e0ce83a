"""Parts of the paper's tables: ours and the baselines on runs of a data set, each run another split, draw or seed.

Scores are in units of the training targets' standard deviation: (rmse / scale)^2, std MSE / scale^2, nll - log scale.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from heteroscope import datasets
from heteroscope.baselines import BetaNLLRegressor, MLEEnsembleRegressor
from heteroscope.comparison import compare
from heteroscope.core import Progress, defaults
from heteroscope.data import draw_rows
from heteroscope.datasets import climsim, generate_climsim
from heteroscope.estimators import HeteroskedasticRegressorCV

SCALE_ROWS = 65_536  # of a stream, by which the scale of its target is told


class Comparison(NamedTuple):
    """Four methods on runs of a data set, each run another split or draw.

    "paper" and "held-out" search the diagonal and take one model, by the paper's rule (training error) and by held-out
    likelihood; "beta-nll" and "mle-ensemble" have no penalty and all rows, as in the paper.
    """

    data: str
    n_runs: int
    hidden: tuple[int, ...]
    search: tuple[tuple[str, int], ...]
    fit_steps: int

    @property
    def kind(self) -> str:
        """Its declared word."""
        return "comparison"

    def make(self, folder: Path, n_jobs: int, progress: Progress | None) -> pd.DataFrame:
        """One row a fit, its scores in units of the training targets' standard deviation, as the paper has them."""
        methods = _compared(self.hidden, dict(self.search), self.fit_steps)
        return _on_runs(self.data, 0, self.n_runs, methods, folder, n_jobs, progress)


class Searches(NamedTuple):
    """The diagonal against the whole square on runs of a data set: one model each, chosen by held-out likelihood."""

    data: str
    n_runs: int
    hidden: tuple[int, ...]
    search: tuple[tuple[str, int], ...]

    @property
    def kind(self) -> str:
        """Its declared word."""
        return "searches"

    @property
    def n_points(self) -> dict[str, int]:
        """How many points of the square each search visits."""
        settings = dict(self.search)
        return {"diagonal": settings["n_coarse"] + settings["n_fine"], "grid": settings["n_coarse"] ** 2}

    def pieces(self) -> list["SearchRun"]:
        """One run each."""
        return [SearchRun(self.data, run, self.hidden, self.search) for run in range(self.n_runs)]

    def join(self, found: list[pd.DataFrame]) -> pd.DataFrame:
        """One row a search and run."""
        runs = pd.concat([one.assign(split=run) for run, one in enumerate(found)], ignore_index=True)
        return runs.assign(n_points=runs["method"].map(self.n_points))


class SearchRun(NamedTuple):
    """Both searches on one split or draw."""

    data: str
    run: int
    hidden: tuple[int, ...]
    search: tuple[tuple[str, int], ...]

    @property
    def kind(self) -> str:
        """Its declared word."""
        return "searches-run"

    @property
    def title(self) -> str:
        """What a progress bar calls it."""
        return f"searches, run {self.run}"

    def make(self, folder: Path, n_jobs: int, progress: Progress | None) -> pd.DataFrame:
        """One row a search."""
        ours = _ours(self.hidden, dict(self.search))
        methods = {name: HeteroskedasticRegressorCV(search=name, **ours) for name in ("diagonal", "grid")}
        return _on_runs(self.data, self.run, 1, methods, folder, n_jobs, progress)


class SolarFlux(NamedTuple):
    """The same four methods on ClimSim's solar flux, each run with other seeds.

    `files` is the folder of the published files; without, files of their format are generated, with `n_rows` rows.
    """

    files: str
    n_rows: int
    n_runs: int
    hidden: tuple[int, ...]
    batch_size: int
    n_points: int
    max_steps: int

    @property
    def kind(self) -> str:
        """Its declared word."""
        return "streamed"

    @property
    def data(self) -> str:
        """The set, as a folder's name can have it."""
        return "solar-flux"

    def make(self, folder: Path, n_jobs: int, progress: Progress | None) -> pd.DataFrame:
        """One row a fit, in units of the training targets' standard deviation; `source` says what files were read."""
        files = Path(self.files) if self.files else _generated(folder.with_name(f"{folder.name}-files"), self.n_rows)
        stream = climsim.climsim_stream(files)
        search = {"n_coarse": self.n_points, "n_fine": 0, "max_steps": self.max_steps}
        records = compare(
            stream,
            _compared(self.hidden, search, self.max_steps),
            test=climsim.draw_test_rows(files),
            settings={"batch_size": self.batch_size},
            n_splits=self.n_runs,
            out=folder,
            n_jobs=n_jobs,
            progress=progress,
        )
        scale = float(draw_rows(stream, min(len(stream), SCALE_ROWS), seed=0).y.std())
        return _in_units_of(records, scale).assign(source="published files" if self.files else "generated files")


def _generated(folder: Path, n_rows: int) -> Path:
    """Made-up files, written once; their test rows are as many as the paper's."""
    done = folder / "complete"
    if not done.is_file():
        generate_climsim(folder, n_rows, n_val=2 * climsim.TEST_ROWS)
        done.touch()
    return folder


def _on_runs(
    data: str,
    first: int,
    n_runs: int,
    methods: dict[str, Any],
    folder: Path,
    n_jobs: int,
    progress: Progress | None,
) -> pd.DataFrame:
    """Every method on every run, in units of each run's training targets."""
    runs: dict[str, Any] = {"protocol": "paper", "n_splits": n_runs, "seed": first}
    records = compare(data, methods, **runs, out=folder, n_jobs=n_jobs, progress=progress)
    scales = {k: float(split.y_train.std()) for k, split in enumerate(datasets.splits(data, **runs))}
    return _in_units_of(records, records["split"].map(scales))


def _ours(hidden: tuple[int, ...], search: Mapping[str, int]) -> dict[str, Any]:
    """The paper's networks, one of them, without anything that the paper does not have."""
    return {
        "hidden": hidden,
        "activation": defaults.PAPER_ACTIVATION,
        "n_members": 1,
        "calibrate": False,
        **search,
    }


def _compared(hidden: tuple[int, ...], search: Mapping[str, int], fit_steps: int) -> dict[str, Any]:
    ours = _ours(hidden, search)
    plain: dict[str, Any] = {"weight_decay": 0.0, "held_out": 0, "max_steps": fit_steps}
    plain |= {"hidden": hidden, "activation": defaults.PAPER_ACTIVATION}
    return {
        "paper": HeteroskedasticRegressorCV(selection="paper", **ours),
        "held-out": HeteroskedasticRegressorCV(selection="nll", **ours),
        "beta-nll": BetaNLLRegressor(**plain),
        "mle-ensemble": MLEEnsembleRegressor(**plain),
    }


def _in_units_of(records: pd.DataFrame, scale: float | pd.Series) -> pd.DataFrame:
    """Scores as they are when targets are divided by `scale`."""
    return records.assign(
        mean_mse=(records["rmse"] / scale) ** 2,
        std_mse=records["std_mse"] / scale**2,
        nll=records["nll"] - np.log(scale),
    )
