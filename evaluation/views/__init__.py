"""What members see; one module per screen."""

from evaluation.views.study_detail import study_detail
from evaluation.views.study_list import study_list
from evaluation.views.study_report import study_report, study_report_json, study_report_markdown

__all__ = ["study_detail", "study_list", "study_report", "study_report_json", "study_report_markdown"]
