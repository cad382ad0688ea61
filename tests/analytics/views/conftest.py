"""The study that the report's pages are of."""

from tests.judged_contrast import made, owner, shared, study

__all__ = ["made", "owner", "shared", "study"]
