"""Turn the columns of a user's table into features and a target."""

from typing import TYPE_CHECKING, Literal

import click

if TYPE_CHECKING:
    import pandas as pd

    from heteroscope.data import TableEncoder


def fit_encoder(
    frame: "pd.DataFrame", target: str, missing: Literal["refuse", "impute"], unknown: Literal["refuse", "zeros"]
) -> "TableEncoder":
    """Return the encoder of a table's columns, and print what it does to them."""
    from heteroscope.data import TableEncoder

    encoder = TableEncoder.fit(frame, target, missing=missing, unknown=unknown)
    print_notes(encoder)
    return encoder


def print_notes(encoder: "TableEncoder") -> None:
    """Print what the encoder does to the columns of a table."""
    for note in encoder.notes:
        click.echo(f"Note: {note}.")


def named_features(encoder: "TableEncoder", frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the encoded features as a frame, so that the model stores their names."""
    import pandas as pd

    return pd.DataFrame(encoder.features(frame), columns=list(encoder.feature_names))
