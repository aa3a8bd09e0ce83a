"""Judge predictions as delivered, on held-out rows: can they be trusted, and are they better than simpler models.

The phase describes the networks; the verdict describes what `predict` returns, with the std scaled, the members
combined and the std bounded. Both are judged by the same held-out rows.
"""

from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.stats.distributions import rv_frozen

from heteroscope.distributions import RowForecast, frozen, log_moments, lognormal_moments, metrics

COVERAGE = 0.9  # of the intervals that are counted
TOO_FEW = 10  # held-out rows that cannot show anything: even the right intervals miss a quarter of them now and then
FEW = 50  # below this the coverage is known to no better than 4 points, one standard error
OFF, FAR_OFF = 0.05, 0.10  # tolerated errors of the coverage, if the rows are many
OUTLIER = 6.0  # |y - mean| / std of a row that is named
DECISIVE = 0.5  # share of the squared score from which single rows decide a fit...
UNUSUAL = 4.0  # ... if they are also missed by so many std: among few rows, ordinary ones have large shares
MOST_NAMED = 5  # rows that are named
NEGLIGIBLE = 0.01  # nats per row: what a std costs that is 10 % too large or too small everywhere
PARTS = 4  # of the rows by predicted std, whose coverage is counted apart


class Trust(StrEnum):
    """Whether predictions on new rows can be trusted."""

    YES = "yes"
    CARE = "with care"
    NO = "no"


class Scores(NamedTuple):
    """Scores of one model on held-out rows; `coverage` and `width` are those of its 90 % intervals."""

    rmse: float
    r2: float
    nll: float
    crps: float
    coverage: float
    width: float


class Gain(NamedTuple):
    """How much lower our NLL is than another model's, in nats per row, and the standard error of this difference."""

    nats: float
    error: float

    @property
    def clear(self) -> bool:
        """Whether our model is better by more than one standard error."""
        return bool(self.nats > self.error)

    @property
    def clearly_negative(self) -> bool:
        """Whether our model is worse by more than one standard error; NaN counts as worse."""
        return not bool(self.nats >= -self.error)


class NamedRow(NamedTuple):
    """A held-out row that its prediction misses by far, or that decides the score.

    `number` is its number among the rows given to `fit`, counted from 0; None for a stream. `share` is its share of
    the sum of squared scores.
    """

    number: int | None
    y: float
    mean: float
    std: float
    share: float


class Reason(NamedTuple):
    """Why the trust is no more than this, as part of a sentence."""

    trust: Trust
    text: str


class Verdict(NamedTuple):
    """What held-out rows say of predictions as delivered.

    Attributes
    ----------
    n_rows : int
        Number of held-out rows.
    ours, homoskedastic, constant : Scores
        Scores of the predictions, of the same mean with one constant std (the RMSE on these rows), and of the mean and
        the std of the training targets.
    over_homoskedastic, over_constant : Gain
        How much lower the NLL of the predictions is than that of the other two.
    squared_score : float
        mean ((y - mean) / std)^2.
    std_range : tuple of float
        Quantiles 0.05 and 0.95 of the predicted std.
    coverage_by_std : tuple of float
        Coverage in each quarter of the rows by predicted std, the smallest first; empty if the std does not vary or
        the rows are few.
    named : tuple of NamedRow
        Rows that the predictions miss by more than 6 std, or by more than 4 and that make up half of the squared
        score alone.
    named_share : float
        Share of all such rows, named or not, in the squared score.
    std_scale : float
        Factor by which the networks' std was multiplied.
    """

    n_rows: int
    ours: Scores
    homoskedastic: Scores
    constant: Scores
    over_homoskedastic: Gain
    over_constant: Gain
    squared_score: float
    std_range: tuple[float, float]
    coverage_by_std: tuple[float, ...]
    named: tuple[NamedRow, ...]
    named_share: float
    std_scale: float

    @property
    def trust(self) -> Trust:
        """Whether the predictions can be trusted on new rows: the worst of all reasons, or yes."""
        found = {reason.trust for reason in self.reasons}
        return Trust.NO if Trust.NO in found else Trust.CARE if Trust.CARE in found else Trust.YES

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Return what speaks against the predictions, the gravest first."""
        found = [*self._reasons_of_rows(), *self._reasons_of_coverage(), *self._reasons_of_scores()]
        return tuple(sorted(found, key=lambda reason: reason.trust != Trust.NO))

    def _reasons_of_rows(self) -> list[Reason]:
        """Return what is wrong with the held-out rows themselves."""
        found = []
        if self.n_rows < TOO_FEW:
            found.append(Reason(Trust.NO, f"{self.n_rows} held-out rows cannot show whether predictions hold"))
        elif self.n_rows < FEW:
            points = 100 * np.sqrt(COVERAGE * (1 - COVERAGE) / self.n_rows)
            found.append(
                Reason(Trust.CARE, f"{self.n_rows} held-out rows show the coverage only to within {points:.0f} points")
            )
        if self.named_share > DECISIVE and self.n_rows >= TOO_FEW:
            rows = "one row makes" if len(self.named) == 1 else "a few rows make"
            found.append(Reason(Trust.CARE, f"{rows} up {percent(self.named_share)} of the squared score"))
        return found

    def _reasons_of_coverage(self) -> list[Reason]:
        """Return what is wrong with the intervals."""
        if self.n_rows < TOO_FEW:
            return []
        found, coverage = [], self.ours.coverage
        error = np.sqrt(COVERAGE * (1 - COVERAGE) / self.n_rows)
        if COVERAGE - coverage > max(FAR_OFF, 3 * error):
            found.append(Reason(Trust.NO, f"90 % intervals hold only {percent(coverage)} of the held-out rows"))
        elif abs(COVERAGE - coverage) > max(OFF, 2 * error):
            text = "are too narrow" if coverage < COVERAGE else "are wider than they need to be"
            found.append(
                Reason(Trust.CARE, f"90 % intervals {text}: they hold {percent(coverage)} of the held-out rows")
            )
        error = np.sqrt(PARTS) * error
        least = min(self.coverage_by_std, default=COVERAGE)
        if COVERAGE - least > max(FAR_OFF, 3 * error):
            names = ("smallest", "second smallest", "second largest", "largest")
            part = names[self.coverage_by_std.index(least)]
            found.append(
                Reason(
                    Trust.CARE, f"in the quarter of the rows with the {part} std, intervals hold only {percent(least)}"
                )
            )
        return found

    def _reasons_of_scores(self) -> list[Reason]:
        """Return which simpler model does as well or better."""
        if self.over_constant.clearly_negative:
            text = f"a constant model scores better ({self._nll_against(self.constant)})"
            return [Reason(Trust.NO, text)]
        found = []
        if self.ours.rmse > self.constant.rmse:
            text = f"a constant mean has a smaller error (RMSE {self.ours.rmse:.3g} against {self.constant.rmse:.3g})"
            found.append(Reason(Trust.CARE, text))
        if not self.over_constant.clear:
            text = f"a constant model scores as well ({self._nll_against(self.constant)})"
            found.append(Reason(Trust.CARE, text))
        if self.over_homoskedastic.nats < -max(2 * self.over_homoskedastic.error, NEGLIGIBLE):
            text = f"the same mean with one constant std scores better ({self._nll_against(self.homoskedastic)})"
            found.append(Reason(Trust.CARE, text))
        return found

    def _nll_against(self, other: Scores) -> str:
        """Return our NLL beside another model's, with as many digits as tell them apart."""
        ours, theirs = self.ours.nll, other.nll
        digits = next((n for n in (3, 4, 5) if f"{ours:.{n}g}" != f"{theirs:.{n}g}"), 3)
        return f"NLL {ours:.{digits}g} against {theirs:.{digits}g}"


def percent(share: float) -> str:
    """Format a share as a whole number of percent."""
    return f"{100 * share:.0f} %"


def judge(
    y: Float[np.ndarray, " held"],
    mean: Float[np.ndarray, " held"],
    std: Float[np.ndarray, " held"],
    constant_mean: Float[np.ndarray, " held"],
    constant_std: Float[np.ndarray, " held"],
    weight: Float[np.ndarray, " held"] | None = None,
    numbers: Int[np.ndarray, " held"] | None = None,
    std_scale: float = 1.0,
    df: float = np.inf,
    lognormal: bool = False,
) -> Verdict:
    """Judge predictions of held-out rows.

    Parameters
    ----------
    y, mean, std : ndarray of shape (n_held,)
        Held-out targets and their predictions, as delivered.
    constant_mean, constant_std : ndarray of shape (n_held,)
        Mean and std of the targets on which each row's model was trained: the constant model.
    weight : ndarray of shape (n_held,) or None, default=None
        Weights of the rows; None counts them equally.
    numbers : ndarray of shape (n_held,) or None, default=None
        Numbers by which rows are named; None names them by their targets alone.
    std_scale : float, default=1.0
        Factor by which the networks' std was multiplied to give `std`.
    df : float, default=infinity
        Degrees of freedom of the predictions, a Student-t with this std; infinite for a Gaussian.
    lognormal : bool, default=False
        Whether the predictions are lognormal with these means and stds. The two simpler models are lognormal, too, and
        rows are called missed by their logarithms.

    Returns
    -------
    Verdict
        Scores beside those of two simpler models, and what follows from them.
    """
    return judge_forecast(y, frozen(mean, std, df, lognormal), constant_mean, constant_std, weight, numbers, std_scale)


def judge_forecast(
    y: Float[np.ndarray, " held"],
    forecast: Any,
    constant_mean: Float[np.ndarray, " held"],
    constant_std: Float[np.ndarray, " held"],
    weight: Float[np.ndarray, " held"] | None = None,
    numbers: Int[np.ndarray, " held"] | None = None,
    std_scale: float = 1.0,
) -> Verdict:
    """Judge predicted distributions of held-out rows.

    Parameters
    ----------
    y : ndarray of shape (n_held,)
        Held-out targets.
    forecast : rv_frozen or RowForecast
        Their predicted distributions, one per row: a frozen Gaussian, Student-t or lognormal of SciPy, or any other
        forecast that metrics take. For a lognormal, the two simpler models are lognormal, too, and rows are called
        missed by their logarithms.
    constant_mean, constant_std : ndarray of shape (n_held,)
        Mean and std of the targets on which each row's model was trained: the constant model.
    weight : ndarray of shape (n_held,) or None, default=None
        Weights of the rows; None counts them equally.
    numbers : ndarray of shape (n_held,) or None, default=None
        Numbers by which rows are named; None names them by their targets alone.
    std_scale : float, default=1.0
        Factor by which the networks' std was multiplied.

    Returns
    -------
    Verdict
        Scores beside those of two simpler models, and what follows from them.
    """
    weight = np.ones(len(y)) if weight is None else weight
    share = weight / weight.sum()
    mean, std = forecast.mean(), forecast.std()
    lognormal = is_lognormal(forecast)
    target, centre, scale = (np.log(y), *log_moments(mean, std)) if lognormal else (y, mean, std)
    homoskedastic = np.full(
        len(y), max(metrics.rmse(target, centre, scale, sample_weight=weight), np.finfo(float).tiny)
    )
    one_mean, one_std = lognormal_moments(centre, homoskedastic) if lognormal else (mean, homoskedastic)
    models = {
        "ours": forecast,
        "homoskedastic": frozen(one_mean, one_std, np.inf, lognormal),
        "constant": frozen(constant_mean, constant_std, np.inf, lognormal),
    }
    scores = {name: _scores(y, forecast, weight) for name, forecast in models.items()}
    losses = {name: metrics.nll_by_row(y, forecast) for name, forecast in models.items()}
    size = np.abs(target - centre) / scale
    squares = share * size**2
    named = np.flatnonzero((size > OUTLIER) | (size > UNUSUAL) & (squares > DECISIVE * squares.sum()))
    named = named[np.argsort(-squares[named], kind="stable")]
    rows = [
        NamedRow(
            None if numbers is None else int(numbers[k]),
            float(y[k]),
            float(mean[k]),
            float(std[k]),
            float(squares[k] / squares.sum()),
        )
        for k in named[:MOST_NAMED]
    ]
    return Verdict(
        n_rows=len(y),
        **scores,
        over_homoskedastic=_gain(losses["homoskedastic"] - losses["ours"], share),
        over_constant=_gain(losses["constant"] - losses["ours"], share),
        squared_score=float(squares.sum()),
        std_range=(float(np.quantile(std, 0.05)), float(np.quantile(std, 0.95))),
        coverage_by_std=_coverage_by_std(y, forecast, std, weight),
        named=tuple(rows),
        named_share=float(squares[named].sum() / squares.sum()) if len(named) else 0.0,
        std_scale=float(std_scale),
    )


def _scores(
    y: Float[np.ndarray, " held"], forecast: rv_frozen | RowForecast, weight: Float[np.ndarray, " held"]
) -> Scores:
    """Return the scores of one model's distribution."""
    variance = float(np.average((y - np.average(y, weights=weight)) ** 2, weights=weight))
    error = metrics.mean_mse(y, forecast, sample_weight=weight)
    return Scores(
        rmse=float(np.sqrt(error)),
        r2=1.0 - error / variance if variance > 0 else np.nan,
        nll=metrics.nll(y, forecast, sample_weight=weight),
        crps=metrics.crps(y, forecast, sample_weight=weight),
        coverage=metrics.interval_coverage(y, forecast, sample_weight=weight),
        width=metrics.interval_width(y, forecast, sample_weight=weight),
    )


def _gain(difference: Float[np.ndarray, " held"], share: Float[np.ndarray, " held"]) -> Gain:
    """Return the weighted mean of the differences of the rows, and its standard error; 0 if the mean is not finite."""
    nats = float(share @ difference)
    if not np.isfinite(nats):
        return Gain(nats, 0.0)
    return Gain(nats, float(np.sqrt(np.sum(share**2 * (difference - nats) ** 2))))


def is_lognormal(forecast: Any) -> bool:
    """Return whether a forecast is a frozen `scipy.stats.lognorm`."""
    return getattr(getattr(forecast, "dist", None), "name", "") == "lognorm"


def _coverage_by_std(
    y: Float[np.ndarray, " held"], forecast: Any, std: Float[np.ndarray, " held"], weight: Float[np.ndarray, " held"]
) -> tuple[float, ...]:
    """Return the coverage in each quarter of the rows by std; nothing if the std varies little or rows are few."""
    lower, upper = forecast.interval(COVERAGE)
    inside = (lower <= y) & (y <= upper)
    return tuple(float(np.average(inside[part], weights=weight[part])) for part in quarters_by_std(std))


def quarters_by_std(std: Float[np.ndarray, " held"]) -> list[Int[np.ndarray, " _"]]:
    """Return the numbers of the rows in each quarter by predicted std, the smallest first.

    Parameters
    ----------
    std : ndarray of shape (n_held,)
        Predicted stds.

    Returns
    -------
    list of ndarray
        Four arrays; none if the std varies little or the rows are few.
    """
    if len(std) < PARTS * TOO_FEW or np.quantile(std, 0.95) < 1.2 * np.quantile(std, 0.05):
        return []
    return np.array_split(np.argsort(std, kind="stable"), PARTS)
