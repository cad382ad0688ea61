"""The addresses of reports, all for members."""

from django.urls import path

from analytics.views.report_files import study_report_file, study_report_files
from analytics.views.study_report import study_report, study_report_json, study_report_markdown

app_name = "analytics"
urlpatterns = [
    path("studies/<slug:slug>/report/", study_report, name="study-report"),
    path("studies/<slug:slug>/report.json", study_report_json, name="study-report-json"),
    path("studies/<slug:slug>/report.md", study_report_markdown, name="study-report-markdown"),
    path("studies/<slug:slug>/report/files/", study_report_files, name="study-report-files"),
    path("studies/<slug:slug>/report/files/<path:path>", study_report_file, name="study-report-file"),
]
