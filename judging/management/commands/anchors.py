"""Set, show or end the schedule by which a judge judges its anchor items again, or start what is due."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import study_named
from evaluation.refusals import FieldsRefused
from judging.management.studies import amount, judge_facts, refusal
from judging.models import AnchorSchedule, Judge
from judging.services.anchors import set_anchors, start_due_anchors, stop_anchors
from judging.tasks import enqueue_run


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--judge", metavar="NAME", help="its newest version")
        parser.add_argument("--every", type=int, metavar="DAYS")
        parser.add_argument("--items", type=int, metavar="N", help="drawn by the study's seed; default: all")
        parser.add_argument("--budget", metavar="X", help="of each run")
        parser.add_argument("--batch", action="store_true", help="ask as batches")
        parser.add_argument("--stop", action="store_true", help="end the judge's schedule")
        parser.add_argument(
            "--start-due", action="store_true", help="start what is due, of every study, as beat does"
        )

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["slug"])
        if options["judge"]:
            judge = Judge.objects.filter(study=study, name=options["judge"]).order_by("-version").first()
            if judge is None:
                raise CommandError(f"{study.title} has no judge {options['judge']!r}.")
            self._set(judge, options)
        started = start_due_anchors() if options["start_due"] else []
        for run in started:
            enqueue_run(run)
            self.stdout.write(f"Started {run}.")
        schedules = list(AnchorSchedule.objects.filter(judge__study=study).select_related("judge"))
        for each in schedules:
            self.stdout.write(
                f"{each.judge}: {each}, next {each.next_at:%Y-%m-%d %H:%M} UTC. {each.problem}".strip()
            )
        return {
            "study": study.slug,
            "started": [run.pk for run in started],
            "schedules": [
                {**judge_facts(each.judge), "next_at": each.next_at, "problem": each.problem}
                for each in schedules
            ],
        }

    def _set(self, judge: Judge, options: dict[str, Any]) -> None:
        if options["stop"]:
            if not stop_anchors(judge):
                raise CommandError(f"{judge} has no schedule.")
            self.stdout.write(f"{judge} is not run by itself any more.")
        elif options["every"] is not None:
            budget = None if options["budget"] is None else amount(options["budget"])
            try:
                set_anchors(
                    judge,
                    every_days=options["every"],
                    max_items=options["items"],
                    budget=budget,
                    by_batch=options["batch"],
                )
            except FieldsRefused as refused:
                raise refusal(refused.by_field) from None
