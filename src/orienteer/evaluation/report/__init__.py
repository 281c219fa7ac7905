"""A report on runs as one self-contained page."""

from orienteer.evaluation.report.page import write_report

__all__ = ["write_report"]
