"""Diagnose anyone's forecasts: those of another library, of a service, or of a network written by hand."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.special import ndtri

from heteroscope.core import InputError
from heteroscope.distributions import QuantileForecast, SampleForecast, frozen, interval_levels
from heteroscope.explanation.calibration import calibration, held_out_forecasts
from heteroscope.explanation.fit_explanation import Explanation
from heteroscope.explanation.model_card import ModelCard, limits_of_evidence, versions
from heteroscope.explanation.odd_rows import missed_rows
from heteroscope.phases import Diagnosis, describe_forecasts, judge_anyones

FEWEST = 2  # rows


@dataclass(frozen=True, repr=False)
class ForecastDiagnosis(Diagnosis):
    """The diagnosis of anyone's forecasts: text at a prompt, a table in a notebook, a page with `report`.

    Attributes
    ----------
    explanation : Explanation
        Everything that the report shows, as Datasets and small tuples.
    """

    explanation: Explanation = field(kw_only=True)

    def report(self, path: str | PathLike[str], *, title: str | None = None) -> Path:
        """Write a page that shows the verdict and its evidence.

        Parameters
        ----------
        path : str or path-like
            The HTML file to write.
        title : str, default=None
            Title of the page.

        Returns
        -------
        pathlib.Path
            The file that was written.
        """
        written: Path = import_module("heteroscope.report").write_fit_report(self.explanation, path, title=title)
        return written  # imported by name: pages are made of what this package computes


def diagnose(
    y: ArrayLike,
    mean: ArrayLike | None = None,
    std: ArrayLike | None = None,
    *,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    coverage: float = 0.9,
    quantiles: Mapping[float, ArrayLike] | None = None,
    samples: ArrayLike | None = None,
    forecast: Any = None,
    sample_weight: ArrayLike | None = None,
    train: Mapping[str, Any] | None = None,
    target_name: str = "y",
) -> ForecastDiagnosis:
    """Judge forecasts of rows that their model was not trained on: can they be trusted, is their std real or memorised.

    Describe the forecasts in one of five ways: `mean` and `std` of a Gaussian; `lower` and `upper`, the ends of central
    intervals, read as those of a Gaussian; `quantiles`, read as `heteroscope.distributions.QuantileForecast` does;
    `samples`; or `forecast`, any predicted distribution of SciPy or of `heteroscope.distributions`.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        What happened.
    mean, std : array-like of shape (n_rows,), default=None
        Predicted means and standard deviations.
    lower, upper : array-like of shape (n_rows,), default=None
        Ends of predicted intervals.
    coverage : float, default=0.9
        Probability of these intervals.
    quantiles : mapping of float to array-like of shape (n_rows,), default=None
        Predicted quantiles by their probability, such as {0.05: q05, 0.5: q50, 0.95: q95}.
    samples : array-like of shape (n_rows, n_samples), default=None
        Draws from the predicted distribution of each row.
    forecast : object, default=None
        Predicted distributions, such as `scipy.stats.t(df, mean, scale)`.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights >= 0; None counts the rows equally.
    train : mapping, default=None
        Forecasts of the training rows by the same model, with the same names: `y` and `mean` and `std`, or `lower` and
        `upper`, and so on. With these, the phase is known: a std that retraces its training rows (O_II) or a mean that
        has memorised them (O_I). Without, only what new rows tell is said.
    target_name : str, default="y"
        The name of the target in texts.

    Returns
    -------
    ForecastDiagnosis
        `print` shows it; `report(path)` writes it as a page.

    See Also
    --------
    HeteroskedasticRegressorCV.diagnose : The diagnosis of a model of this library.

    Examples
    --------
    >>> import numpy as np
    >>> from heteroscope import diagnose
    >>> random = np.random.default_rng(0)
    >>> mean, std = random.normal(size=500), random.uniform(0.5, 2.0, 500)
    >>> y = mean + std * random.normal(size=500)
    >>> diagnose(y, mean, std).verdict.trust
    <Trust.YES: 'yes'>
    >>> diagnose(y, mean, std / 3).verdict.trust
    <Trust.NO: 'no'>
    """
    given: dict[str, Any] = {"mean": mean, "std": std, "lower": lower, "upper": upper}
    given |= {"quantiles": quantiles, "samples": samples, "forecast": forecast}
    targets, found = _read("", y, given, coverage)
    weight = None if sample_weight is None else _column("sample_weight", sample_weight, len(targets))
    if weight is not None and ((weight < 0).any() or not weight.any()):
        raise InputError("sample_weight must be 0 or more, and positive somewhere: correct the weights")
    training = None
    if train is not None:
        unknown = sorted(set(train) - set(given) - {"y", "coverage"})
        if unknown or "y" not in train:
            problem = f"has {unknown[0]!r}" if unknown else "lacks 'y'"
            raise InputError(f"train {problem}: give it as a dictionary with y, and mean and std as for new rows")
        forms = {name: train.get(name) for name in given}
        training = _read("train ", train["y"], forms, train.get("coverage", coverage))
    judged = judge_anyones(targets, found, weight, training)
    diagnosis = describe_forecasts(judged)
    rows = held_out_forecasts(targets, found, weight, np.arange(len(targets)))
    facts = [("target", target_name), ("rows judged", str(len(targets)))]
    facts.append(("forecasts of training rows", "none" if training is None else f"{len(training[0])} rows"))
    facts.append(("form of the forecasts", _form(given)))
    card = ModelCard({"Data": facts, "Versions": versions()}, limits_of_evidence(judged.verdict))
    explanation = Explanation(diagnosis, target_name, card, rows, calibration(rows), missed_rows(rows))
    parts = {name: getattr(diagnosis, name) for name in ("verdict", "phase", "answer", "advice", "networks", "title")}
    return ForecastDiagnosis(**parts, explanation=explanation)


def _form(given: Mapping[str, Any]) -> str:
    """Return how the forecasts were described."""
    return " and ".join(name for name, value in given.items() if value is not None)


def _read(
    prefix: str, y: ArrayLike, given: Mapping[str, Any], coverage: float
) -> tuple[Float[np.ndarray, " row"], Any]:
    """Return the targets and the predicted distributions; raise an `InputError` if they make no sense."""
    targets = _column(f"{prefix}y", y)
    if len(targets) < FEWEST:
        raise InputError(f"{prefix}y has {len(targets)} row: give at least {FEWEST}")
    forms = {name for name, value in given.items() if value is not None}
    n = len(targets)
    if forms == {"mean", "std"}:
        return targets, _gaussian(
            prefix, _column(f"{prefix}mean", given["mean"], n), _column(f"{prefix}std", given["std"], n)
        )
    if forms == {"lower", "upper"}:
        low, high = (_column(f"{prefix}{name}", given[name], n) for name in ("lower", "upper"))
        width = float(np.diff(ndtri(interval_levels(coverage)))[0])
        return targets, _gaussian(prefix, (low + high) / 2, (high - low) / width, "upper - lower")
    if forms == {"quantiles"}:
        columns = [_column(f"{prefix}quantile {level}", column, n) for level, column in given["quantiles"].items()]
        if len(columns) < 2:
            raise InputError(f"{prefix}quantiles has {len(columns)} level: give one below and one above 0.5 at least")
        return targets, QuantileForecast(list(given["quantiles"]), np.column_stack(columns))
    if forms == {"samples"}:
        draws = SampleForecast(given["samples"])
        if draws.n_rows != n or not np.isfinite(draws.draws).all():
            raise InputError(f"{prefix}samples must be finite numbers of {n} rows: give one row of draws for each y")
        return targets, draws
    if forms == {"forecast"}:
        if len(np.atleast_1d(given["forecast"].mean())) != n:
            raise InputError(f"{prefix}forecast has {len(np.atleast_1d(given['forecast'].mean()))} rows and y has {n}")
        return targets, given["forecast"]
    raise InputError(
        f"{prefix}forecasts are described by {' and '.join(sorted(forms)) or 'nothing'}: give mean and std, or lower "
        "and upper, or quantiles, or samples, or forecast"
    )


def _gaussian(prefix: str, mean: np.ndarray, std: np.ndarray, name: str = "std") -> Any:
    """Return Gaussians; raise an `InputError` for a std that is not positive."""
    if not (std > 0).all():
        row = int(np.argmin(std > 0))
        raise InputError(
            f"{prefix}{name} is not positive in row {row} ({std[row]:.4g}): correct it, or leave the row out"
        )
    return frozen(mean, std, np.inf)


def _column(name: str, values: ArrayLike, n_rows: int | None = None) -> Float[np.ndarray, " row"]:
    """Return a column of finite numbers; raise an `InputError` otherwise."""
    try:
        column = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} cannot be read as numbers ({error}): give one number per row") from error
    if column.ndim != 1 or n_rows not in (None, len(column)):
        wanted = "" if n_rows is None else f" of {n_rows} rows"
        raise InputError(f"{name} has the shape {column.shape}: give one number per row{wanted}")
    if not np.isfinite(column).all():
        row = int(np.argmin(np.isfinite(column)))
        raise InputError(f"{name} has no finite number in row {row}: correct it, or leave the row out")
    return column
