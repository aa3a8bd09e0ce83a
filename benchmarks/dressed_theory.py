"""Judge the dressed theory against the networks on record: labels without any shift, and the jump of the mean.

(c, p) of both outputs are fitted on the sine runs of 3 x 128 leaky ReLU (benchmarks/penalty_law.py) and used for all
sets. A jump is read from the cells of constant precision: the largest alpha at which the mean is alive, and the
smallest at which it is flat.
"""

from pathlib import Path

import numpy as np
import xarray as xr
from benchmarks.penalty_law import load_cells

from heteroscope import datasets, field
from heteroscope.core import InputError
from heteroscope.datasets import simulated
from heteroscope.diagrams import (
    PenaltyLaw,
    agreement,
    dressed_diagram,
    field_diagram,
    fit_penalty_law,
    mean_jump,
)
from heteroscope.paper import SCALES, part_name
from heteroscope.paper.part_records import load_part
from heteroscope.paper.scales import UCI_SETS

RECORDS = Path(__file__).parent / "records"
FITTED_ON = "sine"


def main() -> None:
    """Print both tables."""
    laws = {output: recorded_law(output) for output in ("mean", "precision")}
    for output, law in laws.items():
        print(f"{output}: log c = {np.log(law.factor):.2f}, p = {law.power:.2f}, {law.n_cells} cells\n")
    print("| set | plain: equal labels | kappa | dressed: equal labels | kappa | jump: predicted, networks | decades |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name in simulated.PROCESSES:
        print(_simulated_row(name, laws["mean"], laws["precision"]), flush=True)
    for name in UCI_SETS:
        print(_table_row(name, laws["mean"]), flush=True)


def recorded_law(output: str) -> PenaltyLaw:
    """Return the law of one output that was fitted on sine."""
    cells = load_cells(f"{FITTED_ON}-3x128-leaky_relu-{output}")
    law = None if cells is None else fit_penalty_law(cells)
    if law is None:
        raise InputError(f"no law of the {output} on record: run `python -m benchmarks penalty_law` first")
    return law


def recorded_networks(name: str) -> xr.Dataset:
    """Return the recorded diagram of 3 x 128 networks, all seeds on record."""
    parts = SCALES["full"].networks(name).pieces()
    kept = [load_part(RECORDS / "parts", part_name(part)) for part in parts]
    found = [one.result for one in kept if one is not None]
    together = {"data_vars": "minimal", "coords": "minimal", "compat": "override", "combine_attrs": "override"}
    return xr.concat(found, "seed", join="override", **together)


def _network_jump(networks: xr.Dataset) -> tuple[float, float]:
    """Return alpha up to which the mean is alive, and from which on it is flat, beside a constant precision."""
    train = networks.sel(split="train").mean("seed")
    rho, gamma = np.meshgrid(train.rho.values, train.gamma.values, indexing="ij")
    alpha = gamma * (1 - rho) / rho
    constant = train["log_precision_spread"].values < 1e-3
    alive = train["mean_mse"].values < 0.95
    return float(alpha[constant & alive].max()), float(alpha[constant & ~alive].min())


def _jump_cells(networks: xr.Dataset, predicted: float) -> str:
    """Return the columns of the jump: prediction, networks, and the distance to their middle in decades."""
    alive, flat = _network_jump(networks)
    distance = abs(np.log10(predicted / np.sqrt(alive * flat)))
    return f"{predicted:.3f}, {alive:.3f} to {flat:.3f} | {distance:.2f}"


def _simulated_row(name: str, mean_law: PenaltyLaw, precision_law: PenaltyLaw) -> str:
    networks, split = recorded_networks(name), datasets.load(name)
    order = np.argsort(split.x_train[:, 0])
    x, y = split.x_train[order, 0], split.y_train[order]
    grid = {"rhos": networks.rho.values, "gammas": networks.gamma.values}
    _, _, y_again = simulated.row_draws(name)
    plain = field_diagram(x, y, y_test=y_again, density="points", folds=False, **grid)
    dressed = dressed_diagram(x, y, mean_law, precision_law, x_test=split.x_test[:, 0], y_test=split.y_test, **grid)
    found = [agreement(networks, one) for one in (plain, dressed)]
    cells = " | ".join(f"{100 * one.unshifted:.0f} % | {one.unshifted_kappa:.2f}" for one in found)
    jump = mean_jump(field.chain(x, "points"), y, mean_law).alpha
    return f"| {name} | {cells} | {_jump_cells(networks, jump)} |"


def _table_row(name: str, mean_law: PenaltyLaw) -> str:
    split = datasets.load(name)
    x = (split.x_train - split.x_train.mean(axis=0)) / split.x_train.std(axis=0)
    y = (split.y_train - split.y_train.mean()) / split.y_train.std()
    rows = field.table(x, y)
    jump = mean_jump(rows.lattice, rows.y, mean_law).alpha
    return f"| {name} | | | | | {_jump_cells(recorded_networks(name), jump)} |"


if __name__ == "__main__":
    main()
