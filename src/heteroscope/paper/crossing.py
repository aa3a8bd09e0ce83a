"""Does the diagonal meet S? Observation 3 of the paper, on the points of its own figure."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr

from heteroscope.diagrams import diagonal_cells, majority_phase
from heteroscope.paper.formatting import number
from heteroscope.phases import Phase

NOWHERE = "-"


def crossing(found: Mapping[str, xr.Dataset]) -> pd.DataFrame:
    """One row a diagram: how many points of the diagonal most seeds label S, between which rhos, and what is best."""
    return pd.DataFrame([{"set": name, **_crossed(diagram)} for name, diagram in found.items()])


def _crossed(diagram: xr.Dataset) -> dict[str, str]:
    cells = diagonal_cells(diagram)
    phases = majority_phase(diagram).values
    nll = diagram["nll"].sel(split="test").mean("seed").transpose("rho", "gamma").values
    rhos = [float(diagram["rho"].values[row]) for row, _ in cells]
    good = [rho for rho, cell in zip(rhos, cells, strict=True) if phases[cell] == Phase.S]
    best = int(np.nanargmin([nll[cell] for cell in cells]))
    return {
        "points in S": f"{len(good)} of {len(cells)}",
        "from rho": number(min(good), 4) if good else NOWHERE,
        "to rho": number(max(good), 4) if good else NOWHERE,
        "rho of the lowest test NLL": number(rhos[best], 4),
        "its label": str(phases[cells[best]]),
    }


def verdict(table: pd.DataFrame, theory: str) -> str:
    """The observation, confirmed or contradicted by the number of sets of networks in which the diagonal meets S."""
    sets = table[table["set"] != theory]
    missed = sets.loc[sets["from rho"] == NOWHERE, "set"].tolist()
    best = int((sets["its label"] == Phase.S).sum())
    found = f"It does in {len(sets) - len(missed)} of {len(sets)} sets of networks"
    if missed:
        found += f", not on {' and '.join(missed)}"
    return (
        f"**Observation 3**, the diagonal crosses S: {'contradicted' if missed else 'confirmed'}. {found}; the lowest "
        f"test NLL on the diagonal is an S in {best}."
    )
