"""Loads the demo studies, launches them and lets simulated raters judge them."""

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import BaseCommand

from evaluation import hooks
from evaluation.demo.simulation import HERE, simulate
from evaluation.models import Study
from evaluation.services import launch_study

# slug, items, parameters of the simulated raters
STUDIES = (
    ("context-contrast", "context_contrast.jsonl", "simulation.json"),
    ("plain-comparison", "headline_preview.jsonl", "headline_simulation.json"),
)


class Command(BaseCommand):
    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        user_model = get_user_model()
        demo, _ = user_model.objects.get_or_create(username="demo", defaults={"is_staff": True})
        for slug, items, simulation in STUDIES:
            if Study.objects.filter(slug=slug).exists():
                continue
            call_command(
                "import_study",
                str(HERE / items),
                slug=slug,
                protocol="pairwise",
                owner=demo.get_username(),
                stdout=self.stdout,
            )
            study = Study.objects.get(slug=slug)
            launch_study(study)
            judged = simulate(study, simulation)
            for hook in hooks.demo:
                hook(study)
            self.stdout.write(f"{study.title}: live, with {judged} judgments by simulated raters.")
