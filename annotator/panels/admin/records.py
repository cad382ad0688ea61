"""The panel's own records in the admin, as it gave them."""

from django.contrib import admin

from annotator.models import PanelRecord
from evaluation.admin.base import StudyScopedAdmin


@admin.register(PanelRecord)
class PanelRecordAdmin(StudyScopedAdmin):
    address = "panel/records"
    study_path = "panel__study"
    private_fields = ("external_id", "participant_id")
    tab = "panel"
    fields = (
        "external_id", "participant_id", "submission", "status", "status_at", "started_at", "completed_at", "code",
    )  # fmt: skip
    list_display = ("external_id", "participant_id", "status", "status_at", "code", "submission")
    list_display_links = ("status",)
    list_filter = ("status",)
    list_select_related = ("panel__study", "submission")
    search_fields = ("external_id", "participant_id")
    ordering = ("-pk",)
