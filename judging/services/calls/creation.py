"""A run's calls, created ahead of the work on them in short batches of subjects."""

from django.db import transaction

from judging.models import Call, Run
from judging.services.calls.bulk_rows import insert_rows
from judging.services.calls.workload import Workload


class CallCreator:
    """Creates a run's calls, a batch of subjects at a time. Several workers may: each batch locks the run."""

    def __init__(self, run: Run, workload: Workload) -> None:
        self.run_id = run.pk
        self.workload = workload
        blank = Call(run_id=run.pk)
        self._new = {
            field.attname: getattr(blank, field.attname)
            for field in Call._meta.concrete_fields
            if not field.primary_key
        }

    def create_batch(self) -> bool:
        """Create the calls of one batch of subjects; True if there may be more."""
        with transaction.atomic():
            run = Run.objects.select_for_update(no_key=True).get(pk=self.run_id)
            if run.last_subject is None:
                return False
            new = self.workload.create_calls(run.last_subject)
            insert_rows(Call, [self._new | row for row in new.rows])
            run.last_subject = new.last_subject
            run.save(update_fields=["last_subject"])
            return new.last_subject is not None
