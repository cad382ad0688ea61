"""Calls in the admin, with what was asked and what came back."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from evaluation.admin.base import StudyRowFilter, StudyScopedAdmin
from judging.models import Call, Run


class RunFilter(StudyRowFilter):
    title = parameter_name = "run"
    model = Run
    related = ("judging__judge",)


@admin.register(Call)
class CallAdmin(StudyScopedAdmin):
    """Calls, with requests and raw replies."""

    address = "calls"
    study_path = "run__study"
    tab = "judges"
    fields = (
        "run",
        "item",
        "replicate",
        "step",
        "order",
        "state",
        "outcome",
        "attempts",
        "error",
        "raw",
        "data",
        "rationale",
        "cached",
        "prompt_tokens",
        "completion_tokens",
        "cost",
        "latency_ms",
        "finished_at",
    )
    list_display = (
        "item",
        "replicate",
        "step",
        "order",
        "state",
        "outcome",
        "attempts",
        "error",
        "latency_ms",
    )
    list_filter = (RunFilter, "state", "outcome")
    list_select_related = ("run__study", "run__judging__judge", "item")
    search_fields = ("item__key", "error")
    search_help_text = "An item's key, or words of an error"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        return (
            rows.select_related("item", "run__judging__judge", "run__study")
            .defer("item__stimulus")
            .order_by("pk")
        )
