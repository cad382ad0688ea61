"""Loads the demo studies, launches them and lets simulated raters judge them."""

from io import StringIO
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management import call_command

from evaluation.counting import counted
from evaluation.demo.simulation import simulate
from evaluation.demo.studies import STUDIES
from evaluation.extension import extensions
from evaluation.management.base import AssayCommand, Outcome
from evaluation.models import Study
from evaluation.services.studies.launch import launch_study


class Command(AssayCommand):
    help = __doc__

    def perform(self, options: dict[str, Any]) -> Outcome:
        user_model = get_user_model()
        loaded: dict[str, int] = {}
        demo, _ = user_model.objects.get_or_create(username="demo", defaults={"is_staff": True})
        for slug, items, simulation, _ in STUDIES:
            if Study.objects.filter(slug=slug).exists():
                continue
            # One line for each study, once it is there.
            call_command("import_study", str(items), slug=slug, owner=demo.get_username(), stdout=StringIO())
            study = Study.objects.get(slug=slug)
            launch_study(study, by=demo)
            judged = simulate(study, simulation)
            for each in extensions():
                each.fill_demo(study)
            self.stdout.write(f"{study.title}: live, with {counted(judged, 'judgment')} by simulated raters.")
            loaded[study.slug] = judged
        return {"judgments": loaded}
