"""Show, pause, resume or cancel a run of a judge or a pipeline; resumed, it is left to the workers.

`manage.py runs S` tells the numbers of runs.
"""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.management.base import AssayCommand, Outcome
from evaluation.refusals import WrongState
from judging.acts import act_on
from judging.management.studies import run_facts, unread_lines
from judging.models import Run
from judging.services.batches.rows import open_batches

ACTS = ("pause", "resume", "cancel")


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("act", choices=["show", *ACTS])
        parser.add_argument("id", type=int)

    def perform(self, options: dict[str, Any]) -> Outcome:
        run = Run.objects.filter(pk=options["id"]).first()
        if run is None:
            raise CommandError(f"There is no run {options['id']}.")
        if options["act"] in ACTS:
            try:
                act_on(run, options["act"], by=None)
            except WrongState as wrong:
                raise CommandError(str(wrong)) from None
        self.stdout.write(f"{str(run).capitalize()} is {run.state_text}.")
        if options["act"] == "show":
            for line in (run.reason_text, *unread_lines(run)):
                if line:
                    self.stdout.write(line)
            for batch in open_batches(run.pk):
                self.stdout.write(
                    f"Batch {batch.remote or batch.pk}: {batch.get_state_display()}"
                    f"{f' ({batch.status})' if batch.status else ''}, {batch.done:,} of {batch.calls:,} done."
                )
        return run_facts(run)
