"""Independent answers: a dense Gaussian process, and quadrature from point to point over both fields at once."""

import numpy as np


def laplacian(stiffness):
    """K as a matrix."""
    difference = np.diff(np.eye(len(stiffness) + 1), axis=0)
    return difference.T @ (stiffness[:, None] * difference)


def dense_gp(matrix, alpha, noise, y):
    """Mean and variance of a GP with covariance (2 alpha K)^+, noise of that variance, and an unknown constant."""
    prior = np.linalg.pinv(2 * alpha * matrix)
    inverse = np.linalg.inv(prior + noise * np.eye(len(y)))
    ones = np.ones(len(y))
    constant_variance = 1 / (ones @ inverse @ ones)
    constant = constant_variance * (ones @ inverse @ y)
    left = ones - prior @ inverse @ ones
    mean = constant + prior @ inverse @ (y - constant)
    return mean, np.diag(prior - prior @ inverse @ prior) + constant_variance * left**2


def quadrature(x, y, alpha, beta, shape, rate):
    """Moments of both fields at each point and the log evidence, for an even grid of density one.

    A state is one (mean, log precision); messages pass from point to point in both directions.
    """
    n, stiffness = len(x), 1 / (x[1] - x[0]) ** 2
    mean, logs = np.linspace(-7, 7, 161), np.linspace(-9, 5, 281)
    precision = np.exp(logs)
    cell = (mean[1] - mean[0]) * (logs[1] - logs[0])
    by_mean = np.exp(-alpha * stiffness * (mean[:, None] - mean) ** 2) * np.sqrt(alpha * stiffness / np.pi)
    by_precision = np.exp(-beta * stiffness * (precision[:, None] - precision) ** 2) * np.sqrt(beta * stiffness / np.pi)
    prior = ((shape - 1) * logs - rate * precision) / n + logs
    local = [
        np.exp(0.5 * np.log(precision / (2 * np.pi)) - 0.5 * precision * (one - mean[:, None]) ** 2 + prior)
        for one in y
    ]

    def pass_on(message):
        return by_mean @ message @ by_precision * cell

    forward, backward = [local[0]], [np.ones_like(local[0])]
    for k in range(1, n):
        forward.append(local[k] * pass_on(forward[-1]))
        backward.append(pass_on(local[n - k] * backward[-1]))
    total = forward[-1].sum() * cell
    free = np.exp(prior)
    prior_total = free
    for _ in range(n - 1):
        prior_total = free * (prior_total @ by_precision * (logs[1] - logs[0]))
    moments = []
    for before, after in zip(forward, backward[::-1], strict=True):
        weight = before * after / (before * after).sum()
        parts = [
            weight.sum(axis=1) @ mean,
            weight.sum(axis=1) @ mean**2,
            *(weight.sum(axis=0) @ v for v in (precision, precision**2, 1 / precision)),
        ]
        moments.append(
            (parts[0], np.sqrt(parts[1] - parts[0] ** 2), parts[2], np.sqrt(parts[3] - parts[2] ** 2), parts[4])
        )
    return np.array(moments).T, np.log(total) - np.log(prior_total.sum() * (logs[1] - logs[0]))


def penalties_to_cell(alpha, beta):
    """(rho, gamma) of (alpha, beta)."""
    return 1 / (1 + alpha + beta), alpha / (alpha + beta)
