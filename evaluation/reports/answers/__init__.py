"""The report of protocols that ask for answers of any kind, question by question (see docs/report.md)."""

from evaluation.reports.answers.build import CODE_VERSION, SCHEMA, build_answers_report

__all__ = ["CODE_VERSION", "SCHEMA", "build_answers_report"]
