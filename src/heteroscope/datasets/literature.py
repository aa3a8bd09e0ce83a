"""The 20 splits on which the literature publishes its scores of UCI sets (Hernandez-Lobato & Adams 2015, Gal 2016).

numpy.random.seed(1);  for each split: p = numpy.random.choice(range(n), n, replace=False)
training rows: p[: round(0.9 n)],  test rows: the rest, in this order

They depend on n alone, so the order of the rows in the file decides which rows they hold. NumPy's legacy generator
gives the same numbers on every processor and in every version; checksums guard that.
"""

import hashlib
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from heteroscope.core import InputError
from heteroscope.datasets.splitting import Indices

#: How many splits are published of each set, and of protein, which is the largest.
N_PUBLISHED, N_PUBLISHED_PROTEIN = 20, 5
#: SHA-256 of 20 permutations as little-endian 32-bit numbers, by the number of rows: yacht, housing, energy, concrete,
#: wine, kin8nm, power, naval and protein.
CHECKSUMS: dict[int, str] = {
    308: "efd4f6dc803ed62767c4fde8021564c54499b186add772286c04dafc9c0e15fb",
    506: "34fc9307c7acf63fc1f4cb7c1cf859a0d21b98c7bd256a45b5c7e11327df13e6",
    768: "78d41186aa1446f573e26ea3141d976d8aa85a30541e39b4e2807017f5aa0fe6",
    1030: "bfd0744ccd3486ec220a359948d4e59bc2967410144152378216dcdf0709ec3b",
    1599: "6da07f4b6b2b9dc151cf9fee32307bfbea14027c694786908c46bac40ae0eda6",
    8192: "4f25cc41cfa6f4f83ec8f01147c5f4d37b56e2dbfb946cccd0ecb8a4af29fab9",
    9568: "d2bfef6e86be21148cabd1ba45708bac4a69c0a7bfc766cdc0d4322c7263b15f",
    11934: "50e29695fc663088f473099f7af62a63f612312d33d248e7eef008c99aae14b2",
    45730: "80d1b10ede41fb225fc5d5ccc0774b4a55704668bdf867267123c34c4964be7f",
}


class PublishedOrder(NamedTuple):
    """The published order of the rows of a set: its size, and what tells it from other orders.

    `targets` are the targets of `PROBES` rows spread evenly over the file, `total` is the sum of all targets, and
    `moment` is the average of (place / n) y, with places 0, 1, ..., n - 1: nearly every exchange of rows changes it.
    """

    n_rows: int
    total: float
    moment: float
    targets: tuple[float, ...]


PROBES = 12  # rows whose targets are compared
#: Largest relative difference of targets in files that round differently.
ROUNDING = 1e-3
ORDERS: dict[str, PublishedOrder] = {
    "yacht": PublishedOrder(
        308, 3232.57, 5.4592857, (0.11, 51.8, 50.36, 54.23, 44.38, 55.44, 51.99, 55.17, 62.42, 50.94, 55.87, 46.66)
    ),
    "housing": PublishedOrder(
        506, 11401.6, 10.643106, (24, 19.3, 22, 17.1, 32.5, 31.5, 32, 23.1, 23.1, 16.3, 20, 11.9)
    ),
    "concrete": PublishedOrder(
        1030,
        36892.371,
        16.392107,
        (79.9861, 46.2018, 29.4475, 24.4281, 16.2785, 41.1617, 33.0824, 24.2909, 33.2121, 30.1232, 29.413, 32.4012),
    ),
    "wine": PublishedOrder(1599, 9012, 2.8317358, (5, 5, 7, 5, 5, 6, 5, 7, 7, 4, 7, 6)),
    "power": PublishedOrder(
        9568,
        4347364.4,
        227.1987,
        (480.48, 477.22, 448.93, 441.94, 464.07, 454.59, 459.6, 484.65, 440.63, 441, 441.84, 451.67),
    ),
    "protein": PublishedOrder(
        45730,
        354340.21,
        3.8927667,
        (17.284, 4.208, 3.62, 13.473, 4.961, 1.915, 2.74, 17.548, 15.415, 19.733, 16.209, 18.827),
    ),
}


def published_splits(name: str, y: Float64[np.ndarray, " row"], n_splits: int | None = None) -> list[Indices]:
    """Return the published splits of a table.

    Parameters
    ----------
    name : str
        The name of the table in messages.
    y : array of shape (row,)
        The targets of all rows, in the order of the published file.
    n_splits : int or None, default=None
        How many splits, from the first on; None is all: 20, and 5 of protein.

    Returns
    -------
    list of (train, test)
        The numbers of the training rows and of the test rows.
    """
    n = len(y)
    if n not in CHECKSUMS:
        raise InputError(
            f"{name} has {n} rows, and splits are published of tables with {', '.join(map(str, CHECKSUMS))} rows: use "
            "the protocol literature"
        )
    most = N_PUBLISHED_PROTEIN if n == ORDERS["protein"].n_rows else N_PUBLISHED
    if n_splits is not None and not 1 <= n_splits <= most:
        raise InputError(f"{most} splits of {name} are published, and {n_splits} are wanted: ask for 1 to {most}")
    check_order(name, y)
    random = np.random.RandomState(1)
    orders = [random.choice(n, n, replace=False) for _ in range(N_PUBLISHED)]
    if hashlib.sha256(b"".join(order.astype("<i4").tobytes() for order in orders)).hexdigest() != CHECKSUMS[n]:
        raise InputError(
            f"the splits of {n} rows are not the published ones: this NumPy {np.__version__} draws other numbers from "
            "its legacy generator; use the protocol literature"
        )
    cut = round(0.9 * n)
    return [(order[:cut], order[cut:]) for order in orders[: n_splits or most]]


def check_order(name: str, y: Float64[np.ndarray, " row"]) -> None:
    """Raise an `InputError` if these are the rows of a set of `ORDERS` in another order.

    Of other tables with as many rows nothing is known, and they pass.
    """
    for known, order in ORDERS.items():
        if len(y) == order.n_rows and np.isclose(y.sum(), order.total, rtol=ROUNDING):
            _refuse_other_order(name, known, order, y)


def _refuse_other_order(name: str, known: str, order: PublishedOrder, y: Float64[np.ndarray, " row"]) -> None:
    """Raise an `InputError` that names a row which is not where it is published."""
    places = probe_places(order.n_rows)
    size = np.ptp(order.targets)
    wrong = np.abs(y[places] - order.targets) > ROUNDING * (np.abs(order.targets) + size)
    cure = "sort them as in the UCI file, or use the protocol literature"
    if wrong.any():
        k = int(np.argmax(wrong))
        raise InputError(
            f"{name} has the rows of {known} in another order than the published splits: row {places[k] + 1} has the "
            f"target {y[places[k]]:g} instead of {order.targets[k]:g}; {cure}"
        )
    if abs(order_moment(y) - order.moment) > 0.1 * ROUNDING * size:
        raise InputError(f"{name} has the rows of {known} in another order than the published splits; {cure}")


def probe_places(n: int) -> np.ndarray:
    """Return the places of the rows whose targets are compared."""
    return np.linspace(0, n - 1, PROBES).astype(int)


def order_moment(y: Float64[np.ndarray, " row"]) -> float:
    """Return the average of (place / n) y."""
    return float(np.mean(np.arange(len(y)) / len(y) * y))
