"""Generate files of ClimSim's format, of any number of rows, with a known mean and variance of each output.

    output = mean(x) + std(x) * N(0, 1)

Profiles of temperature and humidity are sums of a few smooth modes, so that neighbouring levels are correlated. At any
time half of the columns have sunlight; in the others the solar outputs have mean zero and little noise. All formulas
are invented for tests and benchmarks and are not physics.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Float

from heteroscope.core import InputError, Progress
from heteroscope.datasets.climsim import COLUMNS, INPUTS, LEVELS, OUTPUTS, SURFACE, Part, create_files, full_name

N_MODES = 4  # smooth modes of each profile
STEPS_A_DAY = 72  # time steps per day: one every 20 minutes
SOLAR_CONSTANT = 1361.0  # W/m^2
_WRITTEN_AT_ONCE = 32 * COLUMNS  # rows; changing it changes which random numbers a row gets
# The number of each part in the seed of its rows.
_PARTS: dict[Part, int] = {"train": 0, "val": 1, "scoring": 2}
#: Each solar output as a share of the net shortwave flux.
_SOLAR_SHARE = {"NETSW": 1.0, "SOLS": 0.35, "SOLL": 0.4, "SOLSD": 0.12, "SOLLD": 0.09}
_LEVEL = np.linspace(0.0, 1.0, LEVELS)  # 0 at the top of the atmosphere, 1 at the ground
# Typical temperature in K and humidity in kg/kg at each level, and the modes around them.
_TEMPERATURE = 210.0 + 85.0 * _LEVEL**2
_HUMIDITY = 2e-6 + 0.012 * _LEVEL**4
_MODES = np.stack([np.cos(np.pi * k * _LEVEL) for k in range(N_MODES)]) / np.sqrt(1.0 + np.arange(N_MODES))[:, None]


class OutputDistribution(NamedTuple):
    """Mean and standard deviation of the distribution from which each row's output was drawn."""

    mean: Float[np.ndarray, " row"]
    std: Float[np.ndarray, " row"]


def generate_climsim(
    folder: str | Path, n_train: int, n_val: int = 20_000, seed: int = 0, progress: Progress | None = None
) -> Path:
    """Write generated train and val files with ClimSim's format and file names.

    Parameters
    ----------
    folder : str or Path
        The folder to write to; it is created if needed.
    n_train : int
        The number of training rows.
    n_val : int, default=20000
        The number of validation rows.
    seed : int, default=0
        A row's values depend only on the seed and on its position, not on the number of rows.
    progress : callable or None, default=None
        Called with the number of training rows written and the number of all training rows.

    Returns
    -------
    Path
        The folder.
    """
    if min(n_train, n_val) < 1:
        raise InputError(f"n_train={n_train} and n_val={n_val}: choose at least one row of each")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    wanted: dict[Part, int] = {"train": n_train, "val": n_val}
    for part, n_rows in wanted.items():
        inputs, targets = create_files(folder, part, n_rows)
        with inputs.path.open("ab") as x_file, targets.path.open("ab") as y_file:
            for first in range(0, n_rows, _WRITTEN_AT_ONCE):
                random = np.random.default_rng([seed, _PARTS[part], first])
                x = draw_inputs(first, _WRITTEN_AT_ONCE, random)[: n_rows - first]
                x_file.write(x.tobytes())
                y_file.write(_draw_outputs(x, random).tobytes())
                if progress and part == "train":
                    progress(first + len(x), n_rows)
    return folder


def truth(x: Float[np.ndarray, "row feature"], target: str) -> OutputDistribution:
    """Return the true mean and standard deviation of an output given the inputs.

    Parameters
    ----------
    x : array of shape (row, 124)
        Inputs of generated files.
    target : str
        The output, as in `climsim_stream`.

    Returns
    -------
    OutputDistribution
        `mean` and `std` of each row, in the units of the output.
    """
    mean, std = _DISTRIBUTIONS[full_name(target)](_Atmosphere.of(np.asarray(x, np.float64)))
    return OutputDistribution(mean, std)


def draw_inputs(first: int, n_rows: int, random: np.random.Generator) -> Float[np.ndarray, "row feature"]:
    """Draw rows first, ..., first + n_rows - 1 of the inputs: 384 columns per time step, around the globe."""
    row = np.arange(first, first + n_rows)
    modes = random.standard_normal((2, n_rows, N_MODES)).astype(np.float32)
    roughness = random.standard_normal((2, n_rows, LEVELS), np.float32)
    x = np.empty((n_rows, len(INPUTS)), np.float32)
    x[:, :LEVELS] = _TEMPERATURE + 8.0 * (modes[0] @ _MODES) + 0.5 * roughness[0]
    x[:, LEVELS : 2 * LEVELS] = _HUMIDITY * np.exp(0.35 * (modes[1] @ _MODES) + 0.05 * roughness[1])
    x[:, 120] = 98_000.0 + 2_500.0 * random.standard_normal(n_rows)
    hour = 2 * np.pi * ((row // COLUMNS) / STEPS_A_DAY + (row % COLUMNS) / COLUMNS)
    latitude = np.pi * (((row * 0.618034) % 1.0) - 0.5)
    x[:, 121] = SOLAR_CONSTANT * np.maximum(0.0, np.cos(hour) * np.cos(latitude))
    x[:, 122] = random.gamma(2.0, 45.0, n_rows)
    x[:, 123] = random.gamma(1.5, 20.0, n_rows)
    return x


def _draw_outputs(x: Float[np.ndarray, "row feature"], random: np.random.Generator) -> Float[np.ndarray, "row output"]:
    """Draw all outputs given the inputs."""
    state = _Atmosphere.of(x.astype(np.float64))
    y = random.standard_normal((len(x), len(OUTPUTS)), np.float32)
    for column, name in enumerate(OUTPUTS):
        mean, std = _DISTRIBUTIONS[name](state)
        y[:, column] = mean + std * y[:, column]
    return y


class _Atmosphere(NamedTuple):
    """What outputs depend on: dimensionless anomalies, cloud cover from 0 to 1, and incoming sunlight in W/m^2."""

    temperature: Float[np.ndarray, "row level"]
    humidity: Float[np.ndarray, "row level"]
    pressure: Float[np.ndarray, " row"]
    sunlight: Float[np.ndarray, " row"]
    heat: Float[np.ndarray, " row"]
    cloud: Float[np.ndarray, " row"]

    @classmethod
    def of(cls, x: Float[np.ndarray, "row feature"]) -> "_Atmosphere":
        """Compute the state from the inputs."""
        temperature = (x[:, :LEVELS] - _TEMPERATURE) / 8.0
        humidity = np.log(x[:, LEVELS : 2 * LEVELS] / _HUMIDITY) / 0.35
        cloud = 1.0 / (1.0 + np.exp(-1.5 * humidity[:, 30:].mean(axis=1) - 0.5 * temperature[:, 40:].mean(axis=1)))
        return cls(temperature, humidity, (x[:, 120] - 98_000.0) / 2_500.0, x[:, 121], x[:, 122] / 90.0, cloud)


#: A function that gives mean and standard deviation of one output.
_Distribution: TypeAlias = Callable[[_Atmosphere], tuple[np.ndarray, np.ndarray]]


def _solar(share: float) -> _Distribution:
    """Return the distribution of a solar output: clouds reduce its mean and raise its noise."""

    def distribution(state: _Atmosphere) -> tuple[np.ndarray, np.ndarray]:
        mean = state.sunlight * (0.78 - 0.5 * state.cloud)
        noise = 20.0 + 0.14 * state.sunlight * state.cloud
        return share * mean, share * noise

    return distribution


def _rate(level: int, humidity: bool) -> _Distribution:
    """Return the distribution of the rate of change of humidity or temperature at one level."""
    size = 3e-8 * (0.1 + _LEVEL[level]) if humidity else 2e-5

    def distribution(state: _Atmosphere) -> tuple[np.ndarray, np.ndarray]:
        anomaly = (state.humidity if humidity else state.temperature)[:, level]
        return size * np.tanh(state.cloud * anomaly), size * (0.2 + 0.3 * state.cloud)

    return distribution


def _long_wave(state: _Atmosphere) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of the downward long-wave flux."""
    return 300.0 + 40.0 * state.cloud + 15.0 * state.temperature[:, -1], 5.0 + 10.0 * state.cloud


def _rain(size: float) -> _Distribution:
    """Return the distribution of a precipitation rate: its mean grows with the square of cloud cover."""

    def distribution(state: _Atmosphere) -> tuple[np.ndarray, np.ndarray]:
        return size * state.cloud**2 * (1.0 + 0.5 * np.tanh(state.heat - 1.0)), size * (0.1 + 0.5 * state.cloud)

    return distribution


_DISTRIBUTIONS: dict[str, _Distribution] = {
    **{f"ptend_t_{k}": _rate(k, humidity=False) for k in range(LEVELS)},
    **{f"ptend_q0001_{k}": _rate(k, humidity=True) for k in range(LEVELS)},
    **{f"cam_out_{name}": _solar(share) for name, share in _SOLAR_SHARE.items()},
    SURFACE[1]: _long_wave,
    SURFACE[2]: _rain(2e-9),
    SURFACE[3]: _rain(5e-8),
}
