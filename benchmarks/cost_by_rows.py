"""stub to be completed below"""
import numpy as np
from jaxtyping import Float

N_FEATURES = 20

def smooth(x, random):
    mean = np.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2] + np.exp(-2 * x[:, 3] ** 2) + 0.5 * np.cos(4 * x[:, 4] + x[:, 5])
    return mean, 0.1 * np.exp(x[:, 6] + 0.5 * np.sin(3 * x[:, 7]))

def steps(x, random):
    corners = random.integers(0, 2, (40, 4)).astype(bool)
    mean, log_std = np.zeros(len(x)), np.zeros(len(x))
    for _ in range(12):
        a, b, c = random.choice(N_FEATURES, 3, replace=False)
        s, t = random.uniform(-0.6, 0.6, 2)
        box = (x[:, a] > s) & (x[:, b] < t)
        mean += random.normal() * box
        log_std += 0.5 * random.normal() * (x[:, c] > s)
    return mean, 0.3 * np.exp(log_std)

def noisy(x, random):
    mean = np.tanh(2 * x[:, 0]) + 0.3 * x[:, 1]
    return mean, np.exp(2.3 * x[:, 2] * np.cos(2 * x[:, 3]))

def weak(x, random):
    mean = 0.3 * np.sin(2 * x[:, 0]) + 0.2 * x[:, 1] * x[:, 2]
    return mean, 1.0 + 0.3 * x[:, 3]
KINDS = {"smooth": smooth, "steps": steps, "noisy": noisy, "weak": weak}

def table(kind, n_rows, seed):
    random = np.random.default_rng([sum(map(ord, kind)), seed])
    x = random.uniform(-1, 1, (n_rows, N_FEATURES))
    mean, std = KINDS[kind](x, np.random.default_rng([7, seed]))
    y = mean + std * random.normal(size=n_rows)
    true = 0.5 * np.log(2 * np.pi) + np.log(std) + 0.5 * ((y - mean) / std) ** 2
    return x, y, true
