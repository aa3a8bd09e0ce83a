"""Rows with the folds that split them, in the units of the user's target or of the networks'."""

from typing import NamedTuple

from heteroscope.data import Rows
from heteroscope.search.folds import Fold


class FoldedRows(NamedTuple):
    """All rows of a fit, merged, and the folds that split them."""

    rows: Rows
    folds: list[Fold]

    @property
    def n_held(self) -> int:
        """Number of held-out rows of all folds."""
        return sum(len(fold.held.y) for fold in self.folds)

    @property
    def training_share(self) -> float:
        """Average share of the rows that a fold trains on."""
        return sum(len(fold.training.y) for fold in self.folds) / (len(self.folds) * len(self.rows.y))

    def logged(self) -> "FoldedRows":
        """Return the same rows with the logarithms of the targets."""
        return FoldedRows(self.rows.logged(), [fold.logged() for fold in self.folds])

    def without_wild_targets(self) -> "FoldedRows":
        """Return the rows to train on, and folds to compare points by: a few wild targets would hide all others.

        Wild targets are not trained on. Held-out rows stay, those with wild targets with weight zero.
        """
        fences = self.rows.target_fences()
        return FoldedRows(
            self.rows.within(fences),
            [
                fold._replace(training=fold.training.within(fences), held=fold.held.ignoring_beyond(fences))
                for fold in self.folds
            ],
        )
