"""Train networks over a grid of (rho, gamma) with several seeds, and return them as one Dataset."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.special import logit

from heteroscope.core import (
    NETWORK_GRID,
    REVISIONS,
    Identity,
    Progress,
    check_positive_integer,
    defaults,
    describe_provenance,
    resolve_diagram_schedule,
    resolve_diagram_steps,
    without_later_settings,
)
from heteroscope.data import Stream
from heteroscope.diagrams.dataset import CELL, SCORES, Values, constant_scores, grid_values, kept_rows
from heteroscope.diagrams.resumable_store import (
    CODES,
    DiagramStore,
    decode_words,
    empty_codes,
    open_diagram,
    open_store,
    remove_rounds,
)
from heteroscope.diagrams.rounds import Grid, rounds_folder, train_rounds, train_stream
from heteroscope.diagrams.sources import DiagramRows, DiagramSource, gather_arrays, gather_stream
from heteroscope.networks import Architecture, check_architecture
from heteroscope.training import Recipe, exchange_recipes, mean_first_recipe

# Settings that are coordinates of the Dataset or identify its rows, and so are no attributes of it.
_NO_ATTRIBUTES = ("revision", "kept", "data", "rho", "gamma", "n_seeds")

Variables = dict[str, xr.Variable | tuple[str | tuple[str, ...], np.ndarray]]  # of a Dataset: dimensions and values


def phase_diagram(
    X: ArrayLike | Stream,
    y: ArrayLike | None = None,
    *,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    rhos: Values | None = None,
    gammas: Values | None = None,
    n_seeds: int = 1,
    hidden: tuple[int, ...] = defaults.PAPER_HIDDEN,
    activation: str = defaults.PAPER_ACTIVATION,
    start: str | float = "he",
    schedule: str = "auto",
    max_steps: int | str = defaults.DIAGRAM_STEPS,
    batch_size: int | str | None = "auto",
    exchange: bool = True,
    penalty: str = defaults.PENALTY,
    random_state: int = 0,
    n_jobs: int | None = None,
    store: str | Path | None = None,
    name: str = "",
    identity: Identity | None = None,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Train a model at every (rho, gamma) with every seed; return scores, predictions and the phase of each.

    Parameters
    ----------
    X : array_like of shape (n_rows, n_features), data frame or Stream
        Training rows. A stream brings its own target and test rows: each tile reads it once, and models are scored on
        a sample of its rows and on its held-out rows.
    y : array_like of shape (n_rows,) or None, default=None
        Target; None for a stream.
    X_test, y_test : array_like or None, default=None
        Test rows. With them the labels take account of how a model predicts rows it was not fitted to.
    rhos, gammas : sequence of float or None, default=None
        Values of the grid, each strictly between 0 and 1. None is the paper's 22 x 22 grid.
    n_seeds : int, default=1
        Models per cell; their seeds are random_state, random_state + 1, ...
    hidden : tuple of int, default=(128, 128, 128)
        Sizes of the hidden layers.
    activation : str, default="leaky_relu"
        Activation of the hidden layers.
    start : "he" or float, default="he"
        How weights are initialised: He's rule, or the standard deviation of a small start.
    schedule : str, default="auto"
        Learning-rate schedule. A diagram is about minima, so "auto" is "fast" if every step uses all rows, "levelled"
        for batches, and "cosine" for a stream.
    max_steps : int or "auto", default="auto"
        Most steps of each model. "auto" is 4,000 for batches, else 5,000, or 8,000 for up to 128 rows; without
        batches, a small start under "fast" doubles it.
    batch_size : int, "auto" or None, default="auto"
        Rows per step; None is all rows. "auto" is all of up to 512 rows, else 256.
    exchange : bool, default=True
        Whether cells of one seed take over each other's models between rounds of training, wherever that lowers their
        own objective. Applies only if every step uses all rows. From a small start, a cell whose mean is still zero
        keeps it.
    penalty : {"weights", "gradients"}, default="weights"
        What is penalised: squared weights, or the squared gradients of mean and precision with respect to the inputs,
        averaged over the rows, as in the field theory: (rho, gamma) are then those of `field_diagram`.
    random_state : int, default=0
        The first seed.
    n_jobs : int or None, default=None
        Number of processes. joblib's rules hold: under `joblib.parallel_config(backend="dask")` a cluster does the
        work.
    store : str, Path or None, default=None
        Folder in which every finished tile is saved at once. The same call with the same folder resumes a stopped
        sweep. A call is the same if its settings and the bytes of its arrays are the same.
    name : str, default=""
        Name of the data set, for titles.
    identity : mapping or None, default=None
        What identifies the arrays instead of their bytes, such as `split.identity`.
    progress : callable or None, default=None
        Called as progress(done, total) with numbers of models.

    Returns
    -------
    xarray.Dataset
        Scores over rho, gamma, seed and split; `phase` and `status` of each model; its `mean` and `std` at up to 256
        rows of each split. All are in units of the training targets' standard deviation.

    See Also
    --------
    open_diagram : Read what a sweep has stored so far.
    field_diagram : The same from the field theory.
    """
    rhos, gammas = grid_values("rho", rhos, NETWORK_GRID), grid_values("gamma", gammas, NETWORK_GRID)
    seeds = range(random_state, random_state + check_positive_integer("n_seeds", n_seeds))
    check_architecture(hidden, activation, start)
    if isinstance(X, Stream):
        source = gather_stream(X, y, X_test, y_test, batch_size, schedule, identity, random_state, store)
    else:
        source = gather_arrays(X, y, X_test, y_test, batch_size, identity)
    architecture = Architecture(len(source.features), tuple(hidden), activation, start)
    training = _plan_training(source, architecture, max_steps, schedule, exchange, penalty)
    settings = {
        "revision": REVISIONS["diagrams"],
        "kept": REVISIONS["kept numbers"],
        "data": source.identity,
        "rho": list(rhos),
        "gamma": list(gammas),
        "n_seeds": n_seeds,
        "random_state": random_state,
        "hidden": ",".join(map(str, hidden)),
        "activation": activation,
        "start": start,
        **training.settings,
    }
    template = _empty_diagram(source, rhos, gammas, list(seeds)).assign_attrs(_attributes(settings, source, name))
    grid = Grid(logit(rhos), logit(gammas), seeds)
    with _open_cells(store, template, settings) as cells, rounds_folder(store) as folder:
        if source.stream_run is not None:
            train_stream(cells, grid, source.data, source.stream_run, training.rounds[0], n_jobs, progress)
        else:
            train_rounds(cells, grid, source.data, training.rounds, folder, n_jobs, progress)
        remove_rounds(folder)
    if store is not None:
        return open_diagram(store)
    return decode_words(template).assign_attrs(computed_with=describe_provenance(cells.computed_with.values()))


class DiagramTraining(NamedTuple):
    """The rounds of training of every cell, and the settings that identify them."""

    rounds: tuple[Recipe, ...]
    settings: Identity


def _plan_training(
    source: DiagramSource,
    architecture: Architecture,
    max_steps: int | str,
    schedule: str,
    exchange: bool,
    penalty: str,
) -> DiagramTraining:
    """Resolve every "auto" and choose one round, or several with exchange between them."""
    n_steps = resolve_diagram_steps(max_steps, source.n_rows, source.batch_size, architecture.start, schedule)
    schedule = resolve_diagram_schedule(schedule, source.batch_size, streamed=source.stream_run is not None)
    recipe = mean_first_recipe(architecture, n_steps, schedule, source.batch_size, penalty)
    # Exchange was only tried where every step uses all rows.
    exchanges = exchange and source.batch_size is None and schedule in ("auto", "fast")
    rounds = exchange_recipes(architecture, n_steps, penalty) if exchanges else (recipe,)
    settings = {
        "schedule": schedule,
        "max_steps": recipe.steps,
        "batch_size": recipe.batch_size or "all rows",
        "exchange": int(exchanges),  # NetCDF files hold no booleans among their attributes
        "penalty": penalty,
    }
    return DiagramTraining(tuple(rounds), without_later_settings(settings))


def _attributes(settings: Identity, source: DiagramSource, name: str) -> dict[str, str | int | float]:
    """Return the attributes of the Dataset: settings, versions, names and the scale of the target."""
    attributes = {key: value for key, value in settings.items() if key not in _NO_ATTRIBUTES}
    attributes |= {"heteroscope": version("heteroscope"), "jax": version("jax")}
    attributes |= {"source": "networks", "data_set": name, "target": source.target}
    scaling = source.data.scaling
    return attributes | {"target_centre": scaling.y_centre, "target_scale": scaling.y_scale}


@contextmanager
def _open_cells(store: str | Path | None, template: xr.Dataset, settings: Identity) -> Iterator[DiagramStore]:
    """Yield what tiles are written into: the arrays of `template` in memory, or a store on disk."""
    if store is not None:
        with open_store(Path(store), template, settings) as cells:
            yield cells
        return
    arrays = {str(key): variable.values for key, variable in template.data_vars.items()}
    yield DiagramStore(arrays, (template.sizes["rho"], template.sizes["seed"]))


def _empty_diagram(
    source: DiagramSource, rhos: Float[np.ndarray, " rho"], gammas: Float[np.ndarray, " gamma"], seeds: list[int]
) -> xr.Dataset:
    """Return the Dataset before any cell is trained: NaN everywhere, and no phase."""
    shape = len(rhos), len(gammas), len(seeds)
    data = source.data
    kept = {split: kept_rows(len(part.y)) for split, part in data.rows.items()}
    n_rows = sum(map(len, kept.values()))
    variables: Variables = {name: ((*CELL, "split"), np.full((*shape, len(kept)), np.nan)) for name in SCORES}
    for name in ("mean_spread", "log_precision_spread", "objective", "relative_gradient"):
        variables[name] = (CELL, np.full(shape, np.nan))
    for name in ("mean", "std"):
        variables[name] = ((*CELL, "row"), np.full((*shape, n_rows), np.nan, np.float32))
    variables |= {name: empty_codes(name, shape) for name in CODES}
    variables["steps"] = (CELL, np.zeros(shape, np.int32))
    variables |= {name: ("split", np.array(values)) for name, values in constant_scores(data.targets).items()}
    variables |= _kept_rows_of(data, kept)
    coords = {"rho": rhos, "gamma": gammas, "seed": seeds, "split": list(kept), "feature": source.features}
    return xr.Dataset(variables, coords)


def _kept_rows_of(data: DiagramRows, kept: dict[str, np.ndarray]) -> Variables:
    """Return features, target and split of the rows at which predictions are kept."""
    return {
        "x": (("row", "feature"), np.concatenate([data.rows[split].x[rows] for split, rows in kept.items()])),
        "y": ("row", np.concatenate([data.targets[split][rows] for split, rows in kept.items()])),
        "row_split": ("row", np.repeat(list(kept), [len(rows) for rows in kept.values()])),
    }
