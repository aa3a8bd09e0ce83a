"""What the paper does not show: its observations as numbers, regret of the diagonal, hysteresis and controls."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from jaxtyping import Float
from scipy.special import expit

from heteroscope.agreement import agreement
from heteroscope.diagram import diagonal_cells, majority_phase
from heteroscope.plots import phase_maps
from heteroscope.reproduce.drawings import hysteresis_figure, penalty_figure
from heteroscope.reproduce.figures import FIELD, networks, summary_networks, summary_parts, theory
from heteroscope.reproduce.parts import Hysteresis, Networks
from heteroscope.reproduce.recipe import Output, Parts, Recipe
from heteroscope.reproduce.scales import Scale
from heteroscope.reproduce.text import number

Diagrams = Mapping[str, xr.Dataset]
FLAT = 1e-3  # average squared slope, in standardised units, below which a function counts as flat
HYSTERESIS_RHOS = tuple(expit(np.arange(-2.0, 9.0, 0.5)).tolist())
HYSTERESIS_GAMMAS = (1e-4, 1e-3, 1e-2, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99)
SHOWN_GAMMA = 0.01
#: Penalties of the mean at two fixed penalties of the precision: one that leaves it free, one that holds it constant.
ALPHAS = tuple(np.logspace(-1, -6, 16).tolist())
RHOS = {"heteroskedastic": 0.9, "homoskedastic": 1e-4}
STARTS: dict[str, str | float] = {"He start": "he", "start 0.1": 0.1, "start 0.001, the paper's": 1e-3}


def observations(found: Diagrams) -> Output:
    """The three observations of the paper, each with the number that decides it."""
    field_theory, sets = found[FIELD], {name: one for name, one in found.items() if name != FIELD}
    grid = next(iter(sets.values()))["rho"].values
    rows = []
    for name, diagram in found.items():
        same = agreement(diagram, field_theory)
        phases = majority_phase(diagram).values
        on = [str(phases[cell]) for cell in diagonal_cells(diagram)]
        rows.append(
            {
                "set": name,
                "steepest step, %": 100 * steepest_step(diagram, grid),
                "labels as in the theory, %": 100 * same.unshifted,
                "after a shift, %": 100 * same.share,
                "most common label, %": 100 * float(np.unique(phases, return_counts=True)[1].max()) / phases.size,
                "flat mean, %": 100 * flat_share(diagram, "mean_energy"),
                "flat precision, %": 100 * flat_share(diagram, "precision_energy"),
                "S on the diagonal": f"{on.count('S')} of {len(on)}",
            }
        )
    table = pd.DataFrame(rows)
    of_sets = table[table["set"] != FIELD]
    verdict = [_first(of_sets, table[table["set"] == FIELD]), _second(of_sets), _third(of_sets)]
    return Output(table=table, verdict="\n\n".join(verdict))


def _first(sets: pd.DataFrame, theory_row: pd.DataFrame) -> str:
    ours, theirs = sets["steepest step, %"].median(), theory_row["steepest step, %"].item()
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
        f"{number(labels.max())} % of the cells have the label of the theory (of sine), more than the most common label "
        f"alone would give in {beaten} of {len(sets)} sets. That the precision is flat on a larger area than the mean is "
        f"{_confirmed(flatter == len(sets))}: it is so in {flatter} of {len(sets)} sets."
    )


def _third(sets: pd.DataFrame) -> str:
    crossed = sum(not cells.startswith("0 ") for cells in sets["S on the diagonal"])
    return (
        f"**Observation 3**, the diagonal crosses S: {_confirmed(crossed == len(sets))}, in {crossed} of {len(sets)} sets; "
        "the regret below says at which price."
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
    along = along[np.isfinite(along)]
    return float(np.abs(np.diff(along)).max() / np.ptp(along))


def flat_share(diagram: xr.Dataset, energy: str) -> float:
    """The share of cells in which a function has next to no slope; a runaway is none of them."""
    return float((diagram[energy].sel(split="train").mean("seed") < FLAT).mean())


def regret(found: Diagrams) -> Output:
    """Best test NLL on the diagonal minus best on the whole grid, both of the mean over seeds."""
    rows = []
    for name, diagram in found.items():
        nll = diagram["nll"].sel(split="test").mean("seed").transpose("rho", "gamma").values
        nll = np.where(np.isfinite(nll), nll, np.inf)
        best = np.unravel_index(int(np.argmin(nll)), nll.shape)
        on = min(diagonal_cells(diagram), key=lambda cell: nll[cell])
        rho, gamma, phases = diagram["rho"].values, diagram["gamma"].values, majority_phase(diagram).values
        rows.append(
            {
                "set": name,
                "best on the grid": float(nll[best]),
                "at (rho, gamma)": f"({rho[best[0]]:g}, {gamma[best[1]]:g}), {phases[best]}",
                "best on the diagonal": float(nll[on]),
                "at rho": f"{rho[on[0]]:g}, {phases[on]}",
                "regret": float(nll[on] - nll[best]),
                "constant model": float(nll[0, -1]),
            }
        )
    table = pd.DataFrame(rows)
    worst = table.loc[table["regret"].idxmax()]
    verdict = (
        f"The diagonal costs between {number(table['regret'].min())} and {number(worst['regret'])} nats of test NLL "
        f"(most on {worst['set']}), with {len(diagonal_cells(diagram))} models instead of {nll.size}."
    )
    return Output(table=table, verdict=verdict)


def boundary(found: Diagrams) -> Output:
    """The theory's fold, moved by the best shift, over the networks' phases."""
    field_theory, sine = found[FIELD], found["Sine"]
    best = agreement(sine, field_theory)
    verdict = (
        f"{number(100 * best.unshifted)} % of the cells have the same label as they are, {number(100 * best.share)} % "
        f"after a shift of log alpha by {best.log_alpha:+.1f} and of log beta by {best.log_beta:+.1f}."
    )
    return Output(phase_maps(found, fold=field_theory, shift=(best.log_alpha, best.log_beta)), verdict=verdict)


def _hysteresis_parts(scale: Scale) -> Parts:
    return {"sweeps": Hysteresis("sine", HYSTERESIS_RHOS, HYSTERESIS_GAMMAS, scale.hysteresis_points)}


def hysteresis(found: Mapping[str, Any]) -> Output:
    """Which cells depend on the direction in which rho was swept."""
    sweeps = found["sweeps"]
    differ = sweeps["differ"].values == 1
    verdict = (
        f"In {int(differ.sum())} of {differ.size} cells the two sweeps end in different solutions, for "
        f"{int(differ.any(axis=0).sum())} of {differ.shape[1]} values of gamma."
    )
    return Output(hysteresis_figure(sweeps, SHOWN_GAMMA), verdict=verdict)


def _control_parts(scale: Scale) -> Parts:
    shapes = {"3 hidden layers": scale.hidden, "1 hidden layer": scale.hidden[:1]}
    return {
        f"{depth}, {kind}": Networks(
            "sine",
            rhos=(rho,),
            gammas=tuple(sorted(alpha * rho / (1 - rho) for alpha in ALPHAS)),
            n_seeds=scale.n_seeds,
            hidden=hidden,
            max_steps=scale.max_steps,
        )
        for depth, hidden in shapes.items()
        for kind, rho in RHOS.items()
    }


def controls(found: Diagrams) -> Output:
    """The mean's transition with and without a free precision, with three hidden layers and with one."""
    alphas = np.sort(ALPHAS)
    lines = {
        title: {
            name: one[metric].sel(split=split).isel(rho=0).transpose("gamma", "seed").values
            for name, one in found.items()
        }
        for title, metric, split in (("training mean MSE", "mean_mse", "train"), ("test mean MSE", "mean_mse", "test"))
    }
    rows = []
    for name, values in lines["training mean MSE"].items():
        fall = np.abs(np.diff(values, axis=0)).max(axis=0) / np.ptp(values, axis=0)
        rows.append({"networks": name, "steepest step, % of the whole fall": 100 * float(fall.mean())})
    table = pd.DataFrame(rows)
    steps = dict(zip(table["networks"], table.iloc[:, 1], strict=True))
    verdict = (
        "A third of a decade of alpha makes this much of the whole fall of the training mean MSE: "
        + "; ".join(f"{name} {number(share)} %" for name, share in steps.items())
        + "."
    )
    return Output(penalty_figure(alphas, lines), table, verdict)


def start_scale(found: Diagrams) -> Output:
    """The same cells from starts of different size."""
    names = list(found)
    phases = {name: majority_phase(one).values for name, one in found.items()}
    first = phases[names[0]]
    rows = [
        {
            "start": name,
            "U_I, %": 100 * float(np.mean(phases[name] == "U_I")),
            "S, %": 100 * float(np.mean(phases[name] == "S")),
            "cells labelled unlike He's, %": 100 * float(np.mean(phases[name] != first)),
            "cells that end above He's objective, %": 100 * _above(one, found[names[0]]),
            "lowest test NLL": float(one["nll"].sel(split="test").mean("seed").min()),
        }
        for name, one in found.items()
    ]
    table = pd.DataFrame(rows)
    other, above = table.iloc[-1][["cells labelled unlike He's, %", "cells that end above He's objective, %"]]
    verdict = (
        f"From the paper's start {number(other)} % of the cells have another label than from He's, and {number(above)} % "
        "end at a higher objective."
    )
    return Output(phase_maps(found), table, verdict)


def _above(diagram: xr.Dataset, other: xr.Dataset) -> float:
    """The share of cells whose objective, mean over seeds, is higher by more than a hundredth of a nat."""
    difference = (diagram["objective"] - other["objective"]).mean("seed")
    return float((difference > 0.01).mean())


BEYOND = {
    "observations": Recipe("Section 4", "the paper's three observations as numbers", summary_parts, observations),
    "regret": Recipe("beyond the paper", "what searching the diagonal alone costs", summary_networks, regret),
    "boundary": Recipe(
        "beyond the paper",
        "the theory's fold over the networks' phases",
        lambda scale: {FIELD: theory("sine", scale), "Sine": networks("sine", scale)},
        boundary,
    ),
    "hysteresis": Recipe(
        "beyond the paper", "the field theory with rho swept up and down", _hysteresis_parts, hysteresis
    ),
    "controls": Recipe(
        "beyond the paper",
        "one hidden layer and a constant precision as controls of sharpness",
        _control_parts,
        controls,
    ),
    "start-scale": Recipe(
        "beyond the paper",
        "the same diagram from starts of different size",
        lambda scale: {name: networks("sine", scale, start=start) for name, start in STARTS.items()},
        start_scale,
    ),
}
