"""Files of ClimSim's format with a known conditional mean and variance, at any number of rows.

    output = mean(x) + std(x) * N(0, 1)

Profiles of temperature and humidity come from a few smooth modes, so that levels are correlated; the sun shines on half
of the columns at a time, and where it does not, the solar outputs have mean zero and little noise. All of it is made up
for tests and benchmarks: nothing here is physics.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from heteroscope.core import InputError, Progress
from heteroscope.datasets.climsim import COLUMNS, INPUTS, LEVELS, OUTPUTS, SURFACE, Part, create_files, full_name

N_MODES = 4
STEPS_A_DAY = 72
SOLAR_CONSTANT = 1361.0
_WRITTEN_AT_ONCE = 32 * COLUMNS
_PARTS: dict[Part, int] = {"train": 0, "val": 1, "scoring": 2}
#: The share of net shortwave flux that each solar output has.
_SOLAR_SHARE = {"NETSW": 1.0, "SOLS": 0.35, "SOLL": 0.4, "SOLSD": 0.12, "SOLLD": 0.09}
_LEVEL = np.linspace(0.0, 1.0, LEVELS)  # 0 at the top of the atmosphere, 1 at the ground
_TEMPERATURE = 210.0 + 85.0 * _LEVEL**2
_HUMIDITY = 2e-6 + 0.012 * _LEVEL**4
_MODES = np.stack([np.cos(np.pi * k * _LEVEL) for k in range(N_MODES)]) / np.sqrt(1.0 + np.arange(N_MODES))[:, None]


class Truth(NamedTuple):
    """The distribution that outputs were drawn from, row by row."""

    mean: Float[np.ndarray, " row"]
    std: Float[np.ndarray, " row"]


def write_made_up(
    folder: str | Path, n_train: int, n_val: int = 20_000, seed: int = 0, progress: Progress | None = None
) -> Path:
    """Write train and val files of ClimSim's format and names; rows depend on the seed and their number alone."""
    if min(n_train, n_val) < 1:
        raise InputError(f"{n_train} and {n_val} rows were asked for: write at least one of each")
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


def truth(x: Float[np.ndarray, "row feature"], target: str) -> Truth:
    """Mean and std of an output given the inputs, in the output's units."""
    mean, std = _DISTRIBUTIONS[full_name(target)](_Seen.of(np.asarray(x, np.float64)))
    return Truth(mean, std)


def draw_inputs(first: int, n_rows: int, random: np.random.Generator) -> Float[np.ndarray, "row feature"]:
    """Rows first, first + 1, ... of the inputs: 384 columns a time step, one after the other around the globe."""
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
    seen = _Seen.of(x.astype(np.float64))
    y = random.standard_normal((len(x), len(OUTPUTS)), np.float32)
    for column, name in enumerate(OUTPUTS):
        mean, std = _DISTRIBUTIONS[name](seen)
        y[:, column] = mean + std * y[:, column]
    return y


class _Seen(NamedTuple):
    """The inputs as the outputs depend on them: dimensionless anomalies, and the incoming sunlight as it is."""

    temperature: Float[np.ndarray, "row level"]
    humidity: Float[np.ndarray, "row level"]
    pressure: Float[np.ndarray, " row"]
    sunlight: Float[np.ndarray, " row"]
    heat: Float[np.ndarray, " row"]
    cloud: Float[np.ndarray, " row"]

    @classmethod
    def of(cls, x: Float[np.ndarray, "row feature"]) -> "_Seen":
        temperature = (x[:, :LEVELS] - _TEMPERATURE) / 8.0
        humidity = np.log(x[:, LEVELS : 2 * LEVELS] / _HUMIDITY) / 0.35
        cloud = 1.0 / (1.0 + np.exp(-1.5 * humidity[:, 30:].mean(axis=1) - 0.5 * temperature[:, 40:].mean(axis=1)))
        return cls(temperature, humidity, (x[:, 120] - 98_000.0) / 2_500.0, x[:, 121], x[:, 122] / 90.0, cloud)


_Distribution = Callable[[_Seen], tuple[np.ndarray, np.ndarray]]


def _solar(share: float) -> _Distribution:
    def distribution(seen: _Seen) -> tuple[np.ndarray, np.ndarray]:
        mean = seen.sunlight * (0.78 - 0.5 * seen.cloud)
        noise = 20.0 + 0.14 * seen.sunlight * seen.cloud
        return share * mean, share * noise

    return distribution


def _rate(level: int, humidity: bool) -> _Distribution:
    size = 3e-8 * (0.1 + _LEVEL[level]) if humidity else 2e-5

    def distribution(seen: _Seen) -> tuple[np.ndarray, np.ndarray]:
        anomaly = (seen.humidity if humidity else seen.temperature)[:, level]
        return size * np.tanh(seen.cloud * anomaly), size * (0.2 + 0.3 * seen.cloud)

    return distribution


def _long_wave(seen: _Seen) -> tuple[np.ndarray, np.ndarray]:
    return 300.0 + 40.0 * seen.cloud + 15.0 * seen.temperature[:, -1], 5.0 + 10.0 * seen.cloud


def _rain(size: float) -> _Distribution:
    def distribution(seen: _Seen) -> tuple[np.ndarray, np.ndarray]:
        return size * seen.cloud**2 * (1.0 + 0.5 * np.tanh(seen.heat - 1.0)), size * (0.1 + 0.5 * seen.cloud)

    return distribution


_DISTRIBUTIONS: dict[str, _Distribution] = {
    **{f"ptend_t_{k}": _rate(k, humidity=False) for k in range(LEVELS)},
    **{f"ptend_q0001_{k}": _rate(k, humidity=True) for k in range(LEVELS)},
    **{f"cam_out_{name}": _solar(share) for name, share in _SOLAR_SHARE.items()},
    SURFACE[1]: _long_wave,
    SURFACE[2]: _rain(2e-9),
    SURFACE[3]: _rain(5e-8),
}
