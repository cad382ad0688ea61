"""`verify`: recomputes every hash of a study and checks what must always hold."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.db.models import Exists, Max, Min, OuterRef

from evaluation import hooks
from evaluation.canonical import canonical_hash
from evaluation.models import Answer, Item, Judgment, Outcome, Study
from evaluation.protocols.answers.measures import MEASURE_KIND, declared_measures
from evaluation.services.packing import CHUNK, packed_from_rows
from evaluation.services.studies.freeze import compute_study_hash, hash_added_items


def verify_study(study: Study) -> Iterator[str]:
    """A sentence for each check that fails."""
    if not study.is_frozen:
        return
    if study.launching_since is not None:
        yield (
            "The launch is unfinished: it is still under way, or was cut short and is resumed by the worker or by "
            f"`manage.py launch {study.slug}`."
        )
        return
    yield from _check_hashes(study)
    yield from _check_judgments(study)
    yield from _check_measures(study)
    for verifier in hooks.verifiers:
        yield from verifier(study)


def _check_measures(study: Study) -> Iterator[str]:
    """Check that every number is of a measure that its rater declares, and inside its range."""
    given = Answer.objects.filter(judgment__study=study, kind=MEASURE_KIND).order_by()
    ends = given.values_list("judgment__rater", "question").annotate(least=Min("number"), most=Max("number"))
    about = dict(study.raters.values_list("pk", "about"))
    for rater, key, least, most in ends:
        declared = {each.key: each for each in declared_measures(about[rater])}
        measure = declared.get(key)
        if measure is None:
            yield f"Rater {rater}: {key} is not among the measures that it declares."
        elif (measure.low is not None and least < measure.low) or (
            measure.high is not None and most > measure.high
        ):
            yield f"Rater {rater}: {key} has numbers from {least:g} to {most:g}, outside of its range."


def _check_hashes(study: Study) -> Iterator[str]:
    for revision in study.revisions.all():
        if canonical_hash(revision.spec) != revision.spec_hash:
            yield f"Revision {revision.number}: the spec was changed after it was frozen."
        if hash_added_items(study, revision.number) != revision.items_hash:
            yield f"Revision {revision.number}: its hash does not cover the items that came with it."
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
    yield from _check_packed(study)
    shown_items = Item.objects.filter(pk__in=judgments.exclude(shown="").values("item"))
    parts = {
        pk: _parts(responses)
        for pk, responses in shown_items.values_list("pk", "stimulus__responses").iterator()
    }
    for pk, item, shown in judgments.exclude(shown="").values_list("pk", "item_id", "shown").iterator():
        if sorted(shown.split(",")) != parts[item]:
            yield f"Judgment {pk}: the presented order {shown!r} is not an order of its responses."


def _check_packed(study: Study) -> Iterator[str]:
    """Check that the answers that reports read are those of the rows."""
    judgments = study.judgments.filter(outcome=Outcome.OK, answered__isnull=False).order_by("pk")
    stored = judgments.values_list("pk", "answered", "labels", "numbers").iterator()
    while rows := list(islice(stored, CHUNK)):
        answers = Answer.objects.filter(
            judgment__study=study, judgment__gte=rows[0][0], judgment__lte=rows[-1][0]
        )
        found = dict(packed_from_rows(answers))
        for pk, answered, labels, numbers in rows:
            if pk in found and found[pk] != (answered, labels, bytes(numbers or b"")):
                yield (
                    f"Judgment {pk}: reports read other answers than are stored "
                    f"(`manage.py pack_answers {study.slug}` mends that)."
                )


def _parts(responses: Any) -> list[str]:
    """The parts of a stimulus's responses, which may have been tampered with."""
    if not isinstance(responses, list):
        return []
    return sorted(str(each.get("part")) for each in responses if isinstance(each, dict))
