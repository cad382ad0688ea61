"""The addresses of reports, for members, and of the leaderboards that owners publish, for everybody."""

from django.urls import path

from analytics.views.leaderboard import leaderboard, leaderboard_csv, leaderboard_json
from analytics.views.report_files import study_report_file, study_report_files
from analytics.views.report_section import study_report_section
from analytics.views.saved_views import study_report_views
from analytics.views.study_bundle import study_bundle, study_bundle_file
from analytics.views.study_comparison import study_comparison, study_comparison_file
from analytics.views.study_leaderboard import (
    study_leaderboard,
    study_leaderboard_csv,
    study_leaderboard_json,
    study_leaderboard_publication,
)
from analytics.views.study_report import study_report, study_report_json, study_report_markdown

app_name = "analytics"
urlpatterns = [
    path("studies/<slug:slug>/report/", study_report, name="study-report"),
    path("studies/<slug:slug>/report.json", study_report_json, name="study-report-json"),
    path("studies/<slug:slug>/report.md", study_report_markdown, name="study-report-markdown"),
    path(
        "studies/<slug:slug>/report/sections/<slug:heading>/",
        study_report_section,
        name="study-report-section",
    ),
    path("studies/<slug:slug>/report/views/", study_report_views, name="study-report-views"),
    path("studies/<slug:slug>/report/files/", study_report_files, name="study-report-files"),
    path("studies/<slug:slug>/report/files/<path:path>", study_report_file, name="study-report-file"),
    path("studies/<slug:slug>/report/bundle/", study_bundle, name="study-bundle"),
    path("studies/<slug:slug>/report/bundle.zip", study_bundle_file, name="study-bundle-file"),
    path("studies/<slug:slug>/comparison/", study_comparison, name="study-comparison"),
    path("studies/<slug:slug>/comparison.<slug:suffix>", study_comparison_file, name="study-comparison-file"),
    path("studies/<slug:slug>/leaderboard/", study_leaderboard, name="study-leaderboard"),
    path("studies/<slug:slug>/leaderboard.json", study_leaderboard_json, name="study-leaderboard-json"),
    path("studies/<slug:slug>/leaderboard.csv", study_leaderboard_csv, name="study-leaderboard-csv"),
    path(
        "studies/<slug:slug>/leaderboard/publication/",
        study_leaderboard_publication,
        name="study-leaderboard-publication",
    ),
    path("leaderboards/<slug:slug>/", leaderboard, name="leaderboard"),
    path("leaderboards/<slug:slug>/leaderboard.json", leaderboard_json, name="leaderboard-json"),
    path("leaderboards/<slug:slug>/leaderboard.csv", leaderboard_csv, name="leaderboard-csv"),
]
