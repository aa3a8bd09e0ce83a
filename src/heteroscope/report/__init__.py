"""A phase diagram as one self-contained, interactive HTML page. Nothing here trains: what is shown was handed over."""

from heteroscope.report.page import write_report

__all__ = ["write_report"]
