"""Check the paper's observations as numbers: sharp transitions, agreement with the theory, S on the diagonal, seeds."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr
from jaxtyping import Float

from heteroscope.diagrams import FIVE_PHASES, Agreement, agreement, diagonal_cells, majority_phase, over_seeds
from heteroscope.paper.exhibits import FIELD, TITLES, Diagrams, Exhibit, Output, summary_parts
from heteroscope.paper.formatting import number
from heteroscope.paper.parts import Parts
from heteroscope.paper.scales import SUMMARY_SETS, Scale
from heteroscope.phases import Phase

FLAT = 1e-3  # a function counts as flat if its average squared slope, in standardised units, is below this
INSIDE = "both inside"  # column of the paper's criterion for S on the diagonal
ABSENT = "-"  # cell of a table where there is nothing to show
OWN = "Theory of the rows of "  # label of a theory, followed by that of its set
TOO_LARGE_GRAPHS = ("concrete", "power")  # whose theory takes much longer than that of a few hundred rows
AGREEMENT_COLUMNS = ("labels as in its theory, %", "kappa", "after a shift, %", "kappa then", "shift")
#: Metrics whose spread over seeds is tabulated, and their titles.
SPREAD_METRICS = {"mean_mse": "mean MSE", "mean_energy": "energy of mean", "precision_energy": "energy of precision"}


def _parts(scale: Scale) -> Parts[xr.Dataset]:
    """Return the columns of the summary, and for the sets where it is at hand the theory of their own rows."""
    own = {f"{OWN}{TITLES[data]}": scale.own_theory(data) for data in SUMMARY_SETS if data not in TOO_LARGE_GRAPHS}
    return {**summary_parts(scale), **own}


def observations(found: Diagrams) -> Output:
    """Check Observations 1 (sharp transitions) and 2 (agreement with the theory): one table row per diagram."""
    diagrams = {name: one for name, one in found.items() if not name.startswith(OWN)}
    grid = next(one for name, one in diagrams.items() if name != FIELD)["rho"].values
    agreements = {
        name: agreement(one, found[f"{OWN}{name}"]) for name, one in diagrams.items() if f"{OWN}{name}" in found
    }
    rows = []
    for name, diagram in diagrams.items():
        phases = majority_phase(diagram).values
        rows.append(
            {
                "set": name,
                "steepest step, %": 100 * steepest_step(diagram, grid),
                **_agreement_cells(agreements.get(name)),
                "most common label, %": 100 * float(np.unique(phases, return_counts=True)[1].max()) / phases.size,
                "flat mean, %": 100 * flat_share(diagram, "mean_energy"),
                "flat precision, %": 100 * flat_share(diagram, "precision_energy"),
            }
        )
    table = pd.DataFrame(rows)
    of_sets = table[table["set"] != FIELD]
    verdict = [_sharpness_verdict(of_sets, table[table["set"] == FIELD]), _agreement_verdict(of_sets, agreements)]
    return Output(table=table, verdict="\n\n".join(verdict))


def _agreement_cells(found: Agreement | None) -> dict[str, float | str]:
    """Return the cells of one row that compare a set with the theory of its own rows."""
    if found is None:
        return dict.fromkeys(AGREEMENT_COLUMNS, ABSENT)
    shares = 100 * found.unshifted, found.unshifted_kappa, 100 * found.share, found.kappa
    return dict(zip(AGREEMENT_COLUMNS, (*shares, shift_text(found)), strict=True))


def shift_text(found: Agreement) -> str:
    """Return the shift as text, with a note if it lies at the edge of its search."""
    shift = f"({found.log_alpha:+.1f}, {found.log_beta:+.1f})"
    return f"{shift}, at the edge" if found.at_edge else shift


def _sharpness_verdict(sets: pd.DataFrame, theory_row: pd.DataFrame) -> str:
    """Say whether one step of the grid makes most of the change of the training mean MSE."""
    ours, theirs = float(sets["steepest step, %"].median()), float(theory_row["steepest step, %"].item())
    return (
        f"**Observation 1**, sharp transitions: {_confirmed(ours > 50)}. Along the diagonal one step of the grid makes "
        f"{number(ours)} % of the whole change of the training mean MSE (median of {len(sets)} sets of networks), and "
        f"{number(theirs)} % in the theory of sine. That networks are sharper than the theory is "
        f"{_confirmed(ours > theirs)}."
    )


def _agreement_verdict(sets: pd.DataFrame, agreements: Mapping[str, Agreement]) -> str:
    """Say whether more cells have the theory's label than the most common label alone would explain."""
    common = sets.set_index("set")["most common label, %"]
    beaten = sum(100 * same.unshifted > common[name] for name, same in agreements.items())
    shares = [100 * same.unshifted for same in agreements.values()]
    kappas = [same.unshifted_kappa for same in agreements.values()]
    shifted = [same.kappa for same in agreements.values()]
    flatter = int((sets["flat precision, %"] > sets["flat mean, %"]).sum())
    return (
        f"**Observation 2**, theory and networks agree: {_confirmed(beaten == len(agreements))}. {_range(shares)} % of "
        f"the cells have the label of the theory of the same rows (Cohen's kappa {_range(kappas)}, after a shift "
        f"{_range(shifted)}), which is more than the most common label alone would give in {beaten} of "
        f"{len(agreements)} sets. That the precision is flat on a larger area than the mean is "
        f"{_confirmed(flatter == len(sets))}: it is so in {flatter} of {len(sets)} sets."
    )


def _range(values: list[float]) -> str:
    """Return the lowest and the highest value as text."""
    return f"{number(min(values))} to {number(max(values))}"


def _confirmed(holds: bool) -> str:
    """Return the word of the verdict."""
    return "confirmed" if holds else "contradicted"


def steepest_step(diagram: xr.Dataset, rhos: Float[np.ndarray, " rho"]) -> float:
    """Return the largest change of the training mean MSE between neighbours on the diagonal over its range there.

    Only the points of `rhos` count, so that diagrams on different grids are compared on the same points.
    """
    at = [cell for cell in diagonal_cells(diagram) if np.isclose(diagram["rho"].values[cell[0]], rhos, rtol=1e-9).any()]
    values = diagram["mean_mse"].sel(split="train").mean("seed").transpose("rho", "gamma").values
    along = np.array([values[cell] for cell in at])
    return largest_step(along[np.isfinite(along)])


def largest_step(values: Float[np.ndarray, " point"]) -> float:
    """Return max |v[k + 1] - v[k]| / (max v - min v), or 0 if all values are equal."""
    whole = float(np.ptp(values))
    return float(np.abs(np.diff(values)).max() / whole) if whole else 0.0


def flat_share(diagram: xr.Dataset, energy: str) -> float:
    """Return the share of cells in which a function is flat; runaways (NaN) count as not flat."""
    return float((diagram[energy].sel(split="train").mean("seed") < FLAT).mean())


def crossing_table(found: Diagrams) -> pd.DataFrame:
    """Return one row per diagram: how many points of the diagonal are S, their range of rho, and the best point.

    The phase of a point is that of most seeds; the best point has the lowest test NLL, mean over seeds.
    """
    return pd.DataFrame([{"set": name, **_crossing_row(diagram)} for name, diagram in found.items()])


def _crossing_row(diagram: xr.Dataset) -> dict[str, str]:
    """Return the cells of one row of `crossing_table`."""
    cells = diagonal_cells(diagram)
    phases = majority_phase(diagram).values
    rhos = [float(diagram["rho"].values[row]) for row, _ in cells]
    good = [rho for rho, cell in zip(rhos, cells, strict=True) if phases[cell] == Phase.S]
    best = {metric: _lowest(diagram, metric, cells) for metric in ("nll", "mean_mse", "std_mse")}
    inside = all(0 < best[metric] < len(cells) - 1 for metric in ("mean_mse", "std_mse"))
    return {
        "points in S": f"{len(good)} of {len(cells)}",
        "from rho": number(min(good), 4) if good else ABSENT,
        "to rho": number(max(good), 4) if good else ABSENT,
        "rho of the lowest test NLL": number(rhos[best["nll"]], 4),
        "its label": str(phases[cells[best["nll"]]]),
        "of the lowest mean MSE": number(rhos[best["mean_mse"]], 4),
        "of the lowest std MSE": number(rhos[best["std_mse"]], 4),
        INSIDE: "yes" if inside else "no",
    }


def _lowest(diagram: xr.Dataset, metric: str, cells: list[tuple[int, int]]) -> int:
    """Return which point of the diagonal has the lowest test score, mean over seeds."""
    values = diagram[metric].sel(split="test").mean("seed").transpose("rho", "gamma").values
    return int(np.nanargmin([values[cell] for cell in cells]))


def crossing_verdict(table: pd.DataFrame) -> str:
    """Check Observation 3 by our labels, and by the paper's criterion: both test MSEs are lowest inside the line."""
    sets = table[table["set"] != FIELD]
    missed = sets.loc[sets["from rho"] == ABSENT, "set"].tolist()
    best = int((sets["its label"] == Phase.S).sum())
    inside = int((sets[INSIDE] == "yes").sum())
    found = f"It does in {len(sets) - len(missed)} of {len(sets)} sets of networks"
    if missed:
        found += f", not on {' and '.join(missed)}"
    return (
        f"**Observation 3**, the diagonal crosses S. By our labels: {_confirmed(not missed)}. {found}; the lowest "
        f"test NLL on the diagonal is an S in {best}. By the paper's criterion, that performance improves and drops "
        f"off again: {_confirmed(inside == len(sets))}. Test mean MSE and std MSE are both lowest inside the line in "
        f"{inside} of {len(sets)} sets."
    )


def spread_by_phase(found: Diagrams) -> tuple[pd.DataFrame, str]:
    """Tabulate the spread over seeds by phase, and say in how many sets it is largest in O_I.

    A cell of the table is "mean ± standard deviation" over seeds: the medians of both over the diagram's cells of that
    phase, on test rows where the metric has splits.
    """
    rows, overfitted, unsteady = [], 0, dict.fromkeys(SPREAD_METRICS, 0)
    for name, diagram in found.items():
        summary = over_seeds(diagram)
        overfitted += bool((summary["phase"] == Phase.O_I).any())
        for metric, title in SPREAD_METRICS.items():
            cells = {phase: _median_cell(summary, metric, phase) for phase in FIVE_PHASES}
            there = {phase: std for phase, (_, std) in cells.items() if np.isfinite(std)}
            unsteady[metric] += max(there, key=lambda phase: there[phase]) == Phase.O_I
            texts = {str(phase): _mean_and_std(*cells[phase]) for phase in FIVE_PHASES}
            rows.append({"set, metric": f"{name}, {title}", **texts})
    counts = ", ".join(f"in the {title} on {unsteady[metric]}" for metric, title in SPREAD_METRICS.items())
    return pd.DataFrame(rows), f"Of the {overfitted} sets that have an O_I, seeds differ most there {counts}."


def _median_cell(summary: xr.Dataset, metric: str, phase: Phase) -> tuple[float, float]:
    """Return the medians over a phase's cells of mean and std over seeds; NaN if no cell has this phase."""
    scores = summary[metric]
    there = (scores.sel(split="test") if "split" in scores.dims else scores).where(summary["phase"] == phase)
    mean, std = (float(there.sel(statistic=name).median()) for name in ("mean", "std"))
    return mean, std


def _mean_and_std(mean: float, std: float) -> str:
    """Return "mean ± std", or the sign for an absent value."""
    return f"{number(mean)} ± {number(std, 2)}" if np.isfinite(std) else ABSENT


OBSERVATIONS = {
    "observations": Exhibit("Section 4", "the paper's first two observations as numbers", _parts, observations),
}
