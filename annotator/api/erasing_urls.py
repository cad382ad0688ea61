"""The address of an erasure in the API."""

from django.urls import path

from annotator.api.erasing import ParticipantErasure

urlpatterns = [
    path(
        "studies/<slug:slug>/participants/<str:pseudonym>/erasure/",
        ParticipantErasure.as_view(),
        name="participant-erasure",
    ),
]
