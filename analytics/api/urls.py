"""The addresses of reports in the API."""

from django.urls import path

from analytics.api.report import ReportDetail

urlpatterns = [
    path("studies/<slug:slug>/report/", ReportDetail.as_view(), name="report-detail"),
]
