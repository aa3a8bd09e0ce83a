"""Random faults for as long as SOAK_MINUTES says: flipped bits, power cuts, swapped columns, fuzzed calls.

The seed is printed; `SOAK_SEED=... make soak` makes the same faults again. Nothing may be lost or silently different,
and every refusal is one line.
"""

import os
import random
import secrets
import shutil
import time
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from heteroscope import HeteroskedasticRegressor, load_model, open_diagram, phase_diagram, save_model
from heteroscope.core.errors import FarRowsWarning, InputError, StoreWarning
from heteroscope.data import open_stream, survey_stream
from heteroscope.model_files import load_bundle
from tests.cli.commands import POINT, run, table
from tests.power_cut import PowerCut, PowerFailure

MINUTES = float(os.environ.get("SOAK_MINUTES", "1"))
SEED = int(os.environ.get("SOAK_SEED") or secrets.randbelow(2**32))
SWEEP = {"rhos": [0.5, 0.9], "gammas": [0.1, 0.9], "hidden": (4,), "max_steps": 20, "n_jobs": 1}

pytestmark = [pytest.mark.soak, pytest.mark.timeout(60 * MINUTES + 1800)]


def rows(n=24):
    chance = np.random.default_rng(0)
    x = chance.standard_normal((n, 2))
    return x, x[:, 0] + 0.3 * chance.standard_normal(n)


@pytest.fixture(scope="module")
def model():
    return HeteroskedasticRegressor(0.9, 0.1, hidden=(4,), max_steps=20, random_state=0, n_jobs=1).fit(*rows())


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    folder = tmp_path_factory.mktemp("soak") / "sweep"
    return folder, phase_diagram(*rows(), **SWEEP, store=folder)


@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    folder = tmp_path_factory.mktemp("soak") / "stream"
    folder.mkdir()
    x, y = rows(600)
    pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": y}).to_parquet(folder / "table.parquet")
    return folder / "table.parquet"


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("soak")
    table().to_csv(folder / "table.csv", index=False)
    assert run("fit", folder / "table.csv", "--target", "y", "--out", folder / "model", *POINT).exit_code == 0
    return folder / "model"


def damage(folder, chance):
    """Flip a bit of a random file, cut it short, empty it, remove it, or put another one in its place."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    file = chance.choice(files)
    content = bytearray(file.read_bytes())
    what = chance.choice(["flip", "flip", "flip", "cut", "empty", "remove", "swap"])
    if what == "flip" and content:
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        file.write_bytes(content)
    elif what == "cut":
        file.write_bytes(content[: chance.randrange(len(content) + 1)])
    elif what == "empty":
        file.write_bytes(b"")
    elif what == "remove":
        file.unlink()
    else:
        file.write_bytes(chance.choice(files).read_bytes())


def result_or_refusal(call):
    """What the call returns and None, or None and the one line with which it refuses."""
    try:
        return call(), None
    except InputError as error:
        message = str(error)
    assert message.isprintable()
    return None, message


def damaged_model(place, chance, model, **_):
    folder = save_model(model, place / "model")
    damage(folder, chance)
    found, refusal = result_or_refusal(lambda: load_model(folder))
    if refusal:
        return
    np.testing.assert_array_equal(found.predict(rows()[0], return_std=True), model.predict(rows()[0], return_std=True))


def damaged_sweep(place, chance, sweep, **_):
    folder = shutil.copytree(sweep[0], place / "sweep")
    for _ in range(chance.randrange(1, 4)):
        damage(folder, chance)
    found, refusal = result_or_refusal(lambda: open_diagram(folder))
    if not refusal:
        done = found.phase != ""
        assert (found.nll.where(done) == sweep[1].nll.where(done)).where(done, True).all()
    again, refusal = result_or_refusal(lambda: phase_diagram(*rows(), **SWEEP, store=folder))
    if refusal:  # the settings are in no file any more
        assert "was not written by a sweep, or is damaged" in refusal
        return
    np.testing.assert_array_equal(again.nll, sweep[1].nll)
    np.testing.assert_array_equal(again.phase, sweep[1].phase)


def cut_while_a_model_is_replaced(place, chance, model, **_):
    root = place / "disk"
    save_model(model, root / "model")
    other = load_bundle(root / "model").model
    other.std_scale_ = 2.0
    with pytest.MonkeyPatch.context() as patch, suppress(PowerFailure):
        cut = PowerCut(root, patch, chance.randrange(1, 8))
        save_model(other, root / "model")
    after = cut.disk(place / "after", chance.choice(["synced", "names", "some"]), chance.random())
    assert load_bundle(after / "model").model.std_scale_ in (1.0, 2.0)


def cut_while_a_sweep_runs(place, chance, sweep, **_):
    root = place / "disk"
    root.mkdir()
    with pytest.MonkeyPatch.context() as patch, suppress(PowerFailure):
        cut = PowerCut(root, patch, chance.randrange(1, 200))
        phase_diagram(*rows(), **SWEEP, store=root / "sweep")
    after = cut.disk(place / "after", chance.choice(["synced", "names", "some"]), chance.random())
    again = phase_diagram(*rows(), **SWEEP, store=after / "sweep")
    np.testing.assert_array_equal(again.nll, sweep[1].nll)


def damaged_survey(place, chance, stream, **_):
    names = chance.sample(["a", "b"], 2)
    opened = open_stream(stream, "y", names)
    first = survey_stream(opened, keep=place)
    damage(place, chance)
    again = survey_stream(open_stream(stream, "y", chance.sample(names, 2)), keep=place)
    if again.scaling.x_centre[0] == first.scaling.x_centre[0]:
        np.testing.assert_array_equal(again.held.x, first.held.x)
    else:  # the columns were swapped: a survey of their own
        np.testing.assert_array_equal(again.held.x, first.held.x[:, ::-1])


def fuzzed_prediction(place, chance, fitted, **_):
    def number():
        return chance.choice([chance.gauss(0, 1), chance.gauss(0, 10.0 ** chance.randrange(-320, 308)), -999.0, 3e38])

    new = pd.DataFrame({"a": [number() for _ in range(5)], "town": [chance.choice(["Bern", "Oslo"]) for _ in range(5)]})
    text = new.to_csv(index=False)
    if chance.random() < 0.3:  # a character somewhere
        cut = chance.randrange(len(text))
        text = text[:cut] + chance.choice([",", "\n", '"', "x", "\x00", "\u202e", "e", "-"]) + text[cut:]
    (place / "new.csv").write_text(text)
    result = run("predict", fitted, place / "new.csv", "--out", place / "out.csv")
    if result.exit_code:
        assert result.stderr.splitlines()[-1].startswith("Error: ")
        assert "unexpected" not in result.stderr
        assert not (place / "out.csv").exists()
        return
    found = pd.read_csv(place / "out.csv")[["mean", "std", "lower", "upper"]].to_numpy()
    assert np.isfinite(found).all()
    assert (found[:, 1] > 0).all()


FAULTS = [
    damaged_model,
    damaged_sweep,
    cut_while_a_model_is_replaced,
    cut_while_a_sweep_runs,
    damaged_survey,
    fuzzed_prediction,
]


def test_random_faults(model, sweep, stream, fitted, tmp_path, capsys):
    with capsys.disabled():
        print(f"\nSOAK_SEED={SEED} SOAK_MINUTES={MINUTES:g}")
    end, number = time.monotonic() + 60 * MINUTES, 0
    warnings.simplefilter("ignore", StoreWarning)
    warnings.simplefilter("ignore", FarRowsWarning)
    while time.monotonic() < end:
        chance = random.Random(f"{SEED} {number}")
        fault, place = FAULTS[number % len(FAULTS)], Path(tmp_path / str(number))
        place.mkdir()
        try:
            fault(place, chance, model=model, sweep=sweep, stream=stream, fitted=fitted)
        except BaseException:
            with capsys.disabled():
                print(f"\nfault {number}, {fault.__name__}: SOAK_SEED={SEED} runs it again; its files are in {place}")
            raise
        shutil.rmtree(place)
        number += 1
    with capsys.disabled():
        print(f"{number} faults")
