"""Measure prediction without the training stack: a cold process, forked workers, and a service on loopback.

`python -m benchmarks service` prints one table for each. A cold process and `import numpy` take turns, each
TURNS times, and their medians are compared. The service is the one of docs/service.md.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from wsgiref.simple_server import make_server

import numpy as np

from heteroscope import HeteroskedasticRegressor, load_model, save_model

TURNS = 7
REQUESTS = 1000
N_FEATURES = 8
COLD = {
    "`import numpy`": "import numpy",
    "`load_model(folder).predict(row)`": (
        "from heteroscope import load_model; load_model({folder!r}).predict([[0.5] * 8])"
    ),
    "the same with `predict_interval`": (
        "from heteroscope import load_model; load_model({folder!r}).predict_interval([[0.5] * 8])"
    ),
    "`import sklearn.base`": "import sklearn.base",
    "`import jax`": "import jax",
}


def cold_starts(folder: Path) -> None:
    """Print the seconds of whole processes."""
    seconds: dict[str, list[float]] = {name: [] for name in COLD}
    for _ in range(TURNS):
        for name, script in COLD.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", script.format(folder=str(folder))], check=True)
            seconds[name].append(time.perf_counter() - start)
    base = np.array(seconds["`import numpy`"])
    print("| cold process | seconds | over `import numpy`, turn by turn |\n|---|---:|---:|")
    for name, taken in seconds.items():
        print(f"| {name} | {np.median(taken):.2f} | {np.median(np.array(taken) / base):.2f} |")


def forked_workers(folder: Path, x: np.ndarray) -> None:
    """Print the seconds of REQUESTS predictions by forked workers, after the fit in this process."""
    model = load_model(folder)
    expected = model.predict(x)
    start, children = time.perf_counter(), []
    for worker in range(4):
        child = os.fork()
        if not child:
            wrong = 0
            for request in range(worker, REQUESTS, 4):
                n = 1 + request % len(x)
                wrong += not np.allclose(model.predict(x[:n]), expected[:n], rtol=1e-5)
            os._exit(min(wrong, 255))
        children.append(child)
    failed = sum(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)
    print(
        f"\n{REQUESTS} requests of 1 to {len(x)} rows from 4 workers forked after the fit: "
        f"{time.perf_counter() - start:.2f} s, {failed} wrong."
    )


def service() -> None:
    """Print the requests per second of the service of docs/service.md, with 1 and with 4 clients."""
    page = Path(__file__).parents[1] / "docs" / "service.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)
    names: dict = {"__name__": "service"}
    exec("\n".join(blocks[:4]).split("server = make_server")[0], names)
    server = make_server("127.0.0.1", 0, names["application"], names["ThreadingServer"], names["Quiet"])
    names["server"] = server
    Thread(target=server.serve_forever, daemon=True).start()
    body = '[{"area": 80, "town": "Bern"}]'
    print("\n| clients | requests | refused or failed | requests per second | median ms | 99 % ms |")
    print("|---:|---:|---:|---:|---:|---:|")
    for n_clients in (1, 4, 16):
        taken = []

        def timed(_: int, taken: list[float] = taken) -> int:
            start = time.perf_counter()
            status, _answer = names["ask"](body)
            taken.append(time.perf_counter() - start)
            return status

        start = time.perf_counter()
        with ThreadPoolExecutor(n_clients) as clients:
            statuses = list(clients.map(timed, range(REQUESTS)))
        rate = REQUESTS / (time.perf_counter() - start)
        bad = sum(status != 200 for status in statuses)
        median, late = 1000 * np.quantile(taken, [0.5, 0.99])
        print(f"| {n_clients} | {REQUESTS} | {bad} | {rate:.0f} | {median:.1f} | {late:.1f} |")
    server.shutdown()
    server.server_close()


def main() -> None:
    """Fit a model of the default size, then print the three tables."""
    random = np.random.default_rng(0)
    x = random.normal(size=(200, N_FEATURES))
    fitted = HeteroskedasticRegressor(n_members=5, max_steps=200, held_out=0, random_state=0)
    fitted.fit(x, x[:, 0] + 0.3 * random.normal(size=200))
    print("## Prediction\n")
    with tempfile.TemporaryDirectory() as place:
        folder = save_model(fitted, Path(place) / "model")
        cold_starts(folder)
        forked_workers(folder, x)
        here = Path.cwd()
        os.chdir(place)  # the page's code writes its model beside it
        try:
            service()
        finally:
            os.chdir(here)
