"""A store, a stream's checkpoint and a comparison begun on one processor go on on another, under a new version.

Native first, then as a processor with AVX2 and then one with SSE4.2 would; each of a named set and of a user's table.
"""

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from heteroscope import open_diagram
from heteroscope.datasets import simulated
from tests.processors import run_script

#: One test target of this set differs by 5.6e-17 between processors with and without AVX-512.
NAMED = "cubic_homoskedastic"
LEGS = ("native", "avx2", "sse")

pytestmark = [pytest.mark.processors, pytest.mark.timeout(1800)]

#: Does all six kinds of work in a folder, each up to its next stop.
WORK = """
import importlib.metadata, json, sys
from pathlib import Path

leg, folder = int(sys.argv[1]), Path(sys.argv[2])
if leg:
    true_version = importlib.metadata.version
    importlib.metadata.version = lambda name: "0.2.0" if name in ("heteroscope", "jax") else true_version(name)

from click.testing import CliRunner

from heteroscope import HeteroskedasticRegressorCV, cli, diagrams
from heteroscope.baselines import MLERegressor
from heteroscope.comparison import compare
from heteroscope.data import open_stream
from heteroscope.training.streaming import rounds

LAST = 2
found = {}


class Stopped(Exception):
    pass


def stopping(told):
    def progress(done, total):
        told.append(done)
        if leg < LAST and done == leg + 1:
            raise Stopped
    return progress


def mapped(data, *words):
    told = []
    whole = diagrams.phase_diagram
    diagrams.phase_diagram = lambda *rows, **settings: whole(*rows, **settings | {"progress": stopping(told)})
    out = folder / f"{Path(data).stem}-map"
    grid = ["--rhos", "0.5,0.9,0.99", "--gammas", "0.5", "--hidden", "4", "--steps", "20", "--apart", "--jobs", "1"]
    ended = CliRunner().invoke(cli.main, ["map", str(data), "--out", str(out), *grid, *words])
    diagrams.phase_diagram = whole
    assert "Stopped" in ended.output if leg < LAST else ended.exit_code == 0, ended.output
    return told


def compared(data, **target):
    told = []
    methods = {"mle": MLERegressor(hidden=(4,), max_steps=20, weight_decay=0.01, held_out=0)}
    try:
        compare(
            data, methods, n_splits=3, out=folder / f"{Path(data).stem}-compare", progress=stopping(told), **target
        )
    except Stopped:
        pass
    return told


def streamed(name, stream):
    stop_at = ("search.npz", "members.npz", "")[leg]
    save = rounds.save_state

    def saving(path, settings, state):
        save(path, settings, state)
        if path.name == stop_at:
            raise Stopped

    rounds.save_state, rounds.ROUND_SECONDS, rounds.CHECKPOINT_SECONDS = saving, 1e-3, 0.0
    model = HeteroskedasticRegressorCV(
        n_coarse=3, n_fine=0, n_members=2, hidden=(4,), max_steps=600, batch_size=32, random_state=0, n_jobs=1
    )
    try:
        model.fit(stream, store=folder / f"{name}-stream")
        return [float(model.rho_), *model.predict(stream.read(0, 5)[0]).tolist()]
    except Stopped:
        return None
    finally:
        rounds.save_state = save


if __name__ == "__main__":
    table = folder / "table.csv"
    found["named store"] = mapped("NAMED")
    found["table store"] = mapped(table, "--target", "y", "--missing", "impute")
    found["named comparison"] = compared("NAMED")
    found["table comparison"] = compared(table, target="y", missing="impute", protocol="paper")
    found["named stream"] = streamed("named", open_stream((folder / "x.npy", folder / "y.npy")))
    found["table stream"] = streamed("table", open_stream(folder / "table.parquet", "y"))
    print(json.dumps(found))
""".replace("NAMED", NAMED)


def state(folder):
    """What checkpoints and records hold that later legs may only add to."""
    kept = [*folder.rglob("records/*.json"), *folder.rglob("choice.json")]
    return {path: path.read_text() for path in kept}


@pytest.fixture(scope="module")
def legs(tmp_path_factory):
    """What each leg was told, what lay in the folder after it, and the folder."""
    folder = tmp_path_factory.mktemp("resuming")
    split, _ = simulated.draw(NAMED, n_train=640)
    np.save(folder / "x.npy", split.x_train)
    np.save(folder / "y.npy", split.y_train)
    random = np.random.default_rng(0)
    a = random.standard_normal(96)  # of which 64 are trained on, as of the named set: both share compiled programs
    frame = pd.DataFrame({"a": np.where(random.random(96) < 0.1, np.nan, a), "y": np.sin(a) + 0.1 * a})
    frame.to_csv(folder / "table.csv", index=False)
    whole = pd.read_csv(folder / "table.csv").dropna()
    pd.concat([whole] * 8).to_parquet(folder / "table.parquet", index=False)
    told, kept = [], []
    for number, processor in enumerate(LEGS):
        told.append(json.loads(run_script(processor, WORK, number, folder)))
        kept.append(state(folder))
    return told, kept, folder


@pytest.mark.parametrize("data", ["named", "table"])
def test_a_store_goes_on(legs, data):
    told, _, folder = legs
    assert [leg[f"{data} store"] for leg in told] == [[0, 1], [1, 2], [2, 3]], "each leg trains one tile more"
    found = open_diagram(folder / f"{NAMED if data == 'named' else 'table'}-map")
    assert (found["phase"] != "").all()
    assert np.isfinite(found["nll"]).all()
    assert "heteroscope" in found.attrs
    assert "jax" in found.attrs


@pytest.mark.parametrize("data", ["named", "table"])
def test_a_comparison_goes_on(legs, data):
    told, kept, _ = legs
    assert [leg[f"{data} comparison"] for leg in told] == [[1], [1, 2], [1, 2, 3]]
    records = f"{NAMED if data == 'named' else 'table'}-compare/records"
    numbers = [sum(path.match(f"{records}/*.json") for path in leg) for leg in kept]
    assert numbers == [1, 2, 3], "each leg fits one split more"
    for before, after in pairwise(kept):
        assert before.items() <= after.items(), "and what was there is not fitted again"


@pytest.mark.parametrize("data", ["named", "table"])
def test_a_stream_goes_on_with_the_model_that_was_chosen(legs, data):
    told, kept, folder = legs
    store = folder / f"{data}-stream"
    assert [leg[f"{data} stream"] is None for leg in told] == [True, True, False]
    assert np.isfinite(told[-1][f"{data} stream"]).all()
    chosen = store / "choice.json"
    assert chosen not in kept[0]
    assert kept[1][chosen] == kept[2][chosen]
    for name in ("search", "members"):
        with np.load(store / f"{name}.npz") as saved:
            assert json.loads(str(saved["plain"]))["stage"] == 2, "trained to the end"
