"""Lists a study's participants: how far they are, what they did and how their visit ended; with --quality the care of
their work."""

from argparse import ArgumentParser
from typing import Any

from annotator.models import Participant
from annotator.services.quality.cached_quality import cached_quality, read_reports
from annotator.services.quality.participant_records import (
    participant_records,
    participant_rows,
    quality_record,
)
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import study_named
from evaluation.services.history import log_copy


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="by its slug")
        parser.add_argument(
            "--quality", action="store_true", help="the figures behind the signs that somebody should look at"
        )

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["study"])
        log_copy(study, "participants, by a command")
        if options["quality"]:
            known = dict(cached_quality(study))
            people = [
                each for each in Participant.objects.filter(study=study).order_by("pk") if each.pk in known
            ]
            reports = read_reports(study, [(each.pk, known[each.pk]) for each in people])
            quality = [quality_record(each) for each in reports]
            for record in quality:
                signs = "; ".join(record["signs"]) or "no signs"
                self.stdout.write(f"{record['rater']}  {record['judged']} judged  {signs}")
            return {"study": study.slug, "quality": quality}
        rows = list(participant_rows(study).order_by("pk"))
        records = participant_records(study, rows, with_ids=True, with_signs=True)
        for record in records:
            ended = record["outcome"] or record["step"]
            excluded = "" if record["excluded"] is None else f"  excluded: {record['excluded']}"
            self.stdout.write(
                f"{record['rater']}  {record['judged']} of {record['quota']} judged  {ended}{excluded}"
            )
        if not records:
            self.stdout.write("Nobody has taken part yet.")
        return {"study": study.slug, "participants": records}
