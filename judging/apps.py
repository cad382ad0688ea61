"""The judges' app."""

from django.apps import AppConfig


class JudgingConfig(AppConfig):
    name = "judging"
    verbose_name = "Judging"
    extension = "judging.extension.JudgesExtension"

    def ready(self) -> None:
        from django.conf import settings

        from judging import checks  # noqa: F401 - registers the system checks
        from judging.retrieval.corpora import CORPORA

        CORPORA.stands_at(lambda: str(settings.ASSAY_CORPORA))
