"""Show or steers a judge's run; resumed, it is left to the workers. `manage.py runs S` tells the numbers of runs."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.management.base import AssayCommand
from evaluation.refusals import WrongState
from judging.management.studies import unread_lines
from judging.models import Run
from judging.services import cancel_run, pause_run, resume_run
from judging.services.batches.rows import open_batches
from judging.tasks import enqueue_batch_end, enqueue_run

ACTS = {"pause": pause_run, "resume": resume_run, "cancel": cancel_run}


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("act", choices=["show", *ACTS])
        parser.add_argument("id", type=int)

    def handle(self, *args: Any, **options: Any) -> None:
        run = Run.objects.filter(pk=options["id"], judging__isnull=False).first()
        if run is None:
            raise CommandError(f"There is no run {options['id']}.")
        if options["act"] in ACTS:
            self._steer(run, options["act"])
        self.stdout.write(f"Run {run.pk} ({run.judging}) is {run.state_text}.")
        if options["act"] == "show":
            for line in (run.reason, *unread_lines(run)):
                if line:
                    self.stdout.write(line)
            for batch in open_batches(run.pk):
                self.stdout.write(
                    f"Batch {batch.remote or batch.pk}: {batch.get_state_display()}"
                    f"{f' ({batch.status})' if batch.status else ''}, {batch.done:,} of {batch.calls:,} done."
                )

    def _steer(self, run: Run, act: str) -> None:
        try:
            ACTS[act](run)
        except WrongState as wrong:
            raise CommandError(str(wrong)) from None
        if act == "resume":
            enqueue_run(run)
        elif act == "cancel":
            enqueue_batch_end(run)
