"""Compare a diagram's minima with the reference minima: `python -m benchmarks.minima.compare SET SEED [DIAGRAM ...]`.

Prints every reference cell beside ours, and how many agree. Without DIAGRAM, two diagrams with that seed are trained,
one from each start. A DIAGRAM is a folder made by `heteroscope map` or `heteroscope reproduce`, or a record such as
`benchmarks/records/parts/NAME.nc.gz`, and must contain that seed.

A reference cell has a finite minimum if its status is not runaway. A cell agrees if its objective over rho is at most
0.02 above the reference's; a lower one is better, since both minimise the same sum.
"""

import sys
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
import xarray as xr
from benchmarks.minima.reference import CELLS, N_PROCESSES, STARTS, cell_key, load

from heteroscope import datasets, open_diagram, phase_diagram
from heteroscope.core import Status
from heteroscope.paper.part_records import DIAGRAM, load_part

CLOSE, CLOSER = 0.02, 0.001  # distances above the reference objective that are counted
Found: TypeAlias = dict[str, dict[str, Any]]  # what was found, by the key of a cell


def main(name: str, seed: int, *given: str) -> None:
    """Print every reference cell beside ours, and how many agree."""
    reference = load(name, seed)
    began = perf_counter()
    diagrams = [_read(path) for path in map(Path, given)] or [_diagram(name, start, seed) for start in STARTS]
    ours: Found = {}
    for diagram in diagrams:
        start = diagram.attrs["start"]
        cells = [cell for cell in CELLS[name] if cell_key(start, cell) in reference]
        ours |= _of_diagram(diagram.sel(seed=seed), start, cells)
    seconds = perf_counter() - began
    _report(name, ours, reference, {diagram.attrs["start"]: diagram.attrs["max_steps"] for diagram in diagrams})
    if not given:
        print(f"All of ours took {seconds:.0f} s on {N_PROCESSES} processes, compilation included.")


def _read(path: Path) -> xr.Dataset:
    """Return the diagram in a folder or on record."""
    if path.is_dir():
        return open_diagram(path)
    kept = load_part(path.parent, path.name.removesuffix(DIAGRAM))
    if kept is None or not isinstance(kept.result, xr.Dataset):
        raise SystemExit(f"{path} is not a diagram on record")
    return kept.result


def _diagram(name: str, start: str | float, seed: int) -> xr.Dataset:
    """Train a whole diagram with this seed."""
    split = datasets.load(name.removesuffix("_long"), seed=0)
    tests = {"X_test": split.x_test, "y_test": split.y_test}
    return phase_diagram(split.x_train, split.y_train, **tests, start=start, random_state=seed, n_jobs=N_PROCESSES)


def _of_diagram(diagram: xr.Dataset, start: str | float, cells: list[tuple[float, float]]) -> Found:
    """Return what the diagram has in these cells."""
    found = {}
    for rho, gamma in cells:
        cell = diagram.sel(rho=rho, gamma=gamma, method="nearest")
        names = ("objective", "phase", "status", "relative_gradient", "steps")
        found[cell_key(start, (rho, gamma))] = {key: cell[key].item() for key in names}
    return found


def _report(name: str, ours: Found, reference: Found, steps: dict[str | float, int]) -> None:
    """Print the table and the counts."""
    theirs = next(iter(reference.values()))["steps"]
    most = " and ".join(f"{number:,} from start {start}" for start, number in steps.items())
    print(f"{name}, at most {most} steps against {theirs:,} of the paper's.\n")
    print(
        "| start, rho, gamma | reference | ours | ours - reference | phases | statuses | relative gradients | steps |"
    )
    print("|---|---:|---:|---:|---|---|---|---:|")
    for key, own in ours.items():
        other = reference[key]
        difference = own["objective"] - other["objective"]
        print(
            f"| {key} | {other['objective']:.4f} | {own['objective']:.4f} | {difference:+.4f} "
            f"| {other['phase']}, {own['phase']} | {other['status']}, {own['status']} "
            f"| {other['relative_gradient']:.2g}, {own['relative_gradient']:.2g} | {own['steps']:,.0f} |"
        )
    for start in STARTS:
        _count(f"From start {start}", {key: own for key, own in ours.items() if key.startswith(f"{start} ")}, reference)
    _count("Altogether", ours, reference)
    if "he" in steps:
        from_he = {key: f"he {key.split(' ', 1)[1]}" for key in reference}
        crossed = {key: ours[own] for key, own in from_he.items() if own in ours}
        _count("The diagram from He's start against the references from both", crossed, reference)


def _count(title: str, ours: Found, reference: Found) -> None:
    """Print how many cells agree with the reference."""
    if not ours:
        return
    finite = [key for key in ours if reference[key]["status"] != Status.RUNAWAY]
    above = np.array([ours[key]["objective"] - reference[key]["objective"] for key in finite])
    same = sum(_same_phase(ours[key], reference[key]) for key in ours)
    print(
        f"\n{title}: {len(finite)} of {len(ours)} cells have a finite minimum; at most {CLOSE} above the reference: "
        f"{np.sum(above <= CLOSE)}; at most {CLOSER}: {np.sum(above <= CLOSER)}; same phase: {same} of {len(ours)}."
    )


def _same_phase(ours: dict[str, Any], reference: dict[str, Any]) -> bool:
    """Say whether both have the same label, and both or neither ran away."""
    runs_away = [found["status"] == Status.RUNAWAY for found in (ours, reference)]
    return ours["phase"] == reference["phase"] and runs_away[0] == runs_away[1]


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
