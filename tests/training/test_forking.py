"""A forked process trains if JAX was not running when it was forked; else it is refused in one line. It never hangs."""

import json
import subprocess
import sys
import textwrap

FORK = """
    import json, multiprocessing, warnings
    import jax
    import numpy as np
    from heteroscope import HeteroskedasticRegressor
    from heteroscope.training.jax_internals import backends_are_initialized

    warnings.simplefilter("ignore")
    x = np.linspace(-1, 1, 40)[:, None]
    model = HeteroskedasticRegressor(0.9, 0.1, hidden=(4,), max_steps=20, held_out=0, random_state=0, n_jobs=1)

    def fit(partly):
        try:
            return float((model.partial_fit if partly else model.fit)(x, np.sin(3 * x[:, 0])).predict(x)[0])
        except ValueError as error:
            return str(error)

    def fit_in_a_fork(*partly):
        with multiprocessing.get_context("fork").Pool(1) as pool:
            return pool.map_async(fit, partly).get(timeout=200)

    found = [backends_are_initialized(), *fit_in_a_fork(False)]
    jax.devices()
    print(json.dumps([*found, backends_are_initialized(), *fit_in_a_fork(False, True)]))
"""


def test_fit_in_a_forked_process_answers_or_is_refused():
    command = [sys.executable, "-c", textwrap.dedent(FORK)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=True)
    was_running, fitted, is_running, *refused = json.loads(done.stdout)
    assert (was_running, is_running) == (False, True), "the private name still tells what it should"
    assert abs(fitted) < 10
    for answer in refused:
        assert "this process was forked while JAX was running" in answer
        assert "\n" not in answer
