"""Measure the law W = c E^p of networks, by depth, width and activation, with the cells fixed beforehand.

Trains the runs of docs/research/penalty-law.md that are not on record in benchmarks/records/penalty_law, then prints a
table of them all. A run that is interrupted is resumed by the next call.
"""

from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
import xarray as xr

from heteroscope import datasets, phase_diagram
from heteroscope.diagrams.penalty_law import Output, PenaltyLaw, fit_penalty_law, penalty_cells
from heteroscope.paper.part_records import load_part, save_part

RECORDS = Path(__file__).parent / "records" / "penalty_law"
PENALTIES = tuple(0.001 * 2**k for k in range(7))
CONSTANT_RHO = 1e-4  # alpha + beta is then about 10^4: the output that takes almost all of it is constant
STEPS = 16_000
PAPER_NETWORK = ((128, 128, 128), "leaky_relu")
OTHER_SETS = ("cubic", "curve", "sine_homoskedastic", "cubic_homoskedastic", "curve_homoskedastic")


class Run(NamedTuple):
    """One row of cells: a data set, a network, and which output is trained."""

    data: str
    hidden: tuple[int, ...]
    activation: str
    output: Output

    @property
    def name(self) -> str:
        """The name of its record."""
        return f"{self.data}-{len(self.hidden)}x{self.hidden[0]}-{self.activation}-{self.output}"

    def train(self, store: Path) -> xr.Dataset:
        """Train the row."""
        split = datasets.load(self.data)
        shares = [penalty * CONSTANT_RHO / (1 - CONSTANT_RHO) for penalty in PENALTIES]
        return phase_diagram(
            split.x_train,
            split.y_train,
            X_test=split.x_test,
            y_test=split.y_test,
            rhos=[CONSTANT_RHO],
            gammas=shares if self.output == "mean" else [1 - share for share in shares],
            hidden=self.hidden,
            activation=self.activation,
            max_steps=STEPS,
            batch_size=None,
            name=self.data,
            identity=split.identity,
            store=store,
            n_jobs=1,
        )


def runs() -> list[Run]:
    """Return all runs in the order in which they are trained."""
    networks: list[tuple[tuple[int, ...], str]] = [PAPER_NETWORK, ((128,), "leaky_relu"), ((128,) * 2, "leaky_relu")]
    networks += [((64,) * 3, "leaky_relu"), ((128,) * 3, "silu")]
    rest: list[tuple[tuple[int, ...], str]] = [((64,), "leaky_relu"), ((64,) * 2, "leaky_relu"), ((128,), "silu")]
    rest += [((128,) * 2, "silu"), ((256,), "leaky_relu"), ((256,) * 2, "leaky_relu"), ((256,) * 3, "leaky_relu")]
    pairs = [("sine", network) for network in networks]
    pairs += [(data, PAPER_NETWORK) for data in OTHER_SETS]
    pairs += [("sine", network) for network in rest]
    outputs: tuple[Output, ...] = ("mean", "precision")
    return [Run(data, *network, output) for data, network in pairs for output in outputs]


def main() -> None:
    """Train what is missing and print the table."""
    for run in runs():
        if load_part(RECORDS, run.name) is None:
            start = perf_counter()
            diagram = run.train(RECORDS / "unfinished" / run.name)
            save_part(RECORDS, run.name, diagram, {"seconds": perf_counter() - start, "run": run._asdict()})
            print(f"trained {run.name} in {perf_counter() - start:.0f} s", flush=True)
    print_table()


def print_table() -> None:
    """Print one line for each run on record."""
    print("| set | network | output | log c | p | scatter | decades of E | cells | holds |")
    print("|---|---|---|---:|---:|---:|---:|---:|---|")
    for run in runs():
        record = load_part(RECORDS, run.name)
        if record is None:
            continue
        cells = penalty_cells(record.result, run.output)
        network = f"{len(run.hidden)} x {run.hidden[0]} {run.activation}"
        law = fit_penalty_law(cells)
        numbers = f"| | | | {len(cells.energy)} | no" if law is None else format_law(law)
        print(f"| {run.data} | {network} | {run.output} {numbers} |")


def format_law(law: PenaltyLaw) -> str:
    """Return the numbers of one law as cells of a table."""
    return (
        f"| {np.log(law.factor):.2f} | {law.power:.2f} | {law.scatter:.2f} | {law.decades:.1f} | {law.n_cells} "
        f"| {'yes' if law.holds else 'no'}"
    )


if __name__ == "__main__":
    main()
