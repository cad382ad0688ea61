"""The judges' addresses, all for members."""

from django.urls import path

from judging import views

app_name = "judging"
urlpatterns = [
    path("studies/<slug:slug>/runs/", views.run_list, name="run-list"),
    path("studies/<slug:slug>/runs/<int:run_id>/pause/", views.run_pause, name="run-pause"),
    path("studies/<slug:slug>/runs/<int:run_id>/resume/", views.run_resume, name="run-resume"),
    path("studies/<slug:slug>/runs/<int:run_id>/cancel/", views.run_cancel, name="run-cancel"),
]
