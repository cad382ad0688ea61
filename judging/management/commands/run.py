"""Steers a judge's run: pause, resume (in the background), cancel. `manage.py runs S` tells the numbers of runs."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from judging.models import Run
from judging.services import WrongState, cancel_run, pause_run, resume_run
from judging.tasks import enqueue_run

ACTS = {"pause": pause_run, "resume": resume_run, "cancel": cancel_run}


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("act", choices=ACTS)
        parser.add_argument("id", type=int)

    def handle(self, *args: Any, **options: Any) -> None:
        run = Run.objects.filter(pk=options["id"]).first()
        if run is None:
            raise CommandError(f"There is no run {options['id']}.")
        try:
            ACTS[options["act"]](run)
        except WrongState as wrong:
            raise CommandError(str(wrong)) from None
        if options["act"] == "resume":
            enqueue_run(run)
        self.stdout.write(f"Run {run.pk} ({run.judge}) is {run.state_text}.")
