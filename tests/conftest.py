"""Settings of every test: strict numerics, programs that compile fast rather than run fast, kept between runs.

They are environment variables, set before JAX is imported, so that worker processes inherit them. A variable that the
caller has set stays as it is: `XLA_FLAGS= pytest` tests the programs that users run.
"""

import gc
import hashlib
import os
import sys
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

import tests.lazy_checks  # noqa: F401  (named in pyproject.toml: jaxtyping looks it up when the package is imported)
from tests.processors import COMPILE_FAST

ROOT = Path(__file__).resolve().parents[1]
pytest_plugins = ["tests.stream_fixtures"]


def programs_folder(flags: str) -> Path:
    """Return the folder of compiled programs: one for each set of flags, since flags can name another processor."""
    return ROOT / ".pytest_cache" / "jax" / hashlib.sha256(flags.encode()).hexdigest()[:8]


SETTINGS = {
    # most tests train for a blink, so that compiling is what they wait for
    "XLA_FLAGS": COMPILE_FAST,
    "JAX_COMPILATION_CACHE_DIR": str(programs_folder(os.environ.get("XLA_FLAGS", COMPILE_FAST))),
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.03",  # the next process reads it in less
    "JAX_NUMPY_RANK_PROMOTION": "raise",
    # what n_jobs=-1 means: the tests themselves run one process per core
    "LOKY_MAX_CPU_COUNT": "1",
    # for the same reason: threads of matrix products wait for each other longer than they compute
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
for name, value in SETTINGS.items():
    os.environ.setdefault(name, value)

# Hundreds of processes import the package: the first one keeps its bytecode, whose type checks take seconds to insert.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

threadpool_limits(1)  # of libraries that a plugin has loaded already
if "jax" in sys.modules:  # a pytest plugin was quicker: tell the running JAX as well
    import jax

    jax.config.update("jax_compilation_cache_dir", os.environ["JAX_COMPILATION_CACHE_DIR"])
    seconds = float(os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"])
    jax.config.update("jax_persistent_cache_min_compile_time_secs", seconds)
    jax.config.update("jax_numpy_rank_promotion", os.environ["JAX_NUMPY_RANK_PROMOTION"])

#: Tests of whole commands, exhibits, pages, searches and diagrams. What they call has tests of its own, where shapes of
#: arrays are checked: in inner loops these checks take most of the time.
WHOLE_PROGRAMS = (
    "cli/",
    "paper/",
    "baselines/test_base.py",
    "baselines/test_contract.py",  # scikit-learn wants constructors that take anything
    "estimators/test_regressors.py",
    "field/bayesian/test_calibration.py",
    "field/bayesian/test_posterior.py",
    "field/test_folding.py",
    "field/test_grid.py",
    "search/test_diagonal_and_grid.py",
    "test_docs.py",
)

#: Files with tests of five seconds and more, which run first: one that begins last leaves the other core idle.
LONG = (
    "training/test_cluster_backends.py",
    "cli/test_help.py",
    "training/test_workers.py",
    "training/test_compiled_programs.py",
    "training/test_joblib_internals.py",
    "diagrams/test_sweep.py",
    "test_docs.py",
    "datasets/test_climsim.py",
)


def place(item):
    """Return the path of a test's file within this folder."""
    return item.path.relative_to(ROOT / "tests").as_posix()


def pytest_collection_finish():
    """Leave what every test needs out of the collections of garbage, which tracing would run all the time."""
    gc.freeze()
    gc.set_threshold(50_000, 50, 100)


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: place(item) not in LONG)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    from jaxtyping import config

    config.update("jaxtyping_disable", place(item).startswith(WHOLE_PROGRAMS))
