"""Parts of tables: methods compared over several runs on a data set; each run has another split, draw or seed.

A result has one row per method and run. As in the paper, scores are in units of the training targets' standard
deviation s: mean MSE = (rmse / s)^2, std MSE / s^2, nll - log s.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from heteroscope import datasets
from heteroscope.baselines import BetaNLLRegressor, MLEEnsembleRegressor
from heteroscope.comparison import compare
from heteroscope.core import Progress, defaults
from heteroscope.data import draw_rows
from heteroscope.datasets import climsim, generate_climsim
from heteroscope.estimators import GaussianRegressor, HeteroskedasticRegressorCV

Methods: TypeAlias = dict[str, GaussianRegressor]
SCALE_ROWS = 65_536  # rows of a stream from which the standard deviation of its target is estimated


class Comparison(NamedTuple):
    """Four methods over several splits or draws of a data set.

    "paper" and "held-out" search the diagonal and choose one model: by the paper's rule (training error), or by
    held-out likelihood. "beta-nll" and "mle-ensemble" have no penalty and train on all rows, as in the paper.
    """

    data: str
    n_runs: int
    hidden: tuple[int, ...]
    search: tuple[tuple[str, int], ...]
    fit_steps: int

    @property
    def kind(self) -> str:
        """The declared word for this kind of part."""
        return "comparison"

    def make(self, folder: Path, n_jobs: int, progress: Progress | None) -> pd.DataFrame:
        """Return one row per method and run; finished fits are kept."""
        methods = _four_methods(self.hidden, dict(self.search), self.fit_steps)
        return _compare_on_runs(self.data, 0, self.n_runs, methods, folder, n_jobs, progress)


class Searches(NamedTuple):
    """Searches of the diagonal and of the whole square over several runs, each choosing one model by held-out NLL."""

    data: str
    n_runs: int
    hidden: tuple[int, ...]
    search: tuple[tuple[str, int], ...]

    @property
    def kind(self) -> str:
        """The declared word for this kind of part."""
        return "searches"

    @property
    def n_points(self) -> dict[str, int]:
        """The number of points (rho, gamma) that each search visits."""
        settings = dict(self.search)
        return {"diagonal": settings["n_coarse"] + settings["n_fine"], "grid": settings["n_coarse"] ** 2}

    def pieces(self) -> list["SearchRun"]:
        """Return one part per run."""
        return [SearchRun(self.data, run, self.hidden, self.search) for run in range(self.n_runs)]

    def join(self, results: list[pd.DataFrame]) -> pd.DataFrame:
        """Return one row per search and run."""
        runs = pd.concat([one.assign(split=run) for run, one in enumerate(results)], ignore_index=True)
        return runs.assign(n_points=runs["method"].map(self.n_points))


class SearchRun(NamedTuple):
    """Both searches on one split or draw."""

    data: str
    run: int
    hidden: tuple[int, ...]
    search: tuple[tuple[str, int], ...]

    @property
    def kind(self) -> str:
        """The declared word for this kind of part."""
        return "searches-run"

    @property
    def title(self) -> str:
        """The title of its progress bar."""
        return f"searches, run {self.run}"

    def make(self, folder: Path, n_jobs: int, progress: Progress | None) -> pd.DataFrame:
        """Return one row per search."""
        ours = _search_settings(self.hidden, dict(self.search))
        methods: Methods = {name: HeteroskedasticRegressorCV(search=name, **ours) for name in ("diagonal", "grid")}
        return _compare_on_runs(self.data, self.run, 1, methods, folder, n_jobs, progress)


class SolarFlux(NamedTuple):
    """The four methods of `Comparison` on ClimSim's solar flux, each run with another seed.

    `files` is the folder of the published files; if it is "", `n_rows` rows in their format are generated.
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
        """The declared word for this kind of part."""
        return "streamed"

    @property
    def data(self) -> str:
        """The name of the data set, for folder names."""
        return "solar-flux"

    def make(self, folder: Path, n_jobs: int, progress: Progress | None) -> pd.DataFrame:
        """Return one row per method and run; the column `source` names the kind of files."""
        files = (
            Path(self.files) if self.files else _generated_files(folder.with_name(f"{folder.name}-files"), self.n_rows)
        )
        stream = climsim.climsim_stream(files)
        search = {"n_coarse": self.n_points, "n_fine": 0, "max_steps": self.max_steps}
        records = compare(
            stream,
            _four_methods(self.hidden, search, self.max_steps),
            test=climsim.draw_test_rows(files),
            settings={"batch_size": self.batch_size},
            n_splits=self.n_runs,
            out=folder,
            n_jobs=n_jobs,
            progress=progress,
        )
        scale = float(draw_rows(stream, min(len(stream), SCALE_ROWS), seed=0).y.std())
        return _in_units_of(records, scale).assign(source="published files" if self.files else "generated files")


def _generated_files(folder: Path, n_rows: int) -> Path:
    """Return the folder of generated files, written on the first call, with as many test rows as the paper has."""
    done = folder / "complete"
    if not done.is_file():
        generate_climsim(folder, n_rows, n_val=2 * climsim.TEST_ROWS)
        done.touch()
    return folder


def _compare_on_runs(
    data: str,
    first: int,
    n_runs: int,
    methods: Methods,
    folder: Path,
    n_jobs: int,
    progress: Progress | None,
) -> pd.DataFrame:
    """Return the scores of every method on the runs first, ..., first + n_runs - 1."""
    runs: dict[str, Any] = {"protocol": "paper", "n_splits": n_runs, "seed": first}
    records = compare(data, methods, **runs, out=folder, n_jobs=n_jobs, progress=progress)
    scales = {k: float(split.y_train.std()) for k, split in enumerate(datasets.splits(data, **runs))}
    return _in_units_of(records, records["split"].map(scales))


def _search_settings(hidden: tuple[int, ...], search: Mapping[str, int]) -> dict[str, Any]:
    """Return the search's settings with the paper's networks, and without the ensemble and calibration of ours."""
    return {
        "hidden": hidden,
        "activation": defaults.PAPER_ACTIVATION,
        "n_members": 1,
        "calibrate": False,
        **search,
    }


def _four_methods(hidden: tuple[int, ...], search: Mapping[str, int], fit_steps: int) -> Methods:
    """Return the four methods of `Comparison`."""
    ours = _search_settings(hidden, search)
    plain: dict[str, Any] = {"weight_decay": 0.0, "held_out": 0, "max_steps": fit_steps}
    plain |= {"hidden": hidden, "activation": defaults.PAPER_ACTIVATION}
    return {
        "paper": HeteroskedasticRegressorCV(selection="paper", **ours),
        "held-out": HeteroskedasticRegressorCV(selection="nll", **ours),
        "beta-nll": BetaNLLRegressor(**plain),
        "mle-ensemble": MLEEnsembleRegressor(**plain),
    }


def _in_units_of(records: pd.DataFrame, scale: float | pd.Series) -> pd.DataFrame:
    """Return the scores of targets divided by `scale`."""
    return records.assign(
        mean_mse=(records["rmse"] / scale) ** 2,
        std_mse=records["std_mse"] / scale**2,
        nll=records["nll"] - np.log(scale),
    )
