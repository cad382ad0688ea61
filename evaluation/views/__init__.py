"""Members' pages; one module per screen."""

from evaluation.views.study_list import study_list

__all__ = ["study_list"]
