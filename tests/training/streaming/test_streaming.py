"""Many models on one stream: optax's Adam as oracle, the same numbers however rounds are cut, killed or shared out."""

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from pathlib import Path

import jax
import numpy as np
import optax
import pytest

from heteroscope.core.errors import InputError, StoreWarning
from heteroscope.core.provenance import computed_with
from heteroscope.core.regularisation import Strengths, strengths
from heteroscope.core.status import Status
from heteroscope.data.rows import Batch
from heteroscope.data.streams import open_stream
from heteroscope.data.streams.batches import read_chunks
from heteroscope.networks import Architecture, init_params
from heteroscope.networks.ensemble import predict_members
from heteroscope.networks.objectives import mean_objective
from heteroscope.training.recipes import Recipe, mean_first_recipe
from heteroscope.training.schedules import cosine_adam
from heteroscope.training.stages import Stage
from heteroscope.training.steps import Job, ModelState
from heteroscope.training.streaming import rounds
from heteroscope.training.streaming.checkpoint import StreamState, load_state, save_state
from heteroscope.training.streaming.rounds import StreamTraining, evaluation_steps, train_on_stream
from heteroscope.training.streaming.stream_run import start_stream_run
from heteroscope.training.streaming.worker import RoundEvaluation, RoundOutcome, StreamRound
from tests.data.streams.small_tables import make_table, write_npy
from tests.power_cut import PowerCut, PowerFailure

STEPS = 1200
JOBS = [Job(t, -t, 0) for t in (0.0, 4.0, 8.0)]
ARCHITECTURE = Architecture(3, (8, 8))
RECIPE = mean_first_recipe(ARCHITECTURE, STEPS, "cosine", 50)


def read(members, x, scaling):
    return predict_members(members, x, scaling, ARCHITECTURE.activation)


def training_on(stream, store=None, recipe=RECIPE, jobs=JOBS, drop_losing=False):
    run = start_stream_run(stream, 0.1, 50, 7, store, None, 0)
    return StreamTraining(
        run.order, jobs, recipe, RoundEvaluation(run.survey.sample, run.survey.held, read), drop_losing
    )


def numbers(fits):
    return jax.tree.leaves([(fit.params, fit.objective, fit.relative_gradient, fit.steps) for fit in fits])


def assert_same(fits, others):
    for one, other in zip(numbers(fits), numbers(others), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.fixture(scope="module")
def whole(stream):
    return train_on_stream(training_on(stream))


def test_steps_are_those_of_another_adam(stream):
    n_steps = 40
    recipe = Recipe(ARCHITECTURE, (Stage(mean_objective, ("mean",), cosine_adam(n_steps)),), 50, retires=False)
    training = training_on(stream, recipe=recipe, jobs=JOBS[1:2])
    (fit,) = train_on_stream(training, in_workers=False)

    params = init_params(0, ARCHITECTURE)
    single = Strengths(*(np.float32(value) for value in strengths(4.0, -4.0)))
    schedule = optax.warmup_cosine_decay_schedule(0.0, 2e-2, 1, n_steps)
    adam = optax.chain(optax.clip_by_global_norm(1000.0), optax.adam(schedule, b2=0.95, eps=1e-15))

    def loss(mean, batch):
        return sum(mean_objective(params._replace(mean=mean), batch, single, ARCHITECTURE.activation))

    @jax.jit
    def step(mean, state, batch):
        updates, state = adam.update(jax.grad(loss)(mean, batch), state, mean)
        return optax.apply_updates(mean, updates), state

    mean, chunk = params.mean, next(read_chunks(training.order, 0))
    state = adam.init(mean)
    for k in range(n_steps):
        mean, state = step(mean, state, Batch(chunk.x[k], chunk.y[k], np.ones(50, np.float32)))
    for ours, theirs in zip(jax.tree.leaves(fit.params.mean), jax.tree.leaves(mean), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-3, atol=2e-5)
    assert fit.status == Status.OUT_OF_STEPS


def test_more_likelihood_fits_better(whole):
    assert whole[0].objective > whole[1].objective > whole[2].objective


def test_the_same_numbers_with_two_workers_and_however_rounds_are_cut(stream, whole, monkeypatch):
    monkeypatch.setattr(rounds, "ROUND_SECONDS", 0.2)
    assert_same(train_on_stream(training_on(stream), n_jobs=2), whole)


def test_a_model_alone_has_the_numbers_it_has_among_others(stream, whole):
    assert_same(train_on_stream(training_on(stream, jobs=JOBS[1:2])), whole[1:2])


ROOT = Path(__file__).parents[3]
KILLED = """
    import sys
    from pathlib import Path

    sys.path.insert(0, sys.argv[1])
    from heteroscope.training.streaming import rounds
    from heteroscope.data import open_stream
    from tests.training.streaming.test_streaming import training_on

    rounds.ROUND_SECONDS, rounds.CHECKPOINT_SECONDS = 0.02, 0.0
    data, store = Path(sys.argv[2]), Path(sys.argv[3])
    stream = open_stream((data / "x.npy", data / "y.npy"))
    rounds.train_on_stream(training_on(stream, store), checkpoint=store / "run.npz")
"""


def test_a_killed_run_goes_on_to_the_same_result(stream, npy_paths, whole, tmp_path):
    store = tmp_path / "run"
    command = [sys.executable, "-c", textwrap.dedent(KILLED), ROOT, npy_paths[0].parent, store]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    while not (store / "run.npz").exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    with np.load(store / "run.npz") as saved:
        assert '"stage": 2' not in str(saved["plain"])  # killed before its end
    reported = []
    fits = train_on_stream(
        training_on(stream, store),
        checkpoint=store / "run.npz",
        progress=lambda *steps: reported.append(steps),
    )
    assert_same(fits, whole)
    assert reported[-1] == (STEPS, STEPS)
    reported.clear()
    train_on_stream(
        training_on(stream, store), checkpoint=store / "run.npz", progress=lambda *one: reported.append(one)
    )
    assert not reported  # nothing is left to do


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(3))
def test_a_run_that_is_killed_again_and_again_goes_on_to_the_same_result(stream, npy_paths, whole, tmp_path, seed):
    chance, store = random.Random(seed), tmp_path / "run"
    command = [sys.executable, "-c", textwrap.dedent(KILLED), ROOT, npy_paths[0].parent, store]
    killed = 0
    for _ in range(8):
        before = (store / "run.npz").stat().st_mtime_ns if killed else None
        process = subprocess.Popen(command)
        while process.poll() is None and not (
            (store / "run.npz").exists() and (store / "run.npz").stat().st_mtime_ns != before
        ):
            time.sleep(0.01)
        time.sleep(chance.uniform(0.0, 0.2))
        if process.poll() is not None:  # it came to its end
            assert process.returncode == 0
            break
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        killed += 1
    assert killed
    assert_same(train_on_stream(training_on(stream, store), checkpoint=store / "run.npz"), whole)


def test_a_file_that_changes_under_the_run_stops_it_and_nothing_is_lost(tmp_path, whole, monkeypatch):
    monkeypatch.setattr(rounds, "CHECKPOINT_SECONDS", 0.0)
    table = make_table()
    paths = write_npy(tmp_path / "data", table)
    training, checkpoint = training_on(open_stream(paths)), tmp_path / "run" / "run.npz"

    def change(done, total):
        np.save(paths[1], table.y + 1)

    with pytest.raises(InputError, match=r"y.npy has changed since the run began"):
        train_on_stream(training, checkpoint=checkpoint, progress=change)
    with pytest.raises(
        InputError,
        match=r"holds a run of other settings \(.*y.npy has changed\): use these again and restore the files",
    ):
        train_on_stream(training, checkpoint=checkpoint)
    np.save(paths[1], table.y)
    assert_same(train_on_stream(training, checkpoint=checkpoint), whole)
    with pytest.raises(InputError, match=r"\(models was \[0, 0, 0\] and is now \[0, 0\]\)"):
        train_on_stream(training._replace(jobs=JOBS[:2]), checkpoint=checkpoint)
    checkpoint.write_bytes(checkpoint.read_bytes()[:1000])
    with pytest.warns(StoreWarning, match=r"run.npz is damaged .*: this part of the run begins anew"):
        assert_same(train_on_stream(training, checkpoint=checkpoint), whole)


def test_a_checkpoint_says_what_else_computed_a_part_of_it(stream, tmp_path, monkeypatch):
    path, settings = tmp_path / "run.npz", {"points": 3}
    beginning = rounds._first_state(training_on(stream))
    now = computed_with()
    monkeypatch.setattr("heteroscope.training.streaming.checkpoint.computed_with", lambda: now | {"numpy": "1.0"})
    save_state(path, settings, beginning)
    with pytest.warns(StoreWarning, match=r"continues with 1 parts .*numpy was 1.0 and is now"):
        state = load_state(path, settings, beginning)
    monkeypatch.undo()
    save_state(path, settings, state)
    with pytest.warns(StoreWarning, match="numpy was 1.0"):
        assert load_state(path, settings, beginning).computed_with == (now | {"numpy": "1.0"}, now)


@pytest.mark.parametrize("last", [1, 2, 3])
def test_after_a_power_cut_there_is_the_old_checkpoint_or_the_new_one(stream, tmp_path, monkeypatch, last):
    root = tmp_path / "disk"
    root.mkdir()
    beginning = rounds._first_state(training_on(stream))
    save_state(root / "run.npz", {}, beginning)
    with monkeypatch.context() as patch, suppress(PowerFailure):
        cut = PowerCut(root, patch, last)
        save_state(root / "run.npz", {}, beginning._replace(done=50))
    found = load_state(cut.disk(tmp_path / "after", "some") / "run.npz", {}, beginning._replace(done=7))
    assert found.done in ((0, 50) if last == 1 else (50,))


def test_a_worker_tells_in_one_line_what_is_wrong_with_the_data(tmp_path):
    table = make_table()
    paths = write_npy(tmp_path, table)
    training = training_on(open_stream(paths))
    table.x[1234, 2] = np.nan
    np.save(paths[0], table.x)
    with pytest.raises(InputError, match="row 1,234 has nan in column 'x2'") as caught:
        train_on_stream(training)
    assert "\n" not in str(caught.value)


class TerminatedWorkerError(Exception):
    """As joblib calls it."""


def test_a_lost_worker_costs_its_group_and_not_the_run(stream, monkeypatch):
    asked = []

    def loses_a_worker(work, calls, n_jobs):
        asked.append([index for index, *_ in calls])
        index, _, models = calls[-1]
        yield index, RoundOutcome([model._replace(key="trained") for model in models], [], [])
        if len(calls) > 1:
            raise TerminatedWorkerError

    def loses_all(work, calls, n_jobs):
        raise TerminatedWorkerError
        yield

    wide = mean_first_recipe(Architecture(3, (512, 512)), STEPS, "cosine", 50)  # one model a lane
    task = StreamRound(training_on(stream).order, wide, wide.stages[0], 0, 1, None)
    monkeypatch.setattr(rounds, "run_tasks", loses_a_worker)
    models = [ModelState(None, name, None, None) for name in "ab"]
    found = rounds._train_groups(task, models, n_jobs=2).models
    assert [(model.optimiser_state, model.key) for model in found] == [("a", "trained"), ("b", "trained")]
    assert asked == [[0, 1], [0]]
    monkeypatch.setattr(rounds, "run_tasks", loses_all)
    with pytest.raises(TerminatedWorkerError):
        rounds._train_groups(task, models, n_jobs=2)


def test_evaluations_come_early_and_then_every_eighth():
    assert evaluation_steps(100) == [100]
    assert evaluation_steps(700) == [250, 500, 700]
    assert evaluation_steps(8000) == [250, 500, *range(1000, 8001, 1000)]


def state_with(curves, done):
    n = len(curves)
    return StreamState(1, done, [None] * n, [None] * n, [0] * n, [False] * n, [False] * n, curves)


def test_only_points_that_cannot_win_are_dropped(stream):
    recipe = mean_first_recipe(ARCHITECTURE, 12_444, "cosine", 50)  # 11,200 steps of the second stage
    training = training_on(
        stream, recipe=recipe, jobs=[Job(float(t), -float(t), 0) for t in range(6)], drop_losing=True
    )
    scale = np.log(training.order.scaling.y_scale)
    constant = scale + 1.42
    curves = [
        [constant, constant],  # flat: hopeless
        [constant, constant - 0.3],  # far, but fast enough to come
        [scale + 0.5, scale + 0.2],  # beside the best
        [scale + 0.5, scale],  # the best
        [constant, constant],  # flat, but beside the best
        [scale + 0.05, scale + 0.05],  # slow, but nearly there
    ]
    dropped = rounds._drop_losing_points(training, state_with(curves, done=4200)).dropped
    assert dropped == [True, False, False, False, False, False]
    assert not any(rounds._drop_losing_points(training, state_with(curves, done=4000)).dropped)  # too early
