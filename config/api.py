"""The API's addresses: each app brings its own, and every other one below answers as the API does."""

from django.urls import include, path, re_path

from evaluation.api.schema import NotFoundView, SchemaView

app_name = "api"
urlpatterns = [
    path("", include("evaluation.api.urls")),
    path("", include("analytics.api.urls")),
    path("", include("annotator.api.urls")),
    path("", include("judging.api.urls")),
    path("schema/", SchemaView.as_view(), name="schema"),
    re_path(r"^[\s\S]*$", NotFoundView.as_view(), name="nothing"),
]
