"""The app of figures: no models of its own."""

from django.apps import AppConfig


class AnalyticsConfig(AppConfig):
    name = "analytics"
    verbose_name = "Analytics"
    extension = "analytics.extension.FiguresExtension"

    def ready(self) -> None:
        from analytics import checks  # noqa: F401 - registers the system checks
