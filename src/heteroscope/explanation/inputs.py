"""The rows that a model is explained on, and which of its features belong to one input of the user's table."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int


class Inputs(NamedTuple):
    """Rows of inputs and targets, and the user's names of the inputs.

    Attributes
    ----------
    x : ndarray of shape (n_rows, n_features)
        Features, as the model takes them.
    y, weight : ndarray of shape (n_rows,)
        Targets and weights.
    number : ndarray of shape (n_rows,) or None
        Numbers of the rows in the user's table, counted from 0; None for a stream.
    groups : dict of str to tuple of int
        The columns of `x` that belong to each input: several for an input of categories.
    """

    x: Float[np.ndarray, "row feature"]
    y: Float[np.ndarray, " row"]
    weight: Float[np.ndarray, " row"]
    number: Int[np.ndarray, " row"] | None
    groups: dict[str, tuple[int, ...]]

    @property
    def names(self) -> list[str]:
        """The names of the inputs."""
        return list(self.groups)

    def take(self, most: int) -> "Inputs":
        """Return at most so many rows, chosen evenly from the first to the last."""
        if len(self.y) <= most:
            return self
        chosen = np.linspace(0, len(self.y) - 1, most).round().astype(int)
        number = None if self.number is None else self.number[chosen]
        return self._replace(x=self.x[chosen], y=self.y[chosen], weight=self.weight[chosen], number=number)


def group_features(
    names: Sequence[str], columns: Mapping[str, Sequence[str]] | None = None
) -> dict[str, tuple[int, ...]]:
    """Return which features belong to each input.

    Parameters
    ----------
    names : sequence of str
        The names of all features.
    columns : mapping of str to sequence of str, default=None
        The features of each column of a table, in order; None makes every feature an input of its own.

    Returns
    -------
    dict of str to tuple of int
        The numbers of the features of each input.
    """
    if columns is None:
        return {name: (number,) for number, name in enumerate(names)}
    places = {name: number for number, name in enumerate(names)}
    return {column: tuple(places[name] for name in own) for column, own in columns.items()}
