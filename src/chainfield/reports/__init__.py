"""Reports: what a model does on some data, as one documented JSON object and as a page around it."""

from .contents import report_data
from .page import ReportPage, report

__all__ = ["ReportPage", "report", "report_data"]
