"""Measure CPU seconds and test NLL against the number of rows: our default fit, CatBoost and NGBoost.

Generated tables with 20 inputs of four kinds: a smooth surface, boxes as of categories, noise that varies by a factor
of a hundred, and a weak signal. The true distribution is known, so losses are those above the true model's, on 20,000
test rows.
"ours before" is the search as it was for all sizes: two lengths, two members per point, and a fifth of the rows held
out. "halving" is the search that the default has from 100,000 rows on.

    python -m benchmarks cost_by_rows

Each fit runs in a process of its own, after a fit of two steps that compiles or reads the programs. CPU seconds are
those of the process and its workers: they depend less than seconds on what else the machine does. Finished fits are
kept in `benchmarks/records/cost_by_rows` (or HETEROSCOPE_FOLDER), so that a second run resumes the first;
HETEROSCOPE_FITS, such as "smooth:50000:ours,ours before:0", names others than the default: kind, rows, methods and
seed, separated by semicolons. The figure is `docs/images/cost-by-rows.png`.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import psutil
from scipy import stats

ROOT = Path(__file__).parents[1]
RECORDS, FIGURE = ROOT / "benchmarks" / "records" / "cost_by_rows", ROOT / "docs" / "images" / "cost-by-rows.png"
STYLES = {"ours": "C0o-", "ours before": "C3x", "halving": "C4d", "catboost": "C1s-", "ngboost": "C2^-"}
N_FEATURES, N_TEST, N_JOBS = 20, 20_000, 2
RUN_ONE = "import sys, benchmarks.cost_by_rows as b; b.run_one(*sys.argv[1:])"
#: kind, rows, methods, seed.
FITS = (
    "smooth:100:ours,ngboost,catboost:0",
    "smooth:1000:ours,ngboost,catboost:0",
    "smooth:10000:ours,halving,catboost:0",
    "smooth:50000:ours,ours before,halving,catboost:0",
)
Moments = tuple[np.ndarray, np.ndarray]


def smooth(x: np.ndarray, _: np.random.Generator) -> Moments:
    """Return mean and std of waves, a product and a bump; the std varies smoothly by a factor of thirty."""
    mean = np.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2] + np.exp(-2 * x[:, 3] ** 2) + 0.5 * np.cos(4 * x[:, 4] + x[:, 5])
    return mean, 0.1 * np.exp(x[:, 6] + 0.5 * np.sin(3 * x[:, 7]))


def steps(x: np.ndarray, random: np.random.Generator) -> Moments:
    """Return mean and std that are constant in boxes, as if inputs were categories."""
    mean, log_std = np.zeros(len(x)), np.zeros(len(x))
    for _ in range(12):
        a, b, c = random.choice(N_FEATURES, 3, replace=False)
        s, t = random.uniform(-0.6, 0.6, 2)
        mean += random.normal() * ((x[:, a] > s) & (x[:, b] < t))
        log_std += 0.5 * random.normal() * (x[:, c] > s)
    return mean, 0.3 * np.exp(log_std)


def noisy(x: np.ndarray, _: np.random.Generator) -> Moments:
    """Return a simple mean and a std that varies by a factor of a hundred."""
    return np.tanh(2 * x[:, 0]) + 0.3 * x[:, 1], np.exp(2.3 * x[:, 2] * np.cos(2 * x[:, 3]))


def weak(x: np.ndarray, _: np.random.Generator) -> Moments:
    """Return a mean that explains a thirtieth of the variance, and a std that hardly varies."""
    return 0.3 * np.sin(2 * x[:, 0]) + 0.2 * x[:, 1] * x[:, 2], 1.0 + 0.3 * x[:, 3]


KINDS: dict[str, Callable[[np.ndarray, np.random.Generator], Moments]] = {
    "smooth": smooth,
    "steps": steps,
    "noisy": noisy,
    "weak": weak,
}


def table(kind: str, n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return inputs, targets, and the loss of each row under the true distribution."""
    random = np.random.default_rng([sum(map(ord, kind)), seed])
    x = random.uniform(-1, 1, (n_rows, N_FEATURES))
    mean, std = KINDS[kind](x, np.random.default_rng([7, seed]))
    y = mean + std * random.normal(size=n_rows)
    return x, y, -stats.norm(mean, std).logpdf(y)


def main() -> None:
    """Print one row per fit, and draw those of the smooth tables."""
    folder = Path(os.environ.get("HETEROSCOPE_FOLDER") or RECORDS)
    folder.mkdir(parents=True, exist_ok=True)
    wanted = os.environ.get("HETEROSCOPE_FITS", ";".join(FITS)).split(";")
    print("| table | rows | method | CPU seconds | NLL above the true model's | chosen |\n|---|---:|---|---:|---:|---|")
    for fit in wanted:
        kind, n_rows, methods, seed = fit.split(":")
        for method in methods.split(","):
            path = folder / f"{kind}-{n_rows}-{method.replace(' ', '-')}-{seed}.json"
            if not path.exists():
                done = subprocess.run(
                    [sys.executable, "-c", RUN_ONE, kind, n_rows, method, seed],
                    capture_output=True,
                    text=True,
                    check=True,
                )
                path.write_text(done.stdout.splitlines()[-1])
            found = json.loads(path.read_text())
            print(
                f"| {kind} | {int(n_rows):,} | {method} | {found['cpu']:.0f} | {found['excess']:.3f} "
                f"| {found['chosen']} |",
                flush=True,
            )
    draw(folder, FIGURE)


def draw(folder: Path, path: Path) -> None:
    """Draw CPU seconds and losses of the smooth tables against their rows."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for method, style in STYLES.items():
        files = folder.glob(f"smooth-*-{method.replace(' ', '-')}-0.json")
        fits = {int(file.name.split("-")[1]): json.loads(file.read_text()) for file in files}
        for ax, key in zip(axes, ("cpu", "excess"), strict=True):
            ax.plot(sorted(fits), [fits[n][key] for n in sorted(fits)], style, label=method, markersize=4)
    for ax, label in zip(axes, ("CPU seconds of a fit", "test NLL above the true model's"), strict=True):
        ax.set(xscale="log", yscale="log", xlabel="rows", ylabel=label)
        ax.grid(alpha=0.3)
    axes[0].legend()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def run_one(kind: str, n_rows: str, method: str, seed: str) -> None:
    """Fit one method to one table; print CPU seconds and the loss above the true model's as JSON."""
    n = int(n_rows)
    x, y, true = table(kind, n + N_TEST, int(seed))
    models: dict[str, Any] = {
        "ours": lambda: _ours(),
        "ours before": lambda: _ours(before=True),
        "halving": lambda: _ours(halving=True),
        "ngboost": lambda: _peer("ngboost", n),
        "catboost": lambda: _peer("catboost", n),
    }
    own = method not in ("ngboost", "catboost")
    if own:
        _ours(max_steps=2).fit(x[:n], y[:n])
    model = models[method]()
    start = cpu_seconds()
    model.fit(x[:n], y[:n])
    cpu = cpu_seconds() - start
    if hasattr(model, "pred_dist"):
        losses = -model.pred_dist(x[n:]).logpdf(y[n:])
    else:
        losses = -stats.norm(*model.predict(x[n:], return_std=True)).logpdf(y[n:])
    chosen = ""
    if own:
        chosen = f"rho {model.rho_:.4g}, gamma {model.gamma_:.4g}, {model.n_iter_} steps"
    nll, excess = float(losses.mean()), float((losses - true[n:]).mean())
    print(json.dumps({"cpu": cpu, "nll": nll, "excess": excess, "chosen": chosen}))


def _ours(before: bool = False, halving: bool = False, **settings: Any) -> Any:
    """Return our estimator with its defaults; `before` searches tables of many rows as small ones."""
    from heteroscope import HeteroskedasticRegressorCV
    from heteroscope.core import defaults
    from heteroscope.search import cross_validation

    if before:
        defaults.HALVING_FROM = defaults.MOST_HELD_OUT = cross_validation.SCORED_ROWS = sys.maxsize
    if halving:
        defaults.HALVING_FROM = 0
    return HeteroskedasticRegressorCV(random_state=0, n_jobs=N_JOBS, **settings)


def _peer(name: str, n_rows: int) -> Any:
    """Return another library's method with the settings of `heteroscope compare`."""
    from heteroscope.baselines import choose_methods

    return choose_methods([name], n_rows)[name].set_params(random_state=0)


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of its workers."""
    own = psutil.Process()
    times = [own.cpu_times(), *(child.cpu_times() for child in own.children(recursive=True))]
    return sum(time.user + time.system for time in times)
