"""All addresses: the apps bring their own."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("evaluation.urls")),
    path("", include("annotator.urls")),
]
