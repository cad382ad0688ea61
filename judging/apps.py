"""The autoraters' app: its place is here, its judges come later."""

from django.apps import AppConfig


class JudgingConfig(AppConfig):
    name = "judging"
    verbose_name = "Judging"
