"""What the paper does not show: the theory's boundary over networks, hysteresis, controls, the start."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import expit

from heteroscope.core import defaults
from heteroscope.diagrams import PHASES, agreement, majority_phase
from heteroscope.paper.diagram_parts import FREE_PRECISION, HysteresisSweep, Line, Networks, Part, Theory
from heteroscope.paper.exhibit_plots import hysteresis_figure, penalty_figure
from heteroscope.paper.exhibits import Exhibit, Output, Parts
from heteroscope.paper.figures import FIELD, networks, theory
from heteroscope.paper.formatting import number
from heteroscope.paper.observations import largest_step
from heteroscope.paper.scales import Scale
from heteroscope.plots import phase_maps

Diagrams = Mapping[str, xr.Dataset]
HYSTERESIS_LOGIT_RHOS = tuple(k / 4 for k in range(-12, 37))
HYSTERESIS_LOGIT_GAMMAS = tuple(float(k) for k in range(-9, 6))
SHOWN_GAMMA = float(expit(-4.0))
#: Penalties of the mean, three a decade, at two penalties of the precision: one leaves it free, one holds it constant.
#: Decimals as they are written, since they identify what was computed and a power has other last bits elsewhere.
ALPHAS = (
    *(1.0, 0.4641588833612779, 0.2154434690031884, 0.1, 0.04641588833612779, 0.02154434690031884),
    *(0.01, 0.004641588833612779, 0.002154434690031884, 0.001, 0.0004641588833612779, 0.0002154434690031884),
    *(0.0001, 0.00004641588833612779, 0.00002154434690031884, 0.00001),
)
CONSTANT_RHO = 1e-4  # where beta is 10^4 (1 - gamma), with gamma at most 10^-4
OWN_ROWS = "Theory of the same rows"
STARTS: dict[str, str | float] = {"He start": "he", "start 0.1": 0.1, "start 0.001, the paper's": 1e-3}


def _boundary_parts(scale: Scale) -> Parts:
    return {
        FIELD: theory("sine", scale),
        OWN_ROWS: Theory("sine", scale.grid, points=None),
        "Networks": networks("sine", scale),
    }


def boundary(found: Diagrams) -> Output:
    """The boundaries of a theory that has the networks' rows, moved by the best shift, over the networks' phases."""
    smooth, best = (agreement(found["Networks"], found[name]) for name in (FIELD, OWN_ROWS))
    verdict = (
        f"Against the theory of the networks' own rows {number(100 * best.unshifted)} % of the cells have the same "
        f"label as they are, {number(100 * best.share)} % after a shift of log alpha by {best.log_alpha:+.1f} and of "
        f"log beta by {best.log_beta:+.1f}; against that of {found[FIELD].sizes['row']} points "
        f"{number(100 * smooth.unshifted)} and {number(100 * smooth.share)} %."
    )
    return Output(phase_maps(found, found[OWN_ROWS], (best.log_alpha, best.log_beta)), verdict=verdict)


def _hysteresis_parts(scale: Scale) -> Parts:
    return {"sweeps": HysteresisSweep("sine", HYSTERESIS_LOGIT_RHOS, HYSTERESIS_LOGIT_GAMMAS, scale.hysteresis_points)}


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
    """Penalties of the mean along a line if the precision is free, along a row if it is constant."""
    parts: dict[str, Part] = {}
    for depth, hidden in {"3 hidden layers": scale.hidden, "1 hidden layer": scale.hidden[:1]}.items():
        common = (scale.n_seeds, hidden, scale.line_steps)
        parts[f"{depth}, heteroskedastic"] = Line("sine", FREE_PRECISION, ALPHAS, *common)
        row = Networks("sine", (CONSTANT_RHO,), (), *common, exchange=False, alphas=ALPHAS)
        parts[f"{depth}, homoskedastic"] = row
    return parts


def controls(found: Diagrams) -> Output:
    """The mean's transition with and without a free precision, with three hidden layers and with one."""
    train, test = (
        {name: by_alpha(one["mean_mse"].sel(split=split)) for name, one in found.items()} for split in ("train", "test")
    )
    steepest = {
        name: 100 * float(np.mean([largest_step(seed) for seed in line.values.T])) for name, line in train.items()
    }
    rows = [
        {
            "networks": name,
            "steepest step, % of the whole fall": share,
            "largest spread of log precision": float(found[name]["log_precision_spread"].mean("seed").max()),
        }
        for name, share in steepest.items()
    ]
    shares = "; ".join(f"{name} {number(share)} %" for name, share in steepest.items())
    verdict = f"A third of a decade of alpha makes this much of the whole fall of the training mean MSE: {shares}."
    return Output(penalty_figure({"training mean MSE": train, "test mean MSE": test}), pd.DataFrame(rows), verdict)


def by_alpha(values: xr.DataArray) -> xr.DataArray:
    """The cells that are there along their penalty of the mean, alpha = gamma (1 - rho) / rho, and the seeds."""
    line = values.stack(alpha=("rho", "gamma")).dropna("alpha", how="all")
    alpha = (line["gamma"] * (1 - line["rho"]) / line["rho"]).values
    return (
        line.drop_vars(["alpha", "rho", "gamma"]).assign_coords(alpha=alpha).sortby("alpha").transpose("alpha", "seed")
    )


def _start_parts(scale: Scale) -> dict[str, Part]:
    """With all the steps of a diagram at any scale: a small network that is to leave zero needs thousands."""
    common: Any = {"n_seeds": scale.n_seeds_rest, "max_steps": defaults.DIAGRAM_STEPS}
    return {name: networks("sine", scale, start=start, **common) for name, start in STARTS.items()}


def start_scale(found: Diagrams) -> Output:
    """The same cells from starts of different size."""
    names = list(found)
    phases = {name: majority_phase(one).values for name, one in found.items()}
    first = phases[names[0]]
    rows = [
        {
            "start": name,
            **{f"{phase}, %": 100 * float(np.mean(phases[name] == phase)) for phase in PHASES},
            "cells labelled unlike He's, %": 100 * float(np.mean(phases[name] != first)),
            "cells that end above He's objective, %": 100 * _above(one, found[names[0]]),
            "lowest test NLL": float(one["nll"].sel(split="test").mean("seed").min()),
        }
        for name, one in found.items()
    ]
    table = pd.DataFrame(rows)
    other, above = table.iloc[-1][["cells labelled unlike He's, %", "cells that end above He's objective, %"]]
    good, retraced = (" and ".join(number(table[f"{phase}, %"].iloc[k]) for k in (0, -1)) for phase in ("S", "O_II"))
    verdict = (
        f"From the paper's start {number(other)} % of the cells have another label than from He's, and "
        f"{number(above)} % end at a higher objective. From He's start and from the paper's {good} % are S, and "
        f"{retraced} % are O_II."
    )
    return Output(phase_maps(found), table, verdict)


def _above(diagram: xr.Dataset, other: xr.Dataset) -> float:
    """The share of cells whose objective, mean over seeds, is higher by more than a hundredth of a nat."""
    difference = (diagram["objective"] - other["objective"]).mean("seed")
    return float((difference > 0.01).mean())


BEYOND = {
    "boundary": Exhibit(
        "beyond the paper",
        "the theory's boundaries over the networks' phases",
        _boundary_parts,
        boundary,
    ),
    "hysteresis": Exhibit(
        "beyond the paper", "the field theory with rho swept up and down", _hysteresis_parts, hysteresis
    ),
    "controls": Exhibit(
        "beyond the paper",
        "one hidden layer and a constant precision as controls of sharpness",
        _control_parts,
        controls,
    ),
    "start-scale": Exhibit(
        "beyond the paper",
        "the same diagram from starts of different size",
        _start_parts,
        start_scale,
    ),
}
