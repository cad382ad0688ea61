"""Words of others that name a participant: nobody's but theirs to change, so erasing lists them and leaves them."""

from collections.abc import Callable, Collection, Iterator
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.fields.json import KT

from annotator.models import KnownMismatch, PanelAct, Participant
from evaluation.counting import counted
from evaluation.models import AnswerText, Exclusion, ItemFlag, Judgment, Note, Rater
from evaluation.services.history import is_telling
from evaluation.services.settling import SETTLED

# Places of one kind that are named one by one.
LISTED = 20


def mentions_of(participant: Participant, names: Collection[str]) -> Iterator[str]:
    """Sentences on the places in the study where somebody else has written one of the names, as it stands."""
    telling = [each for each in names if is_telling(each)]
    if not telling:
        return
    for kind, rows, fields, place in _texts(participant):
        named = Q()
        for field in fields:
            for name in telling:
                named |= Q(**{f"{field}__contains": name})
        found = rows.filter(named).order_by("pk")
        yield from (f"{kind} {place(row)}" for row in found[:LISTED])
        if (more := found.count() - LISTED) > 0:
            yield f"{counted(more, 'more place', 'more places')} of the kind: {kind}"


Place = Callable[[Any], str]


def _texts(participant: Participant) -> Iterator[tuple[str, QuerySet[Any], tuple[str, ...], Place]]:
    """Words of others in a study: their kind, the rows, the fields, and where one stands."""
    study, rater = participant.study, participant.rater
    notes = Note.objects.filter(study=study).exclude(judgment__rater=rater).select_related("item", "by")
    yield "note", notes, ("text",), lambda note: f"of {note.by or 'a member'} on item {note.item.key}"
    exclusions = Exclusion.objects.filter(study=study).exclude(rater=rater).exclude(judgment__rater=rater)
    yield (
        "reason of an exclusion",
        exclusions.select_related("rater", "judgment__rater", "judgment__item"),
        ("reason", "undone_reason"),
        lambda each: f"of {each.rater or each.judgment}",
    )
    flags = ItemFlag.objects.filter(item__study=study).exclude(rater=rater).select_related("item")
    yield "report of a problem", flags, ("note",), lambda flag: f"on item {flag.item.key}"
    answers = AnswerText.objects.filter(judgment__study=study).exclude(judgment__rater=rater)
    yield (
        "text in an answer",
        answers.select_related("judgment__rater", "judgment__item"),
        ("text",),
        lambda text: f"of {text.judgment.rater} on item {text.judgment.item.key}",
    )
    settled = Judgment.objects.filter(study=study, rater__kind=Rater.Kind.SETTLED)
    yield (
        "reason of a settled label",
        settled.annotate(reason=KT(f"trace__{SETTLED}__reason")).select_related("rater", "item"),
        ("reason",),
        lambda label: f"of {label.rater} on item {label.item.key}",
    )
    others = Participant.objects.filter(study=study).exclude(pk=participant.pk).select_related("rater")
    yield "comment", others, ("comments",), lambda other: f"of {other.rater}"
    acts = PanelAct.objects.filter(panel__study=study).exclude(record__submission__participant=participant)
    yield (
        "message or note at the panel",
        acts.select_related("record"),
        ("reason", "purpose", "note"),
        lambda act: f"on submission {act.record.external_id}",
    )
    known = KnownMismatch.objects.filter(panel__study=study)
    yield "note on a mismatch", known, ("note",), lambda each: each.key
