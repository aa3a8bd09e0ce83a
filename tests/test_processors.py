"""Imitated processors: what is taken away, that it is really gone, and that a caller's own settings stay."""

import json
import os
import platform
import subprocess
import sys

import pytest

from tests import processors
from tests.processors import COMPILE_FAST, IMITATIONS, NAMES, beyond, environment

NEW = ["X86_V3", "X86_V4", "AVX512_ICL"]  # NumPy 2.4's words
OLD = ["SSSE3", "SSE41", "POPCNT", "SSE42", "AVX", "F16C", "FMA3", "AVX2", "AVX512F", "AVX512_SKX"]  # NumPy 2.0's


@pytest.mark.parametrize(
    ("name", "found", "lacking"),
    [
        ("avx2", NEW, ["X86_V4", "AVX512_ICL"]),
        ("sse", NEW, NEW),
        ("avx2", OLD, ["AVX512F", "AVX512_SKX"]),
        ("sse", OLD, OLD[4:]),
        ("avx2", OLD[:-2], []),
    ],
)
def test_an_imitation_lacks_what_came_after_it(name, found, lacking):
    assert beyond(IMITATIONS[name], found) == lacking


def test_a_machine_imitates_only_older_ones_of_its_kind():
    def possible(machine, found):
        return [name for name in NAMES if environment(name, machine, found) is not None]

    assert possible("x86_64", NEW) == ["native", "avx2", "sse"]
    assert possible("AMD64", ["X86_V3"]) == ["native", "sse"]
    assert possible("x86_64", []) == ["native"]
    assert possible("aarch64", ["ASIMDHP", "SVE"]) == ["native"]


SEEN = """
import json
import numpy as np
used = {kind["current"] for kinds in np.lib.introspect.opt_func_info().values() for kind in kinds.values()}
print(json.dumps([np.show_config(mode="dicts")["SIMD Extensions"].get("found", []), sorted(used)]))
"""


@pytest.mark.parametrize("name", IMITATIONS)
def test_numpy_uses_nothing_that_the_imitated_processor_lacks(name):
    own = {key: value for key, value in os.environ.items() if key != "NPY_DISABLE_CPU_FEATURES"}

    def seen(**settings):
        script = [sys.executable, "-W", "error", "-c", SEEN]
        return json.loads(subprocess.run(script, env=own | settings, capture_output=True, text=True, check=True).stdout)

    found, used = seen()
    settings = environment(name, platform.machine(), found)
    if settings is None:
        pytest.skip("this machine is no newer than that, or of another kind")
    lacking = set(beyond(IMITATIONS[name], found))
    assert lacking & set(used), "NumPy takes the newest code that it may"
    found, used = seen(**settings)
    assert not lacking & {*found, *used}


def test_a_script_runs_as_another_processor_would():
    shown = processors.run_script("native", "import os, sys; print(os.environ['XLA_FLAGS'], *sys.argv[1:])", 1, "two")
    assert shown == f"{os.environ['XLA_FLAGS']} 1 two\n"
    if environment("sse", platform.machine(), processors.numpy_features()) is not None:
        shown = processors.run_script("sse", "import os; print(os.environ['XLA_FLAGS'])")
        assert "max_isa=SSE4_2" in shown
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        processors.run_script("native", "1 / 0")


@pytest.mark.parametrize("flags", ["", "--xla_cpu_max_isa=SSE4_2"])
def test_tests_run_under_the_flags_of_the_caller_with_programs_of_their_own(flags, tmp_path):
    script = (
        "import json, os; from tests.conftest import SETTINGS; print(json.dumps([os.environ[k] for k in SETTINGS]))"
    )

    def seen(environment):
        run = [sys.executable, "-c", script]
        root = processors.TESTS.parent
        out = subprocess.run(run, env=environment, cwd=root, capture_output=True, text=True, check=True)
        return json.loads(out.stdout)

    own = {key: value for key, value in os.environ.items() if not key.startswith(("JAX_", "XLA_"))}
    default, given = seen(own), seen(own | {"XLA_FLAGS": flags})
    assert (default[0], given[0]) == (COMPILE_FAST, flags)
    assert default[1] != given[1], "a program compiled for one processor is not read by another"
    assert default[2:] == given[2:]
    assert seen(own | {"JAX_COMPILATION_CACHE_DIR": str(tmp_path)})[1] == str(tmp_path)


def test_each_processor_runs_and_one_failure_fails_all(monkeypatch, capfd):
    monkeypatch.setattr(processors, "numpy_features", lambda: NEW)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    failing = "import os, sys; sys.exit('AVX2' in os.environ['XLA_FLAGS'])"
    monkeypatch.setattr(processors, "command", lambda _: [sys.executable, "-c", failing])
    own = os.environ | {
        "NPY_DISABLE_CPU_FEATURES": "",
        "XLA_FLAGS": "",
    }  # this test may itself run as another processor
    assert processors.run(["native", "sse"], [], own) == 0
    assert processors.run(NAMES, [], own) == 1
    *_, between, native, avx2, sse = capfd.readouterr().out.splitlines()
    assert [line.split()[:2] for line in (between, native, avx2, sse)] == [
        ["between", "passed"],
        ["native", "passed"],
        ["avx2", "FAILED"],
        ["sse", "passed"],
    ]
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert processors.run(NAMES, [], own) == 0
    assert "sse     left out: this machine (aarch64)" in capfd.readouterr().out
