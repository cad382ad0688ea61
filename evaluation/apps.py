"""The domain app."""

from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"
    verbose_name = "Evaluation"

    def ready(self) -> None:
        from django.db.models.signals import post_migrate, pre_migrate

        from evaluation.database.answers_view import drop_view, make_view
        from evaluation.database.trigrams import make_trigram_indexes
        from evaluation.operations import checks  # noqa: F401 - registers the system checks

        pre_migrate.connect(drop_view, sender=self)
        post_migrate.connect(make_view, sender=self)
        post_migrate.connect(make_trigram_indexes, sender=self)
