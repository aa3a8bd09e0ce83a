"""y = mean(x) + noise(x) * epsilon with known mean and noise: three processes and their twins with noise(x) = 1.

Inputs and targets are scaled to mean zero and standard deviation one, test rows with the training draw's statistics.
Under one seed a set and its homoskedastic twin share x and epsilon, so that only the noise's shape differs.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from heteroscope.core import InputError, named_set
from heteroscope.datasets.splitting import Split

Function = Callable[[Float64[np.ndarray, " point"]], Float64[np.ndarray, " point"]]


@dataclass(frozen=True)
class Process:
    """Where x lives, and the mean and the standard deviation of y at x."""

    domain: tuple[float, float]
    mean: Function
    noise: Function


@dataclass(frozen=True)
class Scale:
    """value -> (value - location) / width, and back."""

    location: float
    width: float

    @classmethod
    def of(cls, values: Float64[np.ndarray, " point"]) -> "Scale":
        """The scale that gives these values mean zero and standard deviation one."""
        return cls(float(values.mean()), float(values.std()))

    def apply(self, values: Float64[np.ndarray, " point"]) -> Float64[np.ndarray, " point"]:
        """Own units to scaled units."""
        return (values - self.location) / self.width

    def undo(self, scaled: Float64[np.ndarray, " point"]) -> Float64[np.ndarray, " point"]:
        """Scaled units to own units."""
        return self.location + self.width * scaled


@dataclass(frozen=True)
class Truth:
    """The conditional mean and standard deviation of one draw, from scaled x to scaled y.

    x may be (point,) or (point, 1), as in a `Split`; the answer is (point,), like an estimator's.
    """

    name: str
    x_scale: Scale
    y_scale: Scale

    def mean(self, x: Float64[np.ndarray, "point *one"]) -> Float64[np.ndarray, " point"]:
        """E[y | x]."""
        return self.y_scale.apply(PROCESSES[self.name].mean(self.x_scale.undo(x.reshape(len(x)))))

    def std(self, x: Float64[np.ndarray, "point *one"]) -> Float64[np.ndarray, " point"]:
        """sqrt(Var[y | x])."""
        return PROCESSES[self.name].noise(self.x_scale.undo(x.reshape(len(x)))) / self.y_scale.width


def _cubic_noise(x: Float64[np.ndarray, " point"]) -> Float64[np.ndarray, " point"]:
    return np.array([0.1, 1.0, 3.0, 10.0])[np.digitize(x, [-0.5, 0.0, 0.5])]


PROCESSES: dict[str, Process] = {
    "sine": Process((0.0, 1.0), lambda x: 2 * np.sin(4 * np.pi * x), lambda x: np.sin(6 * np.pi * x) + 1.25),
    "cubic": Process((-1.0, 1.0), lambda x: x**3, _cubic_noise),
    "curve": Process((-1.5, 1.5), lambda x: x - 2 * x**2 + 0.5 * x**3, lambda x: x + 1.5),
}
PROCESSES |= {f"{name}_homoskedastic": Process(p.domain, p.mean, np.ones_like) for name, p in PROCESSES.items()}


def draw(name: str, n_train: int = 64, n_test: int = 64, seed: int = 0) -> tuple[Split, Truth]:
    """x uniform on the process's domain, drawn afresh for the test rows, and the truth behind both."""
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
    truth = Truth(name, Scale.of(x_train), Scale.of(y_train))
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
    """The field theory's data: x evenly spaced on [-1, 1], standing for the process's domain, and scaled y."""
    x, y, _ = _field(name, n_points, seed)
    return x, y


def field_draws(
    name: str, n_points: int = 4096, seed: int = 0
) -> tuple[Float64[np.ndarray, " point"], Float64[np.ndarray, " point"], Float64[np.ndarray, " point"]]:
    """(x, y, y_test): `field_draw`, and the targets of another draw at the same points in the same units."""
    x, y, truth = _field(name, n_points, seed)
    return x, y, _again(truth, x, seed)


def row_draws(
    name: str, seed: int = 0
) -> tuple[Float64[np.ndarray, " point"], Float64[np.ndarray, " point"], Float64[np.ndarray, " point"]]:
    """(x, y, y_test): the training rows of `draw` in the order of x, and another draw at the same points."""
    split, truth = draw(name, seed=seed)
    order = np.argsort(split.x_train[:, 0])
    x = split.x_train[order, 0]
    return x, split.y_train[order], _again(truth, x, seed)


def field_truth(name: str, n_points: int = 4096, seed: int = 0) -> Truth:
    """The truth behind the `field_draw` of the same arguments, as a function of x in [-1, 1]."""
    return _field(name, n_points, seed)[2]


def _field(
    name: str, n_points: int, seed: int
) -> tuple[Float64[np.ndarray, " point"], Float64[np.ndarray, " point"], Truth]:
    process = _process(name)
    if n_points < 2:
        raise InputError(f"n_points={n_points}: a field needs at least 2 points, the ends of [-1, 1]")
    low, high = process.domain
    domain = Scale((low + high) / 2, (high - low) / 2)
    x = np.linspace(-1.0, 1.0, n_points)
    y = _realise(process, domain.undo(x), np.random.default_rng(seed))
    truth = Truth(name, domain, Scale.of(y))
    return x, truth.y_scale.apply(y), truth


def _again(truth: Truth, x: Float64[np.ndarray, " point"], seed: int) -> Float64[np.ndarray, " point"]:
    return truth.mean(x) + truth.std(x) * np.random.default_rng([seed, 1]).standard_normal(len(x))


def _realise(
    process: Process, x: Float64[np.ndarray, " point"], rng: np.random.Generator
) -> Float64[np.ndarray, " point"]:
    return process.mean(x) + process.noise(x) * rng.standard_normal(len(x))


def _process(name: str) -> Process:
    if name not in PROCESSES:
        raise InputError(f"no simulated data set is called {name!r}: choose one of {', '.join(PROCESSES)}")
    return PROCESSES[name]
