"""manage.py verify S: recomputes every hash of a study and checks what must always hold."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from evaluation.counting import counted
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import study_named
from evaluation.models import Judgment
from evaluation.services.seals import sealed_state
from evaluation.services.studies.verification import erased_facts, verify_study


class Command(AssayCommand):
    help = "Recomputes a study's hashes and checks its invariants; fails if anything does not hold."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="The study's slug.")

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["study"])
        if not study.is_frozen:
            self.stdout.write(
                f"{study.slug} is a draft: nothing is frozen yet, so there is nothing to check."
            )
            return {"study": study.slug, "checked": False}
        digest = sealed_state(study)["digest"]
        found = 0
        for sentence in verify_study(study):
            found += 1
            self.stdout.write(sentence)
        if found:
            raise CommandError("1 check failed." if found == 1 else f"{found:,} checks failed.")
        for sentence in erased_facts(study):
            self.stdout.write(sentence)
        self.stdout.write(
            f"{study.slug}: all is well. Checked the hashes of {counted(study.revisions.count(), 'revision')} and "
            f"{counted(study.items.count(), 'item')}, the study hash {study.study_hash[:12]}..., and "
            f"{counted(Judgment.objects.filter(study=study).count(), 'judgment')}. Digest of what is sealed: "
            f"{digest}."
        )
        return {"study": study.slug, "checked": True, "study_hash": study.study_hash, "digest": digest}
