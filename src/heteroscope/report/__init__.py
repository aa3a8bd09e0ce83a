"""Write a phase diagram as one self-contained, interactive HTML page; its JavaScript and CSS are in `assets/`."""

from heteroscope.report.page import write_report

__all__ = ["write_report"]
