"""The crowd's addresses in the API."""

from django.urls import path

from annotator.api.entry_rules import StudyEntryRules
from annotator.api.erasing import ParticipantErasure
from annotator.api.participants import ParticipantList, QualityList
from annotator.api.slots import Recollection, SlotCounts, StudyRedundancy

STUDY = "studies/<slug:slug>"
urlpatterns = [
    path(f"{STUDY}/participants/", ParticipantList.as_view(), name="participant-list"),
    path(
        f"{STUDY}/participants/<str:pseudonym>/erasure/",
        ParticipantErasure.as_view(),
        name="participant-erasure",
    ),
    path(f"{STUDY}/entry-rules/", StudyEntryRules.as_view(), name="entry-rules"),
    path(f"{STUDY}/quality/", QualityList.as_view(), name="quality-list"),
    path(f"{STUDY}/slots/", SlotCounts.as_view(), name="slot-counts"),
    path(f"{STUDY}/redundancy/", StudyRedundancy.as_view(), name="study-redundancy"),
    path(f"{STUDY}/replacements/", Recollection.as_view(), name="recollection"),
]
