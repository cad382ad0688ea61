"""The domain app."""

from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"
    verbose_name = "Evaluation"

    def ready(self) -> None:
        from evaluation import hooks
        from evaluation.operations import checks  # noqa: F401 - registers the system checks

        hooks.methods_facts.register("revisions", "evaluation.selectors.pooled_revisions")
