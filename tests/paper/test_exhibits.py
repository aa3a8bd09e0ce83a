"""Every exhibit from its parts to its figure or table; the parts are small theories and made-up records."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from heteroscope import field_diagram
from heteroscope.core.errors import InputError
from heteroscope.core.identity import identity_key
from heteroscope.datasets import simulated
from heteroscope.paper import EXHIBITS, SCALES, exhibit_settings
from heteroscope.paper.beyond_the_paper import by_alpha, regret
from heteroscope.paper.comparison_parts import Comparison, Searches, SolarFlux
from heteroscope.paper.diagram_parts import HysteresisSweep, Line, Networks, TableTheory, Theory
from heteroscope.paper.tables import METHODS, beside_printed, selection, sets_won

SMALL, FULL = SCALES["small"], SCALES["full"]
GRID = (1e-2, 0.1, 0.5, 0.9, 0.99)


@cache
def solved(seed):
    x, y, y_test = simulated.field_draws("sine", 32, seed)
    return field_diagram(x, y, y_test=y_test, rhos=GRID, gammas=GRID)


def stand_in(part, folder):
    """Something of the part's kind that takes no training."""
    if isinstance(part, Networks | Line):
        draws = [solved(seed).drop_dims("fold_gamma").assign_coords(seed=[seed]) for seed in range(2)]
        found = xr.concat(draws, "seed", "minimal", "minimal", compat="override")
        if isinstance(part, Line) or len(part.rhos) > 1:
            return found
        gammas = list(part.gamma_values)
        return found.isel(rho=[2]).sel(gamma=gammas, method="nearest").assign_coords(rho=list(part.rhos), gamma=gammas)
    if isinstance(part, Theory | TableTheory):
        return solved(0)
    if isinstance(part, HysteresisSweep):
        return HysteresisSweep("sine", (0.0, 2.0, 4.5), (-4.0, 0.0), 48).make(folder, 1, None)
    if isinstance(part, Searches):
        return searched(diagonal=[1.0, 3.0], grid=[0.5, 2.75])
    return records({name: [0.5, 0.7] for name in METHODS})


def records(nll):
    """Runs with these test NLLs and other scores that are all alike."""
    rows = [
        {"method": method, "split": k, "nll": value, "mean_mse": 0.25, "std_mse": 0.125, "ece": 0.0625}
        for method, values in nll.items()
        for k, value in enumerate(values)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize("name", EXHIBITS)
def test_every_exhibit_ends_in_a_figure_or_a_table(name, tmp_path):
    exhibit = EXHIBITS[name]
    found = {label: stand_in(part, tmp_path / label) for label, part in exhibit.parts(SMALL).items()}
    output = exhibit.show(found)
    assert output.figure is not None or len(output.table)
    assert list(exhibit.parts(FULL)) == list(found), "both scales have the same columns"


def test_settings_and_nothing_else_make_the_hash():
    hashes = {identity_key(exhibit_settings(EXHIBITS["summary"], scale)) for scale in SCALES.values()}
    assert len(hashes) == 2
    again = identity_key(exhibit_settings(EXHIBITS["diagonal"], SMALL))
    assert again == identity_key(exhibit_settings(EXHIBITS["summary"], SMALL)), "they are made of the same parts"
    more = SMALL._replace(n_seeds=SMALL.n_seeds + 1)
    assert identity_key(exhibit_settings(EXHIBITS["summary"], more)) not in hashes


def test_regret_is_the_mean_paired_difference():
    found = searched(diagonal=[1.0, 3.0], grid=[0.5, 2.75])
    row = regret({"made up": found}).table.iloc[0]
    assert (row["diagonal"], row["whole square"], row["regret"]) == (2.0, 1.625, 0.375)
    # differences of 0.5 and 0.25: SD 0.177, over sqrt(2), times Student's t of one degree of freedom
    assert row["95 %, ±"] == pytest.approx(0.125 * 12.7062, rel=1e-5)
    verdict = regret({"made up": found, "other": searched(diagonal=[1.0, 1.0], grid=[1.5, 2.0])}).verdict
    assert "most on made up, 0.375; below zero on 1)" in verdict
    assert "9 points tried instead of 49" in verdict


def searched(**nll):
    return records(nll).assign(n_points=lambda table: table["method"].map({"diagonal": 9, "grid": 49}))


def test_both_searches_run_on_the_same_splits(tmp_path):
    part = Searches("sine", 2, (8, 8), (("n_coarse", 2), ("n_fine", 1), ("cv", 2), ("max_steps", 40)))
    found = part.join([one.make(tmp_path / str(one.run), 1, None) for one in part.pieces()])
    assert found["error"].isna().all()
    assert found.groupby("method")["n_points"].first().to_dict() == {"diagonal": 3, "grid": 4}
    assert found.groupby("method").size().to_dict() == {"diagonal": 2, "grid": 2}
    nll = found.pivot(index="split", columns="method", values="nll")
    assert nll.nunique().tolist() == [2, 2], "another draw each"


def test_tables_put_ours_beside_what_is_printed():
    paper = {"sine": {"mean_mse": {"ours": "0.80 ± 0.00"}}, "solar flux": {"mean_mse": {"ours": "0.29 ± 0.00"}}}
    found = records({"paper": [1.0, 3.0]}).assign(mean_mse=[1.0, 3.0])
    table = beside_printed({"sine": found}, paper, ["paper"])
    assert table.to_numpy().tolist() == [
        ["sine, mean MSE", "0.80 ± 0.00", "2 ± 1.4"],  # sd of 1 and 3 is sqrt(2)
        ["solar flux, mean MSE", "0.29 ± 0.00", "-"],
    ]


def test_generated_rows_are_called_so():
    paper = {"solar flux": {"ece": {"ours": "0.1503 ± 0.00"}}}
    table = beside_printed({"solar flux": records({"paper": [1.0]}).assign(source="generated files")}, paper, ["paper"])
    assert table.iat[0, 0] == "solar flux (generated files), ECE"


def test_the_solar_flux_is_run_on_files_of_either_kind(tmp_path):
    part = SolarFlux("", 1000, 2, (8, 8), 64, n_points=3, max_steps=40)
    found = part.make(tmp_path / "one", 1, None)
    assert found["error"].isna().all()
    assert found.groupby("method").size().to_dict() == {"beta-nll": 2, "held-out": 2, "mle-ensemble": 2, "paper": 2}
    assert set(found["source"]) == {"generated files"}
    flat = 1.0  # mean MSE of a constant in units of the target's variance
    assert found["mean_mse"].between(0.01 * flat, 5 * flat).all()
    files = tmp_path / "one-files"
    before = files.joinpath("train_input.npy").stat().st_mtime_ns
    assert part.make(tmp_path / "one", 1, None).equals(found), "the second call finds everything"
    assert files.joinpath("train_input.npy").stat().st_mtime_ns == before
    given = part._replace(files=str(files), n_rows=0, n_runs=1).make(tmp_path / "two", 1, None)
    assert set(given["source"]) == {"published files"}
    first = found[found["split"] == 0].set_index("method")["nll"]
    pd.testing.assert_series_equal(given.set_index("method")["nll"], first)


def test_the_users_own_climsim_files_take_the_place_of_generated_ones():
    given = FULL.with_climsim("here").solar_flux
    assert (given.files, given.n_rows, given.n_points) == ("here", 0, 94)
    assert given.max_steps * given.batch_size == pytest.approx(12 * 10_091_520, abs=given.batch_size), "12 epochs"
    assert (given.hidden, given.n_runs) == (FULL.solar_flux.hidden, FULL.solar_flux.n_runs) == ((256, 256, 256), 6)
    assert SMALL.with_climsim("here").solar_flux == SMALL.solar_flux._replace(files="here", n_rows=0)


def test_selection_counts_the_runs_in_which_the_papers_rule_is_worse():
    output = selection({"sine": records({"paper": [2.0, 1.0], "held-out": [1.0, 1.5]})})
    assert "in 1 of 2 runs (50 %)" in output.verdict
    assert "on no set" in output.verdict
    vanished = records({"paper": [2.0, 1.0], "held-out": [1.0, 1.5]}).assign(std_mse=0.24)
    assert "on sine" in selection({"sine": vanished}).verdict


def test_a_set_is_won_by_the_lower_mean_over_runs():
    one = records({"held-out": [1.0, 4.0], "mle-ensemble": [2.0, 2.0]})
    two = records({"held-out": [1.0, 2.0], "mle-ensemble": [2.0, 2.0]})
    assert sets_won({"one": one, "two": two}, "held-out", "mle-ensemble", "nll") == 1
    assert sets_won({"one": one}, "mle-ensemble", "held-out", "nll") == 1


def test_comparisons_speak_of_known_sets(tmp_path):
    part = Comparison("sinus", 2, (8, 8), (("n_coarse", 2),), 10)
    with pytest.raises(InputError, match="did you mean 'sine'"):
        part.make(tmp_path / "out", 1, None)


def test_cells_of_a_line_are_ordered_by_the_penalty_of_the_mean():
    values = xr.DataArray(
        [[[np.nan], [0.25]], [[0.75], [np.nan]]],
        {"rho": [0.5, 0.8], "gamma": [0.1, 0.6], "seed": [0]},
        ["rho", "gamma", "seed"],
    )
    line = by_alpha(values)
    np.testing.assert_allclose(line["alpha"], [0.1 * 0.25, 0.6])
    np.testing.assert_allclose(line.values, [[0.75], [0.25]])
