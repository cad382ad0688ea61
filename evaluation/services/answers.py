"""The answers of judgments as they were recorded, whole and in their order."""

from collections.abc import Collection, Iterator
from itertools import islice

from django.db.models import QuerySet

from evaluation.models import Answer, Judgment
from evaluation.protocols import AnswerValue

# Judgments whose answers are read at once.
CHUNK = 500


def load_answers(judgment: Judgment) -> list[AnswerValue]:
    """One judgment's answers."""
    return answers_by_judgment([judgment.pk]).get(judgment.pk, [])


def answers_by_judgment(judgments: Collection[int]) -> dict[int, list[AnswerValue]]:
    """The answers of these judgments, by their primary keys; one without answers is not among them."""
    found: dict[int, list[AnswerValue]] = {}
    rows = Answer.objects.filter(judgment__in=judgments).order_by("judgment_id", "pk")
    fields = ("judgment_id", "question", "kind", "part", "number", "label", "text")
    for judgment, *values in rows.values_list(*fields).iterator():
        found.setdefault(judgment, []).append(AnswerValue(*values))
    return found


def with_answers(judgments: QuerySet[Judgment]) -> Iterator[tuple[Judgment, list[AnswerValue]]]:
    """Each judgment with its answers, some of them at a time."""
    stored = judgments.iterator(CHUNK)
    while chunk := list(islice(stored, CHUNK)):
        answers = answers_by_judgment([each.pk for each in chunk])
        for judgment in chunk:
            yield judgment, answers.get(judgment.pk, [])
