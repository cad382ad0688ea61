"""The crowd's app."""

from django.apps import AppConfig


class AnnotatorConfig(AppConfig):
    name = "annotator"
    verbose_name = "Annotator"
    extension = "annotator.extension.CrowdExtension"

    def ready(self) -> None:
        from annotator.panels import checks  # noqa: F401 - registers the system checks
