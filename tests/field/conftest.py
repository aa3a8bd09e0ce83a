from collections.abc import Callable

import numpy as np
import pytest

Draw = Callable[..., tuple[np.ndarray, np.ndarray]]


@pytest.fixture(scope="session")
def sine() -> Draw:
    """The paper's sine set on [-1, 1], standardised; noise=0 leaves the true mean."""

    def draw(n_points: int, seed: int = 0, noise: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        x = np.linspace(-1.0, 1.0, n_points)
        t = (x + 1.0) / 2.0
        scale = noise * (np.sin(6 * np.pi * t) + 1.25)
        y = 2 * np.sin(4 * np.pi * t) + scale * np.random.default_rng(seed).standard_normal(n_points)
        return x, (y - y.mean()) / y.std()

    return draw
