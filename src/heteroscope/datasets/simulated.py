"""Simulated sets y = mean(x) + noise(x) * epsilon with known mean and noise, and homoskedastic twins, noise(x) = 1.

Inputs and targets are scaled to mean zero and standard deviation one; test rows are scaled by the statistics of the
training rows. With the same seed, a set and its homoskedastic twin have the same x and epsilon: only the shape of the
noise differs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from jaxtyping import Float64

from heteroscope.core import InputError, named_set
from heteroscope.datasets.splitting import Split

Function: TypeAlias = Callable[[Float64[np.ndarray, " point"]], Float64[np.ndarray, " point"]]


@dataclass(frozen=True)
class Process:
    """A data-generating process: the interval of x, and the mean and the standard deviation of y given x."""

    domain: tuple[float, float]
    mean: Function
    noise: Function


@dataclass(frozen=True)
class LinearScale:
    """The map value -> (value - location) / width, and its inverse."""

    location: float
    width: float

    @classmethod
    def of(cls, values: Float64[np.ndarray, " point"]) -> "LinearScale":
        """Return the scale that gives these values mean zero and standard deviation one."""
        return cls(float(values.mean()), float(values.std()))

    def apply(self, values: Float64[np.ndarray, " point"]) -> Float64[np.ndarray, " point"]:
        """Return the values in scaled units."""
        return (values - self.location) / self.width

    def undo(self, scaled: Float64[np.ndarray, " point"]) -> Float64[np.ndarray, " point"]:
        """Return scaled values in their original units."""
        return self.location + self.width * scaled


@dataclass(frozen=True)
class Truth:
    """The true mean and standard deviation of y given x, both in scaled units.

    x may have the shape (point,) or (point, 1), as in a `Split`; results have the shape (point,).
    """

    name: str
    x_scale: LinearScale
    y_scale: LinearScale

    def mean(self, x: Float64[np.ndarray, "point *one"]) -> Float64[np.ndarray, " point"]:
        """Return E[y | x]."""
        return self.y_scale.apply(PROCESSES[self.name].mean(self.x_scale.undo(x.reshape(len(x)))))

    def std(self, x: Float64[np.ndarray, "point *one"]) -> Float64[np.ndarray, " point"]:
        """Return sqrt(Var[y | x])."""
        return PROCESSES[self.name].noise(self.x_scale.undo(x.reshape(len(x)))) / self.y_scale.width


def _cubic_noise(x: Float64[np.ndarray, " point"]) -> Float64[np.ndarray, " point"]:
    """Return the noise of the cubic process, constant on each of four intervals."""
    return np.array([0.1, 1.0, 3.0, 10.0])[np.digitize(x, [-0.5, 0.0, 0.5])]


#: The simulated sets by name.
PROCESSES: dict[str, Process] = {
    "sine": Process((0.0, 1.0), lambda x: 2 * np.sin(4 * np.pi * x), lambda x: np.sin(6 * np.pi * x) + 1.25),
    "cubic": Process((-1.0, 1.0), lambda x: x**3, _cubic_noise),
    "curve": Process((-1.5, 1.5), lambda x: x - 2 * x**2 + 0.5 * x**3, lambda x: x + 1.5),
}
PROCESSES |= {f"{name}_homoskedastic": Process(p.domain, p.mean, np.ones_like) for name, p in PROCESSES.items()}


def draw(name: str, n_train: int = 64, n_test: int = 64, seed: int = 0) -> tuple[Split, Truth]:
    """Draw training and test rows of a simulated set, x uniform on the interval of its process.

    Parameters
    ----------
    name : str
        One of `PROCESSES`.
    n_train, n_test : int, default=64
        The number of training rows (at least 2) and of test rows (at least 1).
    seed : int, default=0
        The seed of both draws.

    Returns
    -------
    split : Split
        The rows in scaled units.
    truth : Truth
        The true mean and standard deviation in the same units.
    """
    process = _process(name)
    if n_train < 2 or n_test < 1:
        raise InputError(
            f"n_train={n_train} and n_test={n_test}: scaling needs at least 2 training rows and 1 test row"
        )
    train_rng, test_rng = np.random.default_rng(seed).spawn(2)
    x_train = train_rng.uniform(*process.domain, n_train)
    y_train = _realise(process, x_train, train_rng)
    x_test = test_rng.uniform(*process.domain, n_test)
    y_test = _realise(process, x_test, test_rng)
    truth = Truth(name, LinearScale.of(x_train), LinearScale.of(y_train))
    split = Split(
        name=name,
        x_train=truth.x_scale.apply(x_train)[:, np.newaxis],
        y_train=truth.y_scale.apply(y_train),
        x_test=truth.x_scale.apply(x_test)[:, np.newaxis],
        y_test=truth.y_scale.apply(y_test),
        feature_names=("x",),
        target_name="y",
        target_unit="",
        identity=named_set("simulated sets", name, seed=seed, rows=[n_train, n_test]),
    )
    return split, truth


def field_draw(
    name: str, n_points: int = 4096, seed: int = 0
) -> tuple[Float64[np.ndarray, " point"], Float64[np.ndarray, " point"]]:
    """Draw the data of the field theory: evenly spaced x, and one y at each x.

    Parameters
    ----------
    name : str
        One of `PROCESSES`.
    n_points : int, default=4096
        The number of points, at least 2.
    seed : int, default=0
        The seed of the noise.

    Returns
    -------
    x : array of shape (n_points,)
        Evenly spaced on [-1, 1], which stands for the interval of the process.
    y : array of shape (n_points,)
        Scaled to mean zero and standard deviation one.
    """
    x, y, _ = _field(name, n_points, seed)
    return x, y


def field_draws(
    name: str, n_points: int = 4096, seed: int = 0
) -> tuple[Float64[np.ndarray, " point"], Float64[np.ndarray, " point"], Float64[np.ndarray, " point"]]:
    """Draw the data of the field theory and a second set of targets for testing.

    Parameters
    ----------
    name : str
        One of `PROCESSES`.
    n_points : int, default=4096
        The number of points, at least 2.
    seed : int, default=0
        The seed of the noise.

    Returns
    -------
    x, y : arrays of shape (n_points,)
        Those of `field_draw`.
    y_test : array of shape (n_points,)
        Targets of another draw at the same points, in the same units.
    """
    x, y, truth = _field(name, n_points, seed)
    return x, y, _second_draw(truth, x, seed)


def row_draws(
    name: str, seed: int = 0
) -> tuple[Float64[np.ndarray, " point"], Float64[np.ndarray, " point"], Float64[np.ndarray, " point"]]:
    """Return the training rows of `draw`, sorted by x, and a second set of targets for testing.

    Parameters
    ----------
    name : str
        One of `PROCESSES`.
    seed : int, default=0
        The seed of the draw.

    Returns
    -------
    x, y : arrays of shape (64,)
        The training rows.
    y_test : array of shape (64,)
        Targets of another draw at the same points, in the same units.
    """
    split, truth = draw(name, seed=seed)
    order = np.argsort(split.x_train[:, 0])
    x = split.x_train[order, 0]
    return x, split.y_train[order], _second_draw(truth, x, seed)


def field_truth(name: str, n_points: int = 4096, seed: int = 0) -> Truth:
    """Return the true mean and standard deviation of the `field_draw` with the same arguments.

    Parameters
    ----------
    name : str
        One of `PROCESSES`.
    n_points : int, default=4096
        The number of points, at least 2.
    seed : int, default=0
        The seed of the noise.

    Returns
    -------
    Truth
        Functions of x in [-1, 1].
    """
    return _field(name, n_points, seed)[2]


def _field(
    name: str, n_points: int, seed: int
) -> tuple[Float64[np.ndarray, " point"], Float64[np.ndarray, " point"], Truth]:
    """Return x and y of the field theory and the truth behind them."""
    process = _process(name)
    if n_points < 2:
        raise InputError(f"n_points={n_points}: a field needs at least 2 points, the ends of [-1, 1]")
    low, high = process.domain
    domain = LinearScale((low + high) / 2, (high - low) / 2)
    x = np.linspace(-1.0, 1.0, n_points)
    y = _realise(process, domain.undo(x), np.random.default_rng(seed))
    truth = Truth(name, domain, LinearScale.of(y))
    return x, truth.y_scale.apply(y), truth


def _second_draw(truth: Truth, x: Float64[np.ndarray, " point"], seed: int) -> Float64[np.ndarray, " point"]:
    """Draw other targets at the same points, in scaled units."""
    return truth.mean(x) + truth.std(x) * np.random.default_rng([seed, 1]).standard_normal(len(x))


def _realise(
    process: Process, x: Float64[np.ndarray, " point"], rng: np.random.Generator
) -> Float64[np.ndarray, " point"]:
    """Draw y at each x."""
    return process.mean(x) + process.noise(x) * rng.standard_normal(len(x))


def _process(name: str) -> Process:
    """Return the process of this name; raise an `InputError` that lists all names if there is none."""
    if name not in PROCESSES:
        raise InputError(f"no simulated data set is called {name!r}: choose one of {', '.join(PROCESSES)}")
    return PROCESSES[name]
