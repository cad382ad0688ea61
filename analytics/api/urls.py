"""The addresses of reports in the API."""

from django.urls import path

from analytics.api.bundle import StudyBundleFile, StudyBundles
from analytics.api.comparison import ComparisonDetail, ComparisonSchema
from analytics.api.leaderboard import StudyLeaderboard
from analytics.api.report import ReportDetail, ReportSchema
from analytics.api.report_files import ReportFile, ReportFiles

urlpatterns = [
    path("report-schema/", ReportSchema.as_view(), name="report-schema"),
    path("comparison-schema/", ComparisonSchema.as_view(), name="comparison-schema"),
    path("studies/<slug:slug>/report/", ReportDetail.as_view(), name="report-detail"),
    path("studies/<slug:slug>/comparison/", ComparisonDetail.as_view(), name="comparison-detail"),
    path("studies/<slug:slug>/report/files/", ReportFiles.as_view(), name="report-files"),
    path("studies/<slug:slug>/report/file/", ReportFile.as_view(), name="report-file"),
    path("studies/<slug:slug>/leaderboard/", StudyLeaderboard.as_view(), name="leaderboard"),
    path("studies/<slug:slug>/bundle/", StudyBundles.as_view(), name="bundle"),
    path("studies/<slug:slug>/bundle/file/", StudyBundleFile.as_view(), name="bundle-file"),
]
