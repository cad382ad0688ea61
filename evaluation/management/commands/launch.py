"""Launches a draft: compiles and freezes its items, deals the places and opens it to participants."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.urls import reverse
from tqdm import tqdm

from evaluation.counting import counted
from evaluation.job_kinds import LAUNCH
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.outcomes import study_facts
from evaluation.management.studies import study_named
from evaluation.models import Status, Study
from evaluation.refusals import Refused, WrongState
from evaluation.services.history import server_account
from evaluation.services.jobs import begin_job
from evaluation.services.studies.launch import (
    Weight,
    launch_advice,
    launch_cautions,
    launch_study,
    missing_before_launch,
)
from evaluation.tasks import send_job


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--confirm", action="store_true", help="launch despite the cautions")
        parser.add_argument(
            "--check", action="store_true", help="list what the draft lacks, and launch nothing"
        )
        parser.add_argument("--background", action="store_true", help="leave the work to the worker")

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["slug"])
        if options["check"]:
            return self._check(study)
        if study.status == Status.DRAFT:
            self._caution(study, confirmed=options["confirm"])
        if options["background"]:
            return {"study": study.slug, "job": self._leave_to_worker(study)}
        if study.status == Status.DRAFT:
            for advice in launch_advice(study):
                self.stderr.write(f"Warning: {advice.text}")
        items = study.items.count()
        quiet = items < settings.ASSAY_BATCH_SIZE
        with tqdm(total=items, unit="item", disable=quiet, file=self.stderr) as bar:
            try:
                launch_study(
                    study, by=server_account(), on_batch=lambda done: bar.update(done - bar.n) and None
                )
            except WrongState as wrong:
                raise CommandError(str(wrong)) from None
            except Refused as refused:
                for problem in refused.problems:
                    self.stderr.write(problem)
                raise CommandError(f"Not launched: {counted(len(refused.problems), 'problem')}.") from None
        address = reverse("annotator:entry", args=[study.slug])
        self.stdout.write(
            f"{study.title} is live with {counted(items, 'item')}; participants enter at {address}"
        )
        return study_facts(study) | {"items": items, "address": address}

    def _check(self, study: Study) -> Outcome:
        missing = missing_before_launch(study)
        for each in missing:
            self.stdout.write(f"{each.weight}: {each.advice.text}")
        ready = study.status == Status.DRAFT and all(each.weight != Weight.BLOCKS for each in missing)
        if ready:
            self.stdout.write("No blocking issues.")
        facts = [
            {"weight": each.weight, "text": each.advice.text, "field": each.advice.field} for each in missing
        ]
        return study_facts(study) | {"ready": ready, "missing": facts}

    def _leave_to_worker(self, study: Study) -> int:
        if study.status != Status.DRAFT:
            raise CommandError(f"Only a draft can be launched; this study is {study.status}.")
        try:
            job = begin_job(kind=LAUNCH.key, slug=study.slug, study=study, by=None)
        except Refused as refused:
            raise CommandError(str(refused)) from None
        if send_job(job.pk):
            self.stdout.write(f"{study.title} will be launched by the worker.")
        else:
            self.stdout.write(
                f"The job queue can't be reached right now. The launch of {study.title} is saved, and starts by itself "
                "once it can."
            )
        return job.pk

    def _caution(self, study: Study, *, confirmed: bool) -> None:
        cautions = launch_cautions(study)
        for each in cautions:
            self.stderr.write(f"Caution: {each}")
        if cautions and not confirmed:
            raise CommandError(
                f"Not launched: {counted(len(cautions), 'caution')}. To launch all the same, use --confirm."
            )
