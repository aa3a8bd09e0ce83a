"""Write a phase diagram, a fit or anyone's forecasts as one self-contained HTML page; scripts and styles: `assets/`."""

from heteroscope.report.fit_page import write_fit_report
from heteroscope.report.page import write_report

__all__ = ["write_fit_report", "write_report"]
