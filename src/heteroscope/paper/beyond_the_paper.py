"""Exhibits that the paper does not have: regret of the diagonal, boundaries, hysteresis, controls, starts."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import expit
from scipy.stats import t as student_t

from heteroscope.core import defaults
from heteroscope.diagrams import FIVE_PHASES, agreement, majority_phase
from heteroscope.paper.diagram_parts import FREE_PRECISION, HysteresisSweep, Line, Networks
from heteroscope.paper.exhibit_plots import hysteresis_figure, penalty_figure, regret_figure
from heteroscope.paper.exhibits import FIELD, TITLES, Diagrams, Exhibit, Output
from heteroscope.paper.formatting import number
from heteroscope.paper.observations import largest_step, shift_text
from heteroscope.paper.parts import Parts
from heteroscope.paper.scales import Scale
from heteroscope.plots import phase_maps

# The sweeps: logits of rho in quarters from -3 to 9, logits of gamma from -9 to 5, and the gamma that is drawn.
HYSTERESIS_LOGIT_RHOS = tuple(k / 4 for k in range(-12, 37))
HYSTERESIS_LOGIT_GAMMAS = tuple(float(k) for k in range(-9, 6))
SHOWN_GAMMA = float(expit(-4.0))
#: Penalties of the mean in the controls, three per decade from 1 to 1e-5. They are written out because they identify
#: records: the last bits of a computed power differ between processors.
ALPHAS = (
    *(1.0, 0.4641588833612779, 0.2154434690031884, 0.1, 0.04641588833612779, 0.02154434690031884),
    *(0.01, 0.004641588833612779, 0.002154434690031884, 0.001, 0.0004641588833612779, 0.0002154434690031884),
    *(0.0001, 0.00004641588833612779, 0.00002154434690031884, 0.00001),
)
CONSTANT_RHO = 1e-4  # beta = (1 - gamma) (1 - rho) / rho is then about 10^4, which keeps the precision constant
OWN_ROWS = "Theory of the same rows"  # label of a column
#: Initial weights by label: "he", or their standard deviation.
STARTS: dict[str, str | float] = {"He start": "he", "start 0.1": 0.1, "start 0.001, the paper's": 1e-3}


def regret(found: Mapping[str, pd.DataFrame]) -> Output:
    """Compare the test NLL of two searches on the same runs: regret = NLL of the diagonal's choice - the square's."""
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
                "95 %, ±": float(gap.std(ddof=1) / np.sqrt(len(gap)) * student_t.ppf(0.975, len(gap) - 1)),
            }
        )
    table = pd.DataFrame(rows)
    worst = table.iloc[int(table["regret"].argmax())]
    points = records.groupby("method")["n_points"].first()
    verdict = (
        f"Test NLL of the diagonal's choice minus that of the whole square's: a median of "
        f"{number(float(table['regret'].median()))} nats over {len(table)} sets (most on {worst['set']}, "
        f"{number(worst['regret'])}; below zero on {int((table['regret'] < 0).sum())}), with {points['diagonal']} "
        f"points tried instead of {points['grid']}. Zero lies within the 95 % interval of {len(gap)} runs (Student's "
        f"t) on {int((table['regret'].abs() <= table['95 %, ±']).sum())} sets."
    )
    return Output(regret_figure(table), table, verdict)


def _regret_parts(scale: Scale) -> Parts[pd.DataFrame]:
    """Return the parts of "regret": the searches of the diagonal and of the whole square, for each data set."""
    return {title: scale.searches(data) for data, title in TITLES.items()}


def _boundary_parts(scale: Scale) -> Parts[xr.Dataset]:
    """Return networks on sine, the theory of evenly spaced points, and the theory of the networks' own rows."""
    return {
        FIELD: scale.theory("sine"),
        OWN_ROWS: scale.own_theory("sine"),
        "Networks": scale.networks("sine"),
    }


def boundary(found: Diagrams) -> Output:
    """Draw the boundaries of the theory of the networks' rows, moved by the best shift, over the networks' phases."""
    smooth, best = (agreement(found["Networks"], found[name]) for name in (FIELD, OWN_ROWS))
    verdict = (
        f"Against the theory of the networks' own rows {number(100 * best.unshifted)} % of the cells have the same "
        f"label as they are (Cohen's kappa {number(best.unshifted_kappa)}), {number(100 * best.share)} % after a shift "
        f"of log alpha and log beta by {shift_text(best)} (kappa {number(best.kappa)}); against that of "
        f"{found[FIELD].sizes['row']} points {number(100 * smooth.unshifted)} and {number(100 * smooth.share)} % "
        f"(kappa {number(smooth.unshifted_kappa)} and {number(smooth.kappa)})."
    )
    return Output(phase_maps(found, found[OWN_ROWS], (best.log_alpha, best.log_beta)), verdict=verdict)


def _hysteresis_parts(scale: Scale) -> Parts[xr.Dataset]:
    """Return the two sweeps of the field theory of sine."""
    return {"sweeps": HysteresisSweep("sine", HYSTERESIS_LOGIT_RHOS, HYSTERESIS_LOGIT_GAMMAS, scale.hysteresis_points)}


def hysteresis(found: Diagrams) -> Output:
    """Draw and count the cells whose solution depends on the direction in which rho is swept."""
    sweeps = found["sweeps"]
    differ = sweeps["differ"].values == 1
    verdict = (
        f"In {int(differ.sum())} of {differ.size} cells the two sweeps end in different solutions, for "
        f"{int(differ.any(axis=0).sum())} of {differ.shape[1]} values of gamma."
    )
    return Output(hysteresis_figure(sweeps, SHOWN_GAMMA), verdict=verdict)


def _control_parts(scale: Scale) -> Parts[xr.Dataset]:
    """Return networks over penalties of the mean: along a line with a free precision, along a row with a constant."""
    parts: dict[str, Line | Networks] = {}
    for depth, hidden in {"3 hidden layers": scale.hidden, "1 hidden layer": scale.hidden[:1]}.items():
        common = (scale.n_seeds, hidden, scale.line_steps)
        parts[f"{depth}, heteroskedastic"] = Line("sine", FREE_PRECISION, ALPHAS, *common)
        row = Networks("sine", (CONSTANT_RHO,), (), *common, exchange=False, alphas=ALPHAS)
        parts[f"{depth}, homoskedastic"] = row
    return parts


def controls(found: Diagrams) -> Output:
    """Compare the sharpness of the mean's transition: free or constant precision, three hidden layers or one."""
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
    """Return the cells that are not empty over (alpha, seed), where alpha = gamma (1 - rho) / rho, in rising order."""
    line = values.stack(alpha=("rho", "gamma")).dropna("alpha", how="all")
    alpha = (line["gamma"] * (1 - line["rho"]) / line["rho"]).values
    return (
        line.drop_vars(["alpha", "rho", "gamma"]).assign_coords(alpha=alpha).sortby("alpha").transpose("alpha", "seed")
    )


def _start_parts(scale: Scale) -> Parts[xr.Dataset]:
    """Return networks on sine from each start, with a full diagram's steps: small weights take thousands to grow."""
    return {
        name: scale.networks("sine", n_seeds=scale.n_seeds_rest, max_steps=defaults.DIAGRAM_STEPS, start=start)
        for name, start in STARTS.items()
    }


def start_scale(found: Diagrams) -> Output:
    """Compare the phases and objectives of the same cells between starts of different size."""
    names = list(found)
    phases = {name: majority_phase(one).values for name, one in found.items()}
    first = phases[names[0]]
    rows = [
        {
            "start": name,
            **{f"{phase}, %": 100 * float(np.mean(phases[name] == phase)) for phase in FIVE_PHASES},
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
    """Return the share of cells whose objective, mean over seeds, is higher than `other`'s by more than 0.01 nats."""
    difference = (diagram["objective"] - other["objective"]).mean("seed")
    return float((difference > 0.01).mean())


BEYOND: dict[str, Exhibit[pd.DataFrame] | Exhibit[xr.Dataset]] = {
    "regret": Exhibit(
        "beyond the paper", "what searching the diagonal alone costs", _regret_parts, regret, fewest_seeds=2
    ),
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
