"""All addresses: the apps bring their own."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/v1/", include("config.api")),
    path("", include("evaluation.urls")),
    path("", include("annotator.urls")),
    path("", include("judging.urls")),
]
