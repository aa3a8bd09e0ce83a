"""Check the paper's observations as numbers: sharp transitions, agreement with the theory, S on the diagonal, seeds."""

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import pandas as pd
import xarray as xr
from jaxtyping import Float

from heteroscope.diagrams import PHASES, agreement, diagonal_cells, majority_phase, over_seeds
from heteroscope.paper.exhibits import FIELD, Exhibit, Output, summary_parts
from heteroscope.paper.formatting import number
from heteroscope.phases import Phase

Diagrams: TypeAlias = Mapping[str, xr.Dataset]
FLAT = 1e-3  # a function counts as flat if its average squared slope, in standardised units, is below this
ABSENT = "-"  # cell of a table where there is nothing to show
#: Metrics whose spread over seeds is tabulated, and their titles.
SPREAD_METRICS = {"mean_mse": "mean MSE", "mean_energy": "energy of mean", "precision_energy": "energy of precision"}


def observations(found: Diagrams) -> Output:
    """Check Observations 1 (sharp transitions) and 2 (agreement with the theory): one table row per diagram."""
    field_theory, sets = found[FIELD], {name: one for name, one in found.items() if name != FIELD}
    grid = next(iter(sets.values()))["rho"].values
    rows = []
    for name, diagram in found.items():
        same = agreement(diagram, field_theory)
        phases = majority_phase(diagram).values
        rows.append(
            {
                "set": name,
                "steepest step, %": 100 * steepest_step(diagram, grid),
                "labels as in the theory, %": 100 * same.unshifted,
                "after a shift, %": 100 * same.share,
                "most common label, %": 100 * float(np.unique(phases, return_counts=True)[1].max()) / phases.size,
                "flat mean, %": 100 * flat_share(diagram, "mean_energy"),
                "flat precision, %": 100 * flat_share(diagram, "precision_energy"),
            }
        )
    table = pd.DataFrame(rows)
    of_sets = table[table["set"] != FIELD]
    verdict = [_sharpness_verdict(of_sets, table[table["set"] == FIELD]), _agreement_verdict(of_sets)]
    return Output(table=table, verdict="\n\n".join(verdict))


def _sharpness_verdict(sets: pd.DataFrame, theory_row: pd.DataFrame) -> str:
    """Say whether one step of the grid makes most of the change of the training mean MSE."""
    ours, theirs = float(sets["steepest step, %"].median()), float(theory_row["steepest step, %"].item())
    return (
        f"**Observation 1**, sharp transitions: {_confirmed(ours > 50)}. Along the diagonal one step of the grid makes "
        f"{number(ours)} % of the whole change of the training mean MSE (median of {len(sets)} sets of networks), and "
        f"{number(theirs)} % in the theory. That networks are sharper than the theory is {_confirmed(ours > theirs)}."
    )


def _agreement_verdict(sets: pd.DataFrame) -> str:
    """Say whether more cells have the theory's label than the most common label alone would explain."""
    labels = sets["labels as in the theory, %"]
    beaten = int((labels > sets["most common label, %"]).sum())
    flatter = int((sets["flat precision, %"] > sets["flat mean, %"]).sum())
    return (
        f"**Observation 2**, theory and networks agree: {_confirmed(beaten == len(sets))}. {number(labels.min())} to "
        f"{number(labels.max())} % of the cells have the label of the theory of sine, which is more than the most "
        f"common label alone would give in {beaten} of {len(sets)} sets. That the precision is flat on a larger area "
        f"than the mean is {_confirmed(flatter == len(sets))}: it is so in {flatter} of {len(sets)} sets."
    )


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
    nll = diagram["nll"].sel(split="test").mean("seed").transpose("rho", "gamma").values
    rhos = [float(diagram["rho"].values[row]) for row, _ in cells]
    good = [rho for rho, cell in zip(rhos, cells, strict=True) if phases[cell] == Phase.S]
    best = int(np.nanargmin([nll[cell] for cell in cells]))
    return {
        "points in S": f"{len(good)} of {len(cells)}",
        "from rho": number(min(good), 4) if good else ABSENT,
        "to rho": number(max(good), 4) if good else ABSENT,
        "rho of the lowest test NLL": number(rhos[best], 4),
        "its label": str(phases[cells[best]]),
    }


def crossing_verdict(table: pd.DataFrame) -> str:
    """Check Observation 3: it is confirmed if the diagonal meets S in every diagram of networks."""
    sets = table[table["set"] != FIELD]
    missed = sets.loc[sets["from rho"] == ABSENT, "set"].tolist()
    best = int((sets["its label"] == Phase.S).sum())
    found = f"It does in {len(sets) - len(missed)} of {len(sets)} sets of networks"
    if missed:
        found += f", not on {' and '.join(missed)}"
    return (
        f"**Observation 3**, the diagonal crosses S: {_confirmed(not missed)}. {found}; the lowest "
        f"test NLL on the diagonal is an S in {best}."
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
            cells = {phase: _median_cell(summary, metric, phase) for phase in PHASES}
            there = {phase: std for phase, (_, std) in cells.items() if np.isfinite(std)}
            unsteady[metric] += max(there, key=lambda phase: there[phase]) == Phase.O_I
            texts = {str(phase): _mean_and_std(*cells[phase]) for phase in PHASES}
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
    "observations": Exhibit("Section 4", "the paper's first two observations as numbers", summary_parts, observations),
}
