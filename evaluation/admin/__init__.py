"""The researchers' admin; one module per kind of row or page."""

from evaluation.admin import item, job, judgment, rater, records, study

__all__ = ["item", "job", "judgment", "rater", "records", "study"]
