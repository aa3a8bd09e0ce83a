"""The paper's figures and tables, and some beyond it, each an exhibit made of computed parts; and the demo."""

from typing import Any

from heteroscope.paper.beyond_the_paper import BEYOND
from heteroscope.paper.demo import run_demo
from heteroscope.paper.exhibits import Exhibit, Output, exhibit_settings
from heteroscope.paper.figures import FIGURES
from heteroscope.paper.observations import OBSERVATIONS
from heteroscope.paper.parts import part_name, part_settings
from heteroscope.paper.reproduction import Workspace, read_record, run_exhibit
from heteroscope.paper.scales import SCALES, Scale
from heteroscope.paper.tables import TABLES

#: Every exhibit by its name, in the order of the paper and then of docs/results.md.
EXHIBITS: dict[str, Exhibit[Any]] = {**FIGURES, **TABLES, **OBSERVATIONS, **BEYOND}

__all__ = [
    "EXHIBITS",
    "SCALES",
    "Exhibit",
    "Output",
    "Scale",
    "Workspace",
    "exhibit_settings",
    "part_name",
    "part_settings",
    "read_record",
    "run_demo",
    "run_exhibit",
]
