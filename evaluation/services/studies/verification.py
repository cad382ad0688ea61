"""`verify`: recomputes every hash of a study and checks what must always hold."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Exists, OuterRef

from evaluation import hooks
from evaluation.canonical import canonical_hash
from evaluation.models import Answer, Item, Judgment, Outcome, Study
from evaluation.services.studies.freeze import compute_study_hash


def verify_study(study: Study) -> Iterator[str]:
    """A sentence for each check that fails."""
    if not study.is_frozen:
        return
    yield from _check_hashes(study)
    yield from _check_judgments(study)
    for verifier in hooks.verifiers:
        yield from verifier(study)


def _check_hashes(study: Study) -> Iterator[str]:
    for revision in study.revisions.all():
        if canonical_hash(revision.spec) != revision.spec_hash:
            yield f"Revision {revision.number}: the spec was changed after it was frozen."
    for item in Item.objects.filter(study=study).only("key", "stimulus", "stimulus_hash").iterator():
        if item.stimulus is None:
            yield f"Item {item.key}: not frozen."
        elif canonical_hash(item.stimulus) != item.stimulus_hash:
            yield f"Item {item.key}: the stimulus was changed after it was frozen."
    if compute_study_hash(study) != study.study_hash:
        yield "The study hash does not cover the revisions and items that are there."


def _check_judgments(study: Study) -> Iterator[str]:
    judgments = Judgment.objects.filter(study=study)
    answers = Answer.objects.filter(judgment=OuterRef("pk"))
    for judgment in judgments.exclude(outcome=Outcome.OK).filter(Exists(answers)).iterator():
        yield f"Judgment {judgment.pk}: has answers though its outcome is {judgment.outcome}."
    for judgment in judgments.filter(outcome=Outcome.OK).exclude(Exists(answers)).iterator():
        yield f"Judgment {judgment.pk}: is ok but has no answer."
    shown_items = Item.objects.filter(pk__in=judgments.exclude(shown="").values("item"))
    parts = {
        pk: _parts(responses)
        for pk, responses in shown_items.values_list("pk", "stimulus__responses").iterator()
    }
    for pk, item, shown in judgments.exclude(shown="").values_list("pk", "item_id", "shown").iterator():
        if sorted(shown.split(",")) != parts[item]:
            yield f"Judgment {pk}: the presented order {shown!r} is not an order of its responses."


def _parts(responses: Any) -> list[str]:
    """The parts of a stimulus's responses, which may have been tampered with."""
    if not isinstance(responses, list):
        return []
    return sorted(str(each.get("part")) for each in responses if isinstance(each, dict))
