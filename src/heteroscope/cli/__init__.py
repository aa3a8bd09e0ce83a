"""The command line: one module for each command. Functions import what is slow, so that help appears at once."""

import click

from heteroscope import __version__
from heteroscope.cli.compare import compare
from heteroscope.cli.demo import demo
from heteroscope.cli.field import field
from heteroscope.cli.fit import fit
from heteroscope.cli.leaderboard import leaderboard
from heteroscope.cli.map import map_
from heteroscope.cli.one_line_errors import OneLineGroup
from heteroscope.cli.predict import predict
from heteroscope.cli.reproduce import reproduce


@click.group(cls=OneLineGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="heteroscope")
def main() -> None:
    """Regression with a mean and a standard deviation for each row, and a diagnosis of whether to trust them.

    \b
    Start with:
      heteroscope demo
      heteroscope fit table.csv --target y --out model
      heteroscope predict model new.csv --out predictions.csv
      heteroscope map table.csv --target y --out map --report page.html
    """


for command in (demo, fit, predict, map_, field, compare, leaderboard, reproduce):
    main.add_command(command)
