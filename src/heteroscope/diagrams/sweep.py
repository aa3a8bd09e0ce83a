"""From rows, a grid of (rho, gamma) and some seeds to one Dataset of trained networks."""

from contextlib import AbstractContextManager, nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float
from scipy.special import logit
from sklearn.utils import check_X_y

from heteroscope.core import (
    NETWORK_GRID,
    REVISIONS,
    Identity,
    InputError,
    Progress,
    check_identity,
    check_positive_integer,
    defaults,
    given_arrays,
    resolve_diagram_batch_size,
    resolve_diagram_schedule,
    resolve_diagram_steps,
)
from heteroscope.data import Rows, Stream
from heteroscope.diagrams.dataset import CELL, SCORES, Values, grid_values, kept_rows
from heteroscope.diagrams.measuring import DiagramRows
from heteroscope.diagrams.rounds import Grid, rounds_folder, train_rounds, train_stream
from heteroscope.diagrams.store import (
    CODES,
    DiagramStore,
    decode_words,
    empty_codes,
    open_diagram,
    open_store,
    remove_rounds,
)
from heteroscope.networks import Architecture, check_architecture
from heteroscope.training import (
    SEARCH_SHARE,
    StreamRun,
    exchange_recipes,
    mean_first_recipe,
    refuse_with_stream,
    start_stream_run,
)


def phase_diagram(
    X: Any,
    y: Any = None,
    *,
    X_test: Any = None,
    y_test: Any = None,
    rhos: Values | None = None,
    gammas: Values | None = None,
    n_seeds: int = 1,
    hidden: tuple[int, ...] = defaults.PAPER_HIDDEN,
    activation: str = defaults.PAPER_ACTIVATION,
    start: str | float = "he",
    schedule: str = "auto",
    max_steps: int | str = defaults.DIAGRAM_STEPS,
    batch_size: Any = "auto",
    exchange: bool = True,
    random_state: int = 0,
    n_jobs: int | None = None,
    store: str | Path | None = None,
    name: str = "",
    identity: Identity | None = None,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Train a model at every (rho, gamma) with every seed; what they score and predict, and the phase of each.

    The grid is the paper's 22 x 22 unless given. With test rows the labels see what a model does on rows it was not
    fitted to. With `store`, a folder, every finished tile is saved at once, and the same call goes on where a stopped
    one left off. A call is the same if its settings are, and the bytes of the arrays as given; with `identity`, such as
    `split.identity`, that stands for the arrays. `name` is the data set's, for titles; `progress(done, total)` counts
    models. Where the work is done follows joblib: `n_jobs` processes here, or a cluster under
    `joblib.parallel_config(backend="dask")`.

    A diagram is about minima: with `schedule="auto"` steps that see all rows follow "fast", batches follow "levelled",
    and those of a stream "cosine".

    With `exchange`, cells of one seed take over each other's models between rounds of training, wherever that lowers
    their own objective (`exchange.py`). This is done where steps see all rows; with batches it has not been tried. From
    a small start a cell whose mean has not left zero is given no other.

    X may be a stream, which brings its own target and test rows: each tile reads it once, and scores are of a sample of
    its rows and of those held out.
    """
    rhos, gammas = grid_values("rho", rhos, NETWORK_GRID), grid_values("gamma", gammas, NETWORK_GRID)
    seeds = range(random_state, random_state + check_positive_integer("n_seeds", n_seeds))
    check_architecture(hidden, activation, start)
    ground: StreamRun | None = None
    n_batch: int | None
    if isinstance(X, Stream):
        refuse_with_stream(y, None, schedule)
        if identity is not None:
            raise InputError("identity is for arrays, and a stream is identified by its files: leave it out")
        ground = _ground(X, X_test, y_test, batch_size, random_state, store)
        features, target = list(X.feature_names), X.target_name
        data = DiagramRows.of({"train": ground.survey.sample, "test": ground.survey.held}, ground.order.scaling)
        n_batch = ground.order.batch_size
        rows = X.identity()
    else:
        features, target = _names(X, y)
        data = _data(X, y, X_test, y_test)
        n_batch = resolve_diagram_batch_size(batch_size, len(data.rows["train"].y))
        rows = given_arrays(X, y, X_test, y_test) if identity is None else check_identity(identity)
    architecture = Architecture(len(features), tuple(hidden), activation, start)
    n_steps = resolve_diagram_steps(max_steps, len(data.rows["train"].y), n_batch, start, schedule)
    schedule = resolve_diagram_schedule(schedule, n_batch, streamed=ground is not None)
    recipe = mean_first_recipe(architecture, n_steps, schedule, n_batch)
    exchanges = exchange and n_batch is None and schedule in ("auto", "fast")
    rounds = exchange_recipes(architecture, n_steps) if exchanges else (recipe,)
    settings = {
        "revision": REVISIONS["diagrams"],
        "data": rows,
        "rho": list(rhos),
        "gamma": list(gammas),
        "n_seeds": n_seeds,
        "random_state": random_state,
        "hidden": ",".join(map(str, hidden)),
        "activation": activation,
        "start": start,
        "schedule": schedule,
        "max_steps": recipe.steps,
        "batch_size": recipe.batch_size or "all rows",
        "exchange": int(exchanges),  # files hold no booleans among their attributes
    }
    coordinates = ("revision", "data", "rho", "gamma", "n_seeds")
    attributes = {key: value for key, value in settings.items() if key not in coordinates}
    attributes |= {"heteroscope": version("heteroscope"), "jax": version("jax")}
    attributes |= {"source": "networks", "data_set": name, "target": target}
    attributes |= {"target_centre": data.scaling.y_centre, "target_scale": data.scaling.y_scale}
    template = _template(data, rhos, gammas, list(seeds), features).assign_attrs(attributes)
    kept: AbstractContextManager[DiagramStore]
    if store is None:
        arrays = {str(key): variable.values for key, variable in template.data_vars.items()}
        kept = nullcontext(DiagramStore(arrays | {"done": np.zeros((len(rhos), len(seeds)), bool)}))
    else:
        kept = open_store(Path(store), template, settings)
    grid = Grid(logit(rhos), logit(gammas), seeds)
    with kept as growth, rounds_folder(store) as folder:
        if ground:
            train_stream(growth, grid, data, ground, recipe, n_jobs, progress)
        else:
            train_rounds(growth, grid, data, rounds, folder, n_jobs, progress)
        remove_rounds(folder)
    if store is not None:
        return open_diagram(store)
    return decode_words(template)


def _ground(
    stream: Stream, X_test: Any, y_test: Any, batch_size: Any, seed: int, store: str | Path | None
) -> StreamRun:
    if X_test is not None or y_test is not None:
        raise InputError("a stream holds out test rows of its own: leave out X_test and y_test")
    return start_stream_run(stream, SEARCH_SHARE, batch_size, seed, store, None, False)


def _data(X: Any, y: Any, X_test: Any, y_test: Any) -> DiagramRows:
    x, target = check_X_y(X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
    rows = {"train": Rows(x, target.astype(np.float64), np.ones(len(target)))}
    if np.ptp(target) == 0:
        raise InputError(f"the target is constant ({target[0]:g}), so there is nothing to learn; check the target")
    if (X_test is None) != (y_test is None):
        raise InputError("X_test and y_test belong together: give both, or neither")
    if X_test is not None:
        names, others = (list(getattr(table, "columns", [])) for table in (X, X_test))
        if names and others and names != others:
            raise InputError("X_test has other columns than X, or in another order: give the same columns")
        x_test, target_test = check_X_y(X_test, y_test, dtype=np.float64, y_numeric=True)
        if x_test.shape[1] != x.shape[1]:
            raise InputError(f"X_test has {x_test.shape[1]} columns and X has {x.shape[1]}: give the same columns")
        rows["test"] = Rows(x_test, target_test.astype(np.float64), np.ones(len(target_test)))
    return DiagramRows.of(rows, rows["train"].scaling())


def _template(
    data: DiagramRows,
    rhos: Float[np.ndarray, " rho"],
    gammas: Float[np.ndarray, " gamma"],
    seeds: list[int],
    features: list[str],
) -> xr.Dataset:
    """The diagram with no cell trained: NaN, and no phase."""
    shape = len(rhos), len(gammas), len(seeds)
    kept = {split: kept_rows(len(part.y)) for split, part in data.rows.items()}
    n_rows = sum(map(len, kept.values()))
    variables: dict[str, Any] = {name: ((*CELL, "split"), np.full((*shape, len(kept)), np.nan)) for name in SCORES}
    for name in ("log_precision_spread", "objective", "relative_gradient"):
        variables[name] = (CELL, np.full(shape, np.nan))
    for name in ("mean", "std"):
        variables[name] = ((*CELL, "row"), np.full((*shape, n_rows), np.nan, np.float32))
    variables |= {name: empty_codes(name, shape) for name in CODES}
    variables["steps"] = (CELL, np.zeros(shape, np.int32))
    fixed = {
        "x": (("row", "feature"), np.concatenate([data.rows[split].x[rows] for split, rows in kept.items()])),
        "y": ("row", np.concatenate([data.targets[split][rows] for split, rows in kept.items()])),
        "row_split": ("row", np.repeat(list(kept), [len(rows) for rows in kept.values()])),
    }
    coords = {"rho": rhos, "gamma": gammas, "seed": seeds, "split": list(kept), "feature": features}
    return xr.Dataset(variables | fixed, coords)


def _names(X: Any, y: Any) -> tuple[list[str], str]:
    """Names of the columns and of the target, where a data frame has them."""
    columns = getattr(X, "columns", None)
    n_features = np.shape(X)[1] if np.ndim(X) == 2 else 0
    features = [f"x{k}" for k in range(n_features)] if columns is None else [str(column) for column in columns]
    return features, str(getattr(y, "name", None) or "y")
