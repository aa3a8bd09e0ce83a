"""Run a script as another processor would: instruction sets taken away from NumPy, OpenBLAS and XLA."""

import os
import platform
import subprocess
import sys

import numpy as np

#: Beginnings of NumPy's names for the features that a processor lacks, and what XLA and OpenBLAS call it.
LACKS = {
    "native": ((), "", ""),
    "avx2": (("X86_V4", "AVX512"), "AVX2", "Haswell"),
    "sse": (("X86_V4", "AVX", "X86_V3", "FMA", "F16C"), "SSE4_2", "Nehalem"),
}


def environment(name):
    """The variables that make this machine act as that processor; those of the tests if it cannot, or is it."""
    beginnings, isa, core = LACKS[name]
    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", ())
    lacking = [feature for feature in found if feature.startswith(beginnings)] if beginnings else []
    if not lacking or platform.machine().lower() not in ("x86_64", "amd64"):
        return dict(os.environ)
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_max_isa={isa}"
    features = {"NPY_DISABLE_CPU_FEATURES": " ".join(lacking), "OPENBLAS_CORETYPE": core, "XLA_FLAGS": flags}
    return {**os.environ, **features}


def run(name, script, *words):
    """What the script prints on that processor."""
    command = [sys.executable, "-c", script, *map(str, words)]
    ended = subprocess.run(command, env=environment(name), capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout
