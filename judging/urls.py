"""The judges' addresses, all for members."""

from django.urls import path

from judging import views

app_name = "judging"
urlpatterns = [
    path("studies/<slug:slug>/overview/runs/", views.run_list, name="run-list"),
    *(
        path(
            f"studies/<slug:slug>/overview/runs/<int:run_id>/{act}/",
            views.run_act,
            {"act": act},
            name=f"run-{act}",
        )
        for act in ("pause", "resume", "cancel")
    ),
]
