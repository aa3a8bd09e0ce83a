"""Two of the paper's observations as numbers (`crossing` has the third), and what searching only the diagonal costs."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr
from jaxtyping import Float

from heteroscope.diagrams import agreement, diagonal_cells, majority_phase
from heteroscope.paper.comparison_parts import Searches
from heteroscope.paper.exhibit_plots import regret_figure
from heteroscope.paper.exhibits import Exhibit, Output, Parts
from heteroscope.paper.figures import FIELD, TITLES, summary_parts
from heteroscope.paper.formatting import number
from heteroscope.paper.scales import Scale

Diagrams = Mapping[str, xr.Dataset]
FLAT = 1e-3  # average squared slope, in standardised units, below which a function counts as flat


def observations(found: Diagrams) -> Output:
    """Sharp transitions, and agreement with the theory, each with the number that decides it."""
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
    verdict = [_first(of_sets, table[table["set"] == FIELD]), _second(of_sets)]
    return Output(table=table, verdict="\n\n".join(verdict))


def _first(sets: pd.DataFrame, theory_row: pd.DataFrame) -> str:
    ours, theirs = float(sets["steepest step, %"].median()), float(theory_row["steepest step, %"].item())
    return (
        f"**Observation 1**, sharp transitions: {_confirmed(ours > 50)}. Along the diagonal one step of the grid makes "
        f"{number(ours)} % of the whole change of the training mean MSE (median of {len(sets)} sets of networks), and "
        f"{number(theirs)} % in the theory. That networks are sharper than the theory is {_confirmed(ours > theirs)}."
    )


def _second(sets: pd.DataFrame) -> str:
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
    return "confirmed" if holds else "contradicted"


def steepest_step(diagram: xr.Dataset, rhos: Float[np.ndarray, " rho"]) -> float:
    """The largest change of the training mean MSE between neighbours on the diagonal, over its whole change there.

    Only points of `rhos` count, so that diagrams of different grids are judged on the same ones.
    """
    at = [cell for cell in diagonal_cells(diagram) if np.isclose(diagram["rho"].values[cell[0]], rhos, rtol=1e-9).any()]
    values = diagram["mean_mse"].sel(split="train").mean("seed").transpose("rho", "gamma").values
    along = np.array([values[cell] for cell in at])
    return largest_step(along[np.isfinite(along)])


def largest_step(values: Float[np.ndarray, " point"]) -> float:
    """The largest change between neighbours over the whole change; 0 where nothing changes."""
    whole = float(np.ptp(values))
    return float(np.abs(np.diff(values)).max() / whole) if whole else 0.0


def flat_share(diagram: xr.Dataset, energy: str) -> float:
    """The share of cells in which a function has next to no slope; a runaway is none of them."""
    return float((diagram[energy].sel(split="train").mean("seed") < FLAT).mean())


def regret(found: Mapping[str, pd.DataFrame]) -> Output:
    """Test NLL of the point that the diagonal's search takes minus that of the whole square's, on the same runs."""
    rows = []
    for name, records in found.items():
        nll = records.pivot(index="split", columns="method", values="nll")
        gap = nll["diagonal"] - nll["grid"]
        rows.append(
            {
                "set": name,
                "diagonal": float(nll["diagonal"].mean()),
                "whole square": float(nll["grid"].mean()),
                "regret": float(gap.mean()),
                "standard error": float(gap.std(ddof=1) / np.sqrt(len(gap))),
            }
        )
    table = pd.DataFrame(rows)
    worst = table.iloc[int(table["regret"].argmax())]
    points = records.groupby("method")["n_points"].first()
    verdict = (
        f"Test NLL of the diagonal's choice minus that of the whole square's: a median of "
        f"{number(float(table['regret'].median()))} nats over {len(table)} sets (most on {worst['set']}, "
        f"{number(worst['regret'])}; below zero on {int((table['regret'] < 0).sum())}), with {points['diagonal']} "
        f"points tried instead of {points['grid']}."
    )
    return Output(regret_figure(table), table, verdict)


def _searches(scale: Scale) -> Parts:
    return {title: Searches(data, scale.n_searches, scale.hidden, scale.search) for data, title in TITLES.items()}


OBSERVATIONS = {
    "observations": Exhibit("Section 4", "the paper's first two observations as numbers", summary_parts, observations),
    "regret": Exhibit("beyond the paper", "what searching the diagonal alone costs", _searches, regret, fewest_seeds=2),
}
