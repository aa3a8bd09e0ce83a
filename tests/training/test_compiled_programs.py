"""Programs on disk: written once, read by the next process, never in the way."""

import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import jax
import pytest

from heteroscope.training import compiled_programs as programs

FIT = """
import numpy as np
from heteroscope.training.workers import prepare_worker
from heteroscope.networks import Architecture
from heteroscope.data import Batch
from heteroscope.training.recipes import mean_first_recipe
from heteroscope.training.steps import Job
from heteroscope.training.tile import train_tile

prepare_worker()
x = np.linspace(-1, 1, 32, dtype=np.float32)[:, None]
recipe = mean_first_recipe(Architecture(1, (8,)), 20)
(fit,) = train_tile(Batch(x, np.sin(6 * x[:, 0]), np.ones(32, np.float32)), [Job(2.0, -2.0, 0)], recipe)
print(repr(fit.objective))
"""


@pytest.fixture
def fit_in_a_new_process(tmp_path):
    def fit(**settings) -> str:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
        environment |= {"XDG_CACHE_HOME": str(tmp_path), "XLA_FLAGS": ""} | settings
        done = subprocess.run([sys.executable, "-c", FIT], env=environment, capture_output=True, text=True, check=True)
        assert not done.stderr
        return done.stdout

    return fit


def kept(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*-cache")}


@pytest.mark.skipif(not programs.reads_its_own_programs(), reason="XLA refuses its own programs on this processor")
def test_a_second_process_reads_what_the_first_compiled(fit_in_a_new_process, tmp_path):
    first = fit_in_a_new_process()
    written = kept(tmp_path)
    assert any("rows_program" in path.name for path in written)
    assert fit_in_a_new_process() == first
    assert written.items() <= kept(tmp_path).items()  # quick ones may be kept by the second only
    for path in written:  # as if their writer had been killed
        path.write_bytes(path.read_bytes()[:100])
    assert fit_in_a_new_process() == first


def test_without_a_place_to_write_nothing_is_kept(fit_in_a_new_process, tmp_path):
    a_file = tmp_path / "file"
    a_file.write_text("")
    fit_in_a_new_process(XDG_CACHE_HOME=str(a_file), XLA_FLAGS=os.environ["XLA_FLAGS"])
    assert not kept(tmp_path)


def test_a_folder_that_jax_was_given_is_left_alone():
    before = jax.config.jax_compilation_cache_dir
    assert before  # the tests' own
    programs.keep_programs()
    assert jax.config.jax_compilation_cache_dir == before


def test_every_kind_of_processor_has_its_own_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    here = programs.program_folder()
    assert here.is_relative_to(tmp_path)
    assert here == programs.program_folder()
    monkeypatch.setattr(programs.platform, "machine", lambda: "another")
    assert programs.program_folder() != here


@pytest.mark.parametrize(
    ("vendor", "gathers", "keeps"),
    [
        ("AuthenticAMD", None, True),
        ("GenuineIntel", "Not affected", True),
        ("GenuineIntel", "Mitigation: Microcode", False),
        ("GenuineIntel", None, False),
    ],
)
def test_processors_that_refuse_their_own_programs_keep_none(monkeypatch, tmp_path, vendor, gathers, keeps):
    told = tmp_path / "gather_data_sampling"
    if gathers:
        told.write_text(f"{gathers}\n")
    monkeypatch.setattr(programs, "SLOW_GATHERS", told)
    monkeypatch.setattr(programs, "_processor", lambda: f"vendor_id : {vendor}")
    assert programs.reads_its_own_programs() is keeps


def test_the_oldest_go_first(tmp_path):
    for age, name in enumerate(["new", "older", "oldest"]):
        (tmp_path / name).write_bytes(bytes(100))
        os.utime(tmp_path / name, (10_000 - age, 10_000 - age))
    programs.remove_oldest(tmp_path, 250)
    assert {path.name for path in tmp_path.iterdir()} == {"new", "older"}
    programs.remove_oldest(tmp_path, 0)
    assert not list(tmp_path.iterdir())


class Program(jax.stages.Lowered):
    """What `compile_together` asks of a lowered program, without anything to trace or to compile."""

    __slots__ = ("compiled", "traced")

    def __init__(self) -> None:
        self.traced, self.compiled = threading.Event(), threading.Event()

    def trace(self) -> "Program":
        self.traced.set()
        return self

    def compile(self) -> None:
        self.compiled.set()


@pytest.fixture
def shared_folder(tmp_path):
    before = jax.config.jax_compilation_cache_dir
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    yield tmp_path
    jax.config.update("jax_compilation_cache_dir", before)


def test_what_another_process_compiles_is_waited_for_while_the_rest_is_done(shared_folder):
    theirs, ours = Program(), Program()
    both = {"theirs": theirs.trace, "ours": ours.trace}
    with programs._lock(shared_folder, "theirs"):
        at_work = threading.Thread(target=programs.compile_together, args=(both,))
        at_work.start()
        assert ours.compiled.wait(10)
        assert theirs.traced.wait(10)
        assert not theirs.compiled.wait(0.2)
    at_work.join(10)
    assert theirs.compiled.is_set()


def test_without_a_shared_folder_nothing_is_compiled_ahead(shared_folder):
    jax.config.update("jax_compilation_cache_dir", str(shared_folder / "nowhere"))
    alone = Program()
    programs.compile_together({"alone": alone.trace})
    assert not alone.traced.is_set()
    assert not (shared_folder / "nowhere").exists()


def test_a_process_forgets_programs_before_they_are_too_many(monkeypatch):
    monkeypatch.setattr(programs, "_shapes", set())
    cleared = []
    monkeypatch.setattr(programs.jax, "clear_caches", lambda: cleared.append(len(programs._shapes)))
    assert all(programs.count_shape(shape) for shape in range(programs.MOST_SHAPES))
    assert not programs.count_shape(3)
    assert not cleared
    assert programs.count_shape("one more")
    assert cleared == [programs.MOST_SHAPES]
    assert programs.count_shape(3), "it was forgotten"


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """A user's cache folder, which JAX is not yet told of."""
    told = {}
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(programs, "reads_its_own_programs", lambda: True)
    monkeypatch.setattr(programs, "_setting", told.get)
    monkeypatch.setattr(programs.jax.config, "update", told.__setitem__)
    with warnings.catch_warnings():  # those that `keep_programs` hides stay hidden only here
        yield told


def test_the_folder_is_closed_to_others(cache):
    folder = programs.program_folder()
    folder.mkdir(parents=True, mode=0o777)
    folder.parent.chmod(0o777)
    programs.keep_programs()
    assert cache["jax_compilation_cache_dir"] == str(folder)
    assert all(path.stat().st_mode & 0o777 == 0o700 for path in (folder, *folder.parents[:2]))


def test_folders_of_other_users_are_not_used(cache, tmp_path, monkeypatch):
    folder = programs.program_folder()
    folder.mkdir(parents=True)
    if os.getuid() == 0:  # whose folders are trusted
        os.chown(folder, 12345, -1)
    else:
        monkeypatch.setattr(programs.os, "getuid", lambda: folder.stat().st_uid + 1)
    with pytest.warns(UserWarning, match="belongs to another user"):
        programs.keep_programs()
    assert not cache


def test_folders_that_others_may_write_to_are_not_used(cache, tmp_path):
    tmp_path.chmod(0o777)
    with pytest.warns(UserWarning, match=f"{tmp_path} belongs to another user or may be written to by others"):
        programs.keep_programs()
    assert not cache
    tmp_path.chmod(0o1777)  # as /tmp: others may add files, but not replace ours
    programs.keep_programs()
    assert cache


def test_a_link_to_another_folder_is_not_used(cache, tmp_path):
    folder = programs.program_folder()
    folder.parent.mkdir(parents=True)
    (tmp_path / "shared").mkdir()
    folder.symlink_to(tmp_path / "shared")
    with pytest.warns(UserWarning, match="compiled programs are not kept"):
        programs.keep_programs()
    assert not cache


def test_the_folder_is_bounded_while_it_is_used(cache, monkeypatch):
    monkeypatch.setattr(programs, "KEPT_BYTES", 250)
    programs.keep_programs()
    folder = programs.program_folder()
    for number in range(5):
        (folder / f"{number}-cache").write_bytes(b"1" * 100)
        os.utime(folder / f"{number}-cache", (number, number))
        programs.bound_folder()
    assert sorted(path.name for path in folder.iterdir()) == ["3-cache", "4-cache"]
