"""Items for a study that is under way: read aside, frozen there as a launch would, compared, and then moved in."""

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from evaluation.dumps.exports.jsonl import study_record
from evaluation.dumps.imports.draft_items import DraftItemsSource, joined
from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.lines import Source
from evaluation.extension import Watch
from evaluation.models import Revision, Role, Status, Study
from evaluation.refusals import Refused
from evaluation.services.history import log_action, server_account
from evaluation.services.imports import discard_import
from evaluation.services.studies.additions import Addition, addition_conflicts, count_addition, move_items
from evaluation.services.studies.freeze import freeze_items
from evaluation.services.studies.items import require_running
from evaluation.services.studies.launch import MAX_PROBLEMS

# No addition takes so long.
LEFT_BEHIND_AFTER = timedelta(hours=6)
# What a study's line has that is not the items' to bring.
NOT_THEIRS = ("study_hash", "later_specs", "raters", "queries", "simulated", "origin", "sealed")


class RunningItemsSource(DraftItemsSource):
    """A source whose study's line is the running study's latest revision; that of the file adds systems alone."""

    def header(self, given: Mapping[str, Any]) -> dict[str, Any]:
        spec = self.study.revisions.order_by("-number").values_list("spec", flat=True)[0]
        record = {
            name: value for name, value in study_record(self.study, [spec]).items() if name not in NOT_THEIRS
        }
        record["systems"] = joined(record["systems"], given.get("systems", []))
        return record | {"status": Status.DRAFT}


def preview_items(
    source: Source, study: Study, *, watch: Watch = lambda phase, done, total: None
) -> Addition:
    """Count what the source would add, and change nothing; Refused with every reason against it."""
    with _aside(source, study, watch) as incoming:
        return count_addition(study, incoming, source.notes().get("sentences", ()))


def add_items(
    source: Source,
    study: Study,
    *,
    by: Any = None,
    watch: Watch = lambda phase, done, total: None,
    and_then: Callable[[str], None] = lambda said: None,
) -> tuple[Addition, Revision]:
    """Add the source's items to a running study, as a revision of their own; all of them, or Refused and none.

    `by` is the member who asks, None whoever runs the server. `and_then` gets the sentence of the history, within the
    same transaction.
    """
    with _aside(source, study, watch) as incoming:
        addition = count_addition(study, incoming, source.notes().get("sentences", ()))
        with transaction.atomic():
            revision = move_items(study, incoming)
            said = addition.done(revision.number)
            log_action(study=study, by=by or server_account(), message=said)
            and_then(said)
        return addition, revision


@contextmanager
def _aside(source: Source, study: Study, watch: Watch) -> Iterator[Study]:
    """The source's items in a study of their own that nobody sees, frozen as those of the running study are."""
    require_running(study)
    if study.stopping:
        raise Refused(
            "The study has a stopping rule, for which the order of its queries is fixed: items can't be added to it."
        )
    if study.human_sample is not None:
        raise Refused(
            "People judge a random part of the study's queries, which was drawn at launch: items can't be added to it."
        )
    prefix = f"{study.slug[:50]}-adding-{study.pk}-"
    _remove_leftovers(prefix)
    incoming = import_dump(
        RunningItemsSource(source, study),
        slug=prefix + secrets.token_hex(4),
        protocol=study.protocol,
        title=study.title,
        aside=True,
        watch=watch,
    )
    try:
        problems = [*_problems(study, incoming)]
        if problems:
            raise Refused(*problems[:MAX_PROBLEMS], total=len(problems))
        yield incoming
    finally:
        discard_import(incoming)


def _remove_leftovers(prefix: str) -> None:
    """Remove what processes that were killed have left behind."""
    old = timezone.now() - LEFT_BEHIND_AFTER
    for each in Study.objects.filter(slug__startswith=prefix, created_at__lt=old):
        discard_import(each)


def _problems(study: Study, incoming: Study) -> Iterator[str]:
    if not incoming.items.exists():
        yield "There are no items to add."
        return
    yield from addition_conflicts(study, incoming)
    without = incoming.items.exclude(role=Role.MAIN).filter(gold__isnull=True)
    for key, role in without.values_list("key", "role"):
        yield f"Item {key}: a {role} item needs gold."
    for key, problem in freeze_items(incoming, study.revisions.order_by("-number")[0]):
        yield f"Item {key}: {problem}"
