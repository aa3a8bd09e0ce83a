"""Describe a fit: can its predictions be trusted, how good are they, what to do, and what its networks are."""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Protocol, runtime_checkable

import numpy as np

from heteroscope.core import Status, alpha_beta, number_text
from heteroscope.phases.labels import FLAT_PRECISION, MEMORISED, Observables, Phase
from heteroscope.phases.verdict import FEW, NamedRow, Scores, Trust, Verdict, percent

WIDTH = 80
LOST_R2 = 0.05  # of R^2 on training rows that new rows may lack before the fit is said to lack rows
UNSCALED = 0.05  # a factor of the std that is nearer to 1 is not mentioned
NEAR, FREER = 3.0, 0.5  # a point near another: mean penalties within this factor; freer: this share of its std penalty

_ANSWERS = {Trust.YES: "Yes", Trust.CARE: "With care", Trust.NO: "No"}
_NEXT_POINT = {
    Phase.U_I: "Raise rho (weaken the penalty), or use HeteroskedasticRegressorCV, which finds the point.",
    Phase.U_II: "Raise rho or lower gamma (weaken the penalty of the mean), or use HeteroskedasticRegressorCV, which "
    "finds the point.",
    Phase.O_I: "Lower rho (strengthen the penalty), or use HeteroskedasticRegressorCV, which finds the point.",
    Phase.O_II: "Lower gamma (strengthen the penalty of the precision), or use HeteroskedasticRegressorCV, which finds "
    "the point.",
    Phase.NONE: "Use HeteroskedasticRegressorCV, which finds a better point and scales the std.",
    Phase.UNKNOWN: "Set held_out to a share of the rows, such as 0.2, to learn whether these predictions hold.",
}
_NOTHING_BETTER = {
    Phase.U_I: "No point tried was better: these rows do not show that the inputs predict the target. Find other "
    "inputs or more rows.",
    Phase.U_II: "No point tried was better: these rows show that the inputs predict the size of the noise, but not the "
    "target.",
}
_OTHERWISE = {
    Trust.YES: "Nothing: use the intervals as they are, and check their coverage on new data from time to time.",
    Trust.CARE: "Use them with this in mind, and check the coverage of their intervals on new data.",
    Trust.NO: "Do not use these intervals; find other inputs or more rows.",
}
_NETWORKS = {
    Phase.U_I: "the networks predict the same mean and std for every row (U_I)",
    Phase.U_II: "the networks predict the same mean for every row, while their std varies (U_II)",
    Phase.S: "the networks are in the good phase (S)",
    Phase.O_I: "the networks have memorised their rows (O_I)",
    Phase.O_II: "the std of the networks retraces the residuals of their rows (O_II)",
    Phase.NONE: "the networks are in none of the five phases (they memorised nothing, and yet they do not hold on new "
    "rows as they are)",
    Phase.UNKNOWN: "the phase of the networks is not known (no rows were held out that could tell good from overfit)",
}


@runtime_checkable
class Diagnosable(Protocol):
    """A fitted model with a phase and a verdict; after a search also `cv_results_`, `best_index_` and `target_`."""

    phase_: str
    rho_: float
    gamma_: float
    std_scale_: float
    observables_: Observables
    verdict_: Verdict | None
    status_: tuple[Status, ...]


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """A diagnosis to print or to show in a notebook.

    Attributes
    ----------
    verdict : Verdict or None
        What held-out rows say of the predictions; None if there are none.
    phase : str
        The phase of the networks, before their std is scaled.
    answer : tuple of str
        Whether the predictions can be trusted, and why.
    advice : tuple of str
        What to do.
    networks : tuple of str
        What the networks are; for anyone's forecasts, whether the std is real or memorised.
    title : str
        What the first line of the table of scores is called.
    """

    verdict: Verdict | None
    phase: str
    answer: tuple[str, ...]
    advice: tuple[str, ...]
    networks: tuple[str, ...]
    title: str = "these predictions"

    @property
    def score_cells(self) -> list[list[str]]:
        """The table of scores: a title row, then one row per model; empty without held-out rows."""
        return [] if self.verdict is None else _score_cells(self.verdict, self.title)

    def text(self, width: int = WIDTH) -> str:
        """Return the diagnosis as plain text.

        Parameters
        ----------
        width : int, default=80
            Letters per line; where the table of scores is wider, its rows and columns change places.

        Returns
        -------
        str
            Lines, without a line break at the end.
        """
        parts = [_wrapped(" ".join(self.answer), width)]
        if self.verdict:
            parts.append("\n".join(_score_lines(self.score_cells, width)))
        parts += [_wrapped(" ".join(section), width) for section in (self.advice, self.networks)]
        return "\n\n".join(parts)

    def __str__(self) -> str:
        """Return the diagnosis as plain text of 80 columns."""
        return self.text()

    def __repr__(self) -> str:
        """Return the same as `str`, so that `model.diagnose()` is readable at a prompt."""
        return self.text()

    def _repr_html_(self) -> str:
        """Return the diagnosis for a notebook."""
        parts = [f"<p><strong>{escape(self.answer[0])}</strong> {escape(' '.join(self.answer[1:]))}</p>"]
        if self.verdict:
            head, *rows = self.score_cells
            cells = ["<tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in head) + "</tr>"]
            cells += ["<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows]
            parts.append(f"<table>{''.join(cells)}</table>")
        parts += [f"<p>{escape(' '.join(section))}</p>" for section in (self.advice, self.networks)]
        return f"<div>{''.join(parts)}</div>"


def diagnose(model: Diagnosable) -> Diagnosis:
    """Describe a fitted model: whether to trust its predictions, how good they are, what to do, and its phase.

    Parameters
    ----------
    model : HeteroskedasticRegressor or HeteroskedasticRegressorCV
        The fitted model.

    Returns
    -------
    Diagnosis
        Text for `print`, a table for a notebook.
    """
    phase, found = Phase(model.phase_), model.observables_
    path: Mapping[str, np.ndarray] | None = getattr(model, "cv_results_", None)
    logged = getattr(model, "target_", "none") == "log"
    best = getattr(model, "best_index_", 0)
    networks = [
        _phase_sentence(phase, found, model),
        *_evidence(phase, found, model.verdict_, logged),
        *_std_sentences(found, path, best),
    ]
    if logged:
        networks.append("All this is of the logarithm of the target, which the networks predict.")
    if model.verdict_ and abs(model.std_scale_ - model.verdict_.std_scale) > UNSCALED:
        networks.append(f"The final networks, which know all rows, are scaled by {model.std_scale_:.2f}.")
    return Diagnosis(
        verdict=model.verdict_,
        phase=str(phase),
        answer=describe_answer(model.verdict_),
        advice=("What to do:", *_advice(model.verdict_, phase, found, path is not None, logged)),
        networks=(*networks, *_endings(model.status_, phase)),
    )


def describe_answer(verdict: Verdict | None) -> tuple[str, ...]:
    """Return whether the predictions can be trusted on new rows, and why."""
    question = "Can these predictions be trusted on new rows?"
    if verdict is None:
        return f"{question} Not known.", "No rows were held out that could tell."
    answer = f"{question} {_ANSWERS[verdict.trust]}."
    if verdict.trust != Trust.YES:
        reasons = [f"{reason.text[0].upper()}{reason.text[1:]}." for reason in verdict.reasons]
        return answer, *reasons, *_named_rows(verdict.named)
    comparison = "better than" if verdict.over_homoskedastic.clear else "as well as"
    return (
        answer,
        f"90 % intervals hold {percent(verdict.ours.coverage)} of {verdict.n_rows} held-out rows.",
        f"By NLL they are better than a constant model and {comparison} one constant std.",
        *_named_rows(verdict.named),
    )


def _named_rows(rows: tuple[NamedRow, ...]) -> list[str]:
    """Return a sentence about the rows that are missed by far."""
    if not rows:
        return []
    texts = []
    for row in rows:
        where = "a row" if row.number is None else f"row {row.number}"
        missed = (
            f"target {number_text(row.y)}, predicted {number_text(row.mean)} with a std of {number_text(row.std, 2)}"
        )
        texts.append(f"{where} ({missed}, {percent(row.share)} of the squared score)")
    counted = "" if rows[0].number is None else ", counted from 0"
    return [f"Missed by far{counted}: {'; '.join(texts)}."]


def _explained_share(verdict: Verdict, found: Observables, logged: bool) -> float:
    """Return the share of the held-out variance that the mean explains, in the units of the networks' target."""
    return verdict.ours.r2 if found.held_out is None or not logged else 1.0 - found.held_out.residual_share


def _advice(verdict: Verdict | None, phase: Phase, found: Observables, searched: bool, logged: bool) -> list[str]:
    """Return what to do next."""
    tips = []
    if verdict and verdict.named:
        numbers = [f"{row.number}" for row in verdict.named if row.number is not None]
        which = f"{'row' if len(numbers) == 1 else 'rows'} {', '.join(numbers)}" if numbers else "the rows named above"
        tips.append(f"Look at {which}; correct what is an error, and fit again.")
    if searched:
        tips += [_NOTHING_BETTER[phase]] if phase in _NOTHING_BETTER else []
    elif phase != Phase.S:
        tips.append(_NEXT_POINT[phase])
    if verdict is None:
        return tips or [_NEXT_POINT[Phase.UNKNOWN]]
    explained, training = _explained_share(verdict, found, logged), 1.0 - found.residual_share
    if verdict.n_rows < FEW:
        tips.append("Get more rows.")
    elif phase not in _NOTHING_BETTER and training - explained > LOST_R2 and 1 - explained > MEMORISED * (1 - training):
        tips.append(
            f"The mean explains {share_text(training)} of its training rows and {share_text(explained)} of held-out "
            "ones: more rows or fewer inputs would improve it more than other settings."
        )
    elif phase in (Phase.O_I, Phase.O_II) and searched and verdict.trust != Trust.NO:
        tips.append("Use them as they are; more rows would give networks that need no scaling.")
    return tips or [_OTHERWISE[verdict.trust]]


def describe_next(verdict: Verdict, tip: str | None) -> list[str]:
    """Return what to do about anyone's forecasts; `tip` is what their phase asks for."""
    named = [f"{row.number}" for row in verdict.named if row.number is not None]
    few = bool(named) and verdict.trust != Trust.NO  # or else it is not these rows that are wrong
    tips = [f"Look at {'row' if len(named) == 1 else 'rows'} {', '.join(named)}."] if few else []
    tips += [tip] if tip and verdict.trust != Trust.YES else []
    return [*tips, "Judge them on more rows."] if verdict.n_rows < FEW else tips or [_OTHERWISE[verdict.trust]]


def _phase_sentence(phase: Phase, found: Observables, model: Diagnosable) -> str:
    """Return what the networks are, at which point, and what scaling makes of them."""
    sentence = f"At rho = {_near_one(model.rho_)}, gamma = {_near_one(model.gamma_)}, {_NETWORKS[phase]}"
    if phase == Phase.S:
        sentence += ", with a constant std" if found.flat_precision else ", with a std that adapts"
    verdict = model.verdict_
    if verdict is None or abs(verdict.std_scale - 1.0) < UNSCALED:
        return f"{sentence}."
    held = f"their 90 % intervals hold {percent(verdict.ours.coverage)} of the held-out rows"
    return f"{sentence}; scaled by {verdict.std_scale:.2g}, {held}."


def _evidence(phase: Phase, found: Observables, verdict: Verdict | None, logged: bool) -> list[str]:
    """Return the shares that the mean explains and, where the std does not hold, by how much it is wrong."""
    explained = share_text(1.0 - found.residual_share)
    if found.held_out is None or verdict is None:
        return [f"On the training rows the mean explains {explained} of the target's variance."]
    held_out = share_text(_explained_share(verdict, found, logged))
    lines = [f"The mean explains {explained} of its training rows and {held_out} of held-out ones."]
    if phase in (Phase.O_I, Phase.O_II, Phase.NONE):
        lines.append(
            f"Without scaling, the squared error of held-out rows is {found.held_out.score:.3g} times the variance "
            "that one network predicts (1 is honest, more is overconfident)."
        )
    return lines


def _std_sentences(found: Observables, path: Mapping[str, np.ndarray] | None, best: int) -> list[str]:
    """Return how the networks' std varies, and whether a constant one is the rows' answer or the penalty's."""
    if not found.flat_precision:
        factor = np.exp(found.log_precision_spread / 2)
        return [f"Their std varies between rows, typically by a factor of {factor:.2f}."]
    if path is not None and _freer_points_lost(path, best):
        return [
            "Their std is the same for all rows; points with a weaker penalty, whose std varied, scored worse: these "
            "rows do not show that the noise varies."
        ]
    return [
        "Their std is the same for all rows because the penalty keeps it so: no point near this one had a freer std, "
        "so this does not tell whether the noise varies."
    ]


def _freer_points_lost(path: Mapping[str, np.ndarray], best: int) -> bool:
    """Return whether points of about the same mean penalty, a weaker one of the std and a std that varies were tried.

    The chosen point has the best score, so that such points have lost.
    """
    alpha, beta = map(np.asarray, alpha_beta(path["logit_rho"], path["logit_gamma"]))
    near = np.abs(np.log(alpha / alpha[best])) < np.log(NEAR)
    freer = beta < FREER * beta[best]
    return bool(np.any(near & freer & (path["log_precision_spread"] >= FLAT_PRECISION)))


def _endings(status: tuple[Status, ...], phase: Phase) -> list[str]:
    """Return a sentence about each way in which training failed."""
    if phase == Phase.S and Status.RUNAWAY in status:
        return [
            "Training stopped while the std was still shrinking; the held-out rows show that it stopped in time, so do "
            "not raise max_steps here."
        ]
    worst = [ending for ending in (Status.NOT_FINITE, Status.RUNAWAY) if ending in status]
    return [f"{status.count(ending)} of {len(status)} members ended {ending}: {ending.meaning}." for ending in worst]


def _score_cells(verdict: Verdict, title: str) -> list[list[str]]:
    """Return the table of scores: a title row, then one row per model."""
    head = [f"on {verdict.n_rows} held-out rows", "RMSE", "R^2", "NLL", "CRPS", "90 % hold", "width"]
    models = {
        title: verdict.ours,
        "same mean, one constant std": verdict.homoskedastic,
        "constant mean and std": verdict.constant,
    }
    return [head, *([name, *_score_texts(scores)] for name, scores in models.items())]


def _score_texts(scores: Scores) -> list[str]:
    """Return the scores of one model; a negative R^2 as it is."""
    r2 = f"{scores.r2:.3f}" if scores.r2 > -100 else f"{scores.r2:.2g}"
    nll = f"{scores.nll:.3f}" if abs(scores.nll) < 10 else number_text(scores.nll)
    rmse, crps, width = (number_text(number) for number in (scores.rmse, scores.crps, scores.width))
    return [rmse, r2, nll, crps, f"{percent(scores.coverage)}", width]


_SHORT_NAMES = ("these", "one std", "constant")  # of the models, where the table of scores is turned


def _score_lines(cells: list[list[str]], text_width: int) -> list[str]:
    """Return the table of scores as lines: names to the left, numbers to the right, two spaces between columns.

    One space, if two make the lines longer than the text; if that is not enough, one line for each score.
    """
    names, *columns = zip(*cells, strict=True)
    widths = [max(map(len, column)) for column in columns]
    first = max(map(len, names))
    if first + sum(widths) + len(widths) > text_width:
        named = [[names[0], *(column[0] for column in columns)]]
        named += [[short, *row[1:]] for short, row in zip(_SHORT_NAMES, cells[1:], strict=True)]
        return _score_lines([list(row) for row in zip(*named, strict=True)], WIDTH)
    gap = 2 if first + sum(widths) + 2 * len(widths) <= text_width else 1
    numbers = zip(
        *([cell.rjust(width + gap) for cell in column] for column, width in zip(columns, widths, strict=True)),
        strict=True,
    )
    return [name.ljust(first) + "".join(cells) for name, cells in zip(names, numbers, strict=True)]


def _wrapped(text: str, width: int) -> str:
    return "\n".join(textwrap.wrap(text, max(width, 20), break_long_words=False, break_on_hyphens=False))


def share_text(value: float) -> str:
    """Format a share as percent; 99.97 % does not become 100 %."""
    return f"{100 * value:.2f} %" if 0.99 < value < 1.0 else percent(value)


def _near_one(value: float) -> str:
    """Format a probability with enough digits near 1, such as "1 - 0.001"."""
    return f"1 - {1 - value:.2g}" if value > 0.99 else f"{value:.3g}"
