"""Run the tests as other processors would: `python tests/processors.py [--only NAME] [arguments of pytest]`.

Processors differ in the last bits of sums, products, sin and exp, and training turns a last bit into another model.
Every imitation takes instruction sets away from NumPy, OpenBLAS and XLA; none can add what this machine lacks.
"""

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).resolve().parent

#: XLA flags under which programs compile fast rather than run fast: the tests take about a third less time.
COMPILE_FAST = (
    "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
)

#: Tests of pictures and of a browser: no number that a processor computes decides about them.
WITHOUT_ARITHMETIC = ("plots", "report/test_browser.py")


class Imitation(NamedTuple):
    """A processor that newer ones can imitate: what XLA and OpenBLAS call it, and NumPy's features up to it."""

    isa: str
    core: str
    features: tuple[str, ...]  # beginnings of their names, in the words of NumPy 2.0 to 2.4


SSE = ("X86_V2", "SSE", "SSSE", "POPCNT")
IMITATIONS = {
    "avx2": Imitation("AVX2", "Haswell", (*SSE, "X86_V3", "AVX", "FMA", "F16C")),
    "sse": Imitation("SSE4_2", "Nehalem", SSE),
}
NAMES = ("native", *IMITATIONS)


def numpy_features() -> list[str]:
    """Return the features that NumPy finds in this processor and has written code for."""
    import numpy as np

    return list(np.show_config(mode="dicts")["SIMD Extensions"].get("found", ()))


def beyond(imitation: Imitation, found: Sequence[str]) -> list[str]:
    """Return those of the features `found` that the imitated processor lacks."""
    return [name for name in found if name.startswith("AVX512") or not name.startswith(imitation.features)]


def environment(name: str, machine: str, found: Sequence[str]) -> dict[str, str] | None:
    """Return the variables that make this machine act as processor `name`; None if it cannot, or is that one itself."""
    if name == "native":
        return {"XLA_FLAGS": ""}  # the programs that users run
    imitation = IMITATIONS[name]
    lacking = beyond(imitation, found)
    if machine.lower() not in ("x86_64", "amd64") or not lacking:
        return None
    return {
        "XLA_FLAGS": f"--xla_cpu_max_isa={imitation.isa} {COMPILE_FAST}",
        "NPY_DISABLE_CPU_FEATURES": " ".join(lacking),
        "OPENBLAS_CORETYPE": imitation.core,
    }


def run_script(name: str, script: str, *words: object) -> str:
    """Run a Python script as processor `name` and return what it prints; as this processor if it is no newer."""
    settings = None if name == "native" else environment(name, platform.machine(), numpy_features())
    call = [sys.executable, "-c", script, *map(str, words)]
    own = {**os.environ, **(settings or {})}
    ended = subprocess.run(call, env=own, capture_output=True, text=True, timeout=900, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def command(arguments: Sequence[str]) -> list[str]:
    """Return the call of pytest: the `arguments`, or else all tests that depend on arithmetic, on two processes."""
    everything = ["-n", "2", "--dist", "worksteal", *(f"--ignore={TESTS / name}" for name in WITHOUT_ARITHMETIC)]
    return [sys.executable, "-m", "pytest", *(arguments or everything)]


def pytest_result(call: Sequence[str], own: Mapping[str, str]) -> str:
    """Run pytest and return what came of it."""
    begun = time.monotonic()
    ended = subprocess.run(call, cwd=TESTS.parent, env=own, check=False).returncode
    return f"{'FAILED' if ended else 'passed'} after {time.monotonic() - begun:.0f} s"


def run(names: Sequence[str], arguments: Sequence[str], own: Mapping[str, str]) -> int:
    """Run the tests once for each processor, print what came of them, and return 1 if any run failed, else 0.

    Tests that go from one processor to another imitate them by themselves: unless `arguments` say what to run, they
    come first, once, whatever the `names`.
    """
    machine, found = platform.machine(), numpy_features()
    results = {}
    if not arguments:
        print("\nfrom one processor to another:", flush=True)
        results["between"] = pytest_result(command(["-m", "processors"]), own)
    for name in names:
        settings = environment(name, machine, found)
        if settings is None:
            results[name] = f"left out: this machine ({machine}) is no newer than that, or of another kind"
            continue
        print(f"\n{name}:", *(f"{key}={value!r}" for key, value in settings.items()), flush=True)
        results[name] = pytest_result(command(arguments), {**own, **settings})
    print()
    for name, result in results.items():
        print(f"{name:8}{result}")
    return int(any(result.startswith("FAILED") for result in results.values()))


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=NAMES, action="append", help="one processor; may be given more than once")
    chosen, arguments = parser.parse_known_args()
    return run(chosen.only or NAMES, arguments, os.environ)


if __name__ == "__main__":
    sys.exit(main())
