"""The researchers' admin; one module per kind of row or page."""

from evaluation.admin import accounts, item, job, judgment, rater, records
from evaluation.admin.study import study_admin

__all__ = ["accounts", "item", "job", "judgment", "rater", "records", "study_admin"]
