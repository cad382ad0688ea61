"""The panel's own records in the admin, as it gave them, and the former addresses of a study's panel."""

from collections.abc import Iterable

from django.contrib import admin

from annotator.models import PanelRecord
from evaluation.admin.base import StudyFilter, StudyScopedAdmin

# Parts of the former addresses that have another name now.
RENAMED = {"know/": "acknowledge", "ask/<int:record>/": "ask", "whom/": "filters"}
FORMER = (
    "preset/", "draft/", "places/", "publish/", "pause/", "start/", "sync/", "reading/", "approve/",
    "reject/<int:record>/", "bonuses/", "send/", "settle/<int:act>/", "settle-paid/<int:act>/", "pay-again/<int:act>/",
    "take-down/<int:record>/", "cancel/<int:act>/", "link/", "discard/<int:participant>/", "reopen/<int:known>/",
)  # fmt: skip


def _key(route: str) -> str:
    key = route.partition("/")[0].replace("-", "_")
    return "bonus" if key == "bonuses" else key


@admin.register(PanelRecord)
class PanelRecordAdmin(StudyScopedAdmin):
    study_path = "panel__study"
    tab = "panel"
    fields = (
        "external_id", "participant_id", "submission", "status", "status_at", "started_at", "completed_at", "code",
    )  # fmt: skip
    list_display = ("external_id", "participant_id", "status", "status_at", "code", "submission")
    list_filter = (StudyFilter.at("panel__study"), "status")
    list_select_related = ("panel__study", "submission")
    search_fields = ("external_id", "participant_id")
    ordering = ("-pk",)

    def moved_pages(self) -> Iterable[tuple[str, str]]:
        yield "<int:pk>/reconciliation/", "evaluation_study_panel"
        for route in FORMER:
            yield f"<int:pk>/panel/{route}", f"evaluation_study_panel_{_key(route)}"
        for route, key in RENAMED.items():
            yield f"<int:pk>/panel/{route}", f"evaluation_study_panel_{key}"
