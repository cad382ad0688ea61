"""All addresses: the apps bring their own."""

from django.contrib import admin
from django.urls import include, path

handler500 = "config.errors.pages.error_page"
urlpatterns = [
    # First what is asked for most: participants' pages.
    path("", include("annotator.urls")),
    path("", admin.site.urls),
    path("api/v1/", include("config.api")),
    path("", include("evaluation.urls")),
    path("", include("analytics.urls")),
    path("", include("judging.urls")),
]
