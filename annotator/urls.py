"""The crowd's addresses."""

from django.urls import path, register_converter

from annotator import views
from annotator.admin.participants import participants_section
from annotator.admin.slots import slots_section
from annotator.views.walkthrough.views import walk_phone, walk_station, walk_through


class TokenConverter:
    """The tokens that `annotator.models.new_token` makes."""

    regex = "[A-Za-z0-9_-]{20,64}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(TokenConverter, "token")

app_name = "annotator"
urlpatterns = [
    path("hooks/<slug:platform>/", views.panel_hook, name="panel-hook"),
    path("studies/<slug:slug>/overview/slots/", slots_section, name="slots-section"),
    path("studies/<slug:slug>/overview/participants/", participants_section, name="participants-section"),
    path("studies/<slug:slug>/walk-through/", walk_through, name="walk-through"),
    path("studies/<slug:slug>/walk-through/<slug:station>/", walk_station, name="walk-station"),
    path("studies/<slug:slug>/walk-through/<slug:station>/phone/", walk_phone, name="walk-phone"),
    path("s/<slug:slug>/", views.entry, name="entry"),
    path("p/<token:token>/", views.page, name="page"),
    path("p/<token:token>/go-on/", views.advance, name="advance"),
    path("p/<token:token>/finish/", views.finish_now, name="finish-now"),
    path("p/<token:token>/visit/", views.visit, name="visit"),
    path("p/<token:token>/comments/", views.comments, name="comments"),
    path("p/<token:token>/withdraw/", views.withdraw, name="withdraw"),
    path("p/<token:token>/a/<uuid:assignment_id>/", views.item, name="item"),
    path("p/<token:token>/a/<uuid:assignment_id>/submit/", views.submit, name="submit"),
    path("p/<token:token>/a/<uuid:assignment_id>/again/", views.answer_revision, name="answer-revision"),
    path(
        "p/<token:token>/a/<uuid:assignment_id>/again/draft/",
        views.answer_revision_draft,
        name="answer-revision-draft",
    ),
    path("p/<token:token>/back/", views.back, name="back"),
    path("p/<token:token>/a/<uuid:assignment_id>/skip/", views.skip, name="skip"),
    path("p/<token:token>/a/<uuid:assignment_id>/unskip/", views.unskip, name="unskip"),
    path("p/<token:token>/a/<uuid:assignment_id>/draft/", views.draft, name="draft"),
    path("p/<token:token>/a/<uuid:assignment_id>/problem/", views.problem, name="problem"),
    path("p/<token:token>/a/<uuid:assignment_id>/revise/", views.revise, name="revise"),
    path("p/<token:token>/a/<uuid:assignment_id>/rounds/", views.rounds, name="rounds"),
]
