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
from evaluation.services.notes import add_note
from evaluation.services.studies.launch import launch_study


class Command(AssayCommand):
    help = __doc__

    def perform(self, options: dict[str, Any]) -> Outcome:
        user_model = get_user_model()
        loaded: dict[str, int] = {}
        demo, _ = user_model.objects.get_or_create(username="demo", defaults={"is_staff": True})
        for each in STUDIES:
            if Study.objects.filter(slug=each.slug).exists():
                continue
            # One line for each study, once it is there.
            call_command(
                "import_study", str(each.items), slug=each.slug, owner=demo.get_username(), stdout=StringIO()
            )
            study = Study.objects.get(slug=each.slug)
            launch_study(study, by=demo)
            judged = simulate(study, each.simulation)
            for extension in extensions():
                extension.fill_demo(study)
            if each.settled:
                settled = {"file": each.settled, "by": demo.get_username()}
                call_command("settle", study.slug, **settled, stdout=StringIO())
            for key, text in each.notes:
                add_note(study.items.get(key=key), text=text, by=demo)
            self.stdout.write(f"{study.title}: live, with {counted(judged, 'judgment')} by simulated raters.")
            loaded[study.slug] = judged
        return {"judgments": loaded}
