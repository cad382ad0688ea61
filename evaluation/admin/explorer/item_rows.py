"""Rows of the list of items: each with its answers as marks, and what a reader would look for in it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Left
from django.utils.text import Truncator

from evaluation.models import Item, ItemFlag, ItemResponse, ItemTally, Role, Study
from evaluation.models.item import BETWEEN_SYSTEMS
from evaluation.protocols import Kind, QuestionSpec
from evaluation.protocols.base import BOTH_BAD, TIE
from evaluation.selectors import asked_questions, system_labels
from evaluation.services.tallies import leading_answers, leading_questions, readings_of

LONGEST_PROMPT = 160
# More answers of one side are counted, not set side by side.
MOST_MARKS = 8
LETTERS = "ABCDEFGHIJ"
SIGNS = {TIE: "=", BOTH_BAD: "✗"}


@dataclass(frozen=True)
class AnswerMark:
    """An answer in a sign, how often it stands there, and what it means."""

    sign: str
    n: int
    meaning: str
    # The number of the response that it is for, from 1; 0 where it is for none.
    response: int = 0

    @property
    def signs(self) -> Sequence[str]:
        """The sign as often as it stands there."""
        return [self.sign] * self.n


@dataclass(frozen=True)
class AnswerMarks:
    """The answers of people or of judges to the question that the item is about."""

    marks: Sequence[AnswerMark]

    @property
    def counted(self) -> bool:
        return sum(each.n for each in self.marks) > MOST_MARKS

    @property
    def words(self) -> str:
        return ", ".join(f"{each.n:,} {each.meaning}" for each in self.marks)


@dataclass(frozen=True)
class ItemRow:
    """An item in the list."""

    item: Item
    prompt: str
    # The letters of its responses, each with its system.
    systems: Sequence[tuple[str, str]]
    people: AnswerMarks
    judges: AnswerMarks
    tally: ItemTally | None

    @property
    def states(self) -> list[str]:
        """Whatever sets it apart."""
        item = self.item
        flagged: bool = getattr(item, "is_flagged", False)
        states = [
            (item.role != Role.MAIN, item.get_role_display()),
            (not item.stimulus_hash, "draft"),
            (item.withdrawn_at is not None, "withdrawn"),
            (flagged, "flagged"),
        ]
        return [state for applies, state in states if applies]


def read_with(rows: QuerySet[Item]) -> QuerySet[Item]:
    """The items with what their rows show."""
    flagged = Exists(ItemFlag.objects.filter(item=OuterRef("pk")))
    begins = Left("query__text", 4 * LONGEST_PROMPT)
    return (
        rows.select_related("arm", "tally")
        .defer("stimulus", "gold", "origin")
        .annotate(is_flagged=flagged, begins=begins)
    )


def item_rows(study: Study, items: Sequence[Item]) -> list[ItemRow]:
    """In as many queries for many items as for one."""
    questions = asked_questions(study)
    readings = readings_of(study, [each.pk for each in items])
    labels = system_labels(study)
    drafted = _systems_of_drafts([each.pk for each in items if not each.systems_key])
    rows = []
    for item in items:
        keys = item.systems_key.split(BETWEEN_SYSTEMS) if item.systems_key else drafted.get(item.pk, [])
        people, judges = leading_answers(questions, readings.get(item.pk, ()))
        systems = list(zip(LETTERS, (labels.get(key, key) for key in keys), strict=False))
        begins = " ".join(getattr(item, "begins", "").split())
        rows.append(
            ItemRow(
                item,
                Truncator(begins).chars(LONGEST_PROMPT),
                systems,
                marks_of(people, questions, systems),
                marks_of(judges, questions, systems),
                getattr(item, "tally", None),
            )
        )
    return rows


def marks_of(
    values: Sequence[str], questions: Mapping[str, QuestionSpec], systems: Sequence[tuple[str, str]]
) -> AnswerMarks:
    """Answers by what they say, responses first and in their order."""
    found = [_mark(value, n, questions, systems) for value, n in Counter(values).items()]
    return AnswerMarks(sorted(found, key=lambda each: (each.response or len(LETTERS) + 1, each.sign)))


def _mark(
    value: str, n: int, questions: Mapping[str, QuestionSpec], systems: Sequence[tuple[str, str]]
) -> AnswerMark:
    for at, (letter, system) in enumerate(systems, 1):
        if value == f"r{at}":
            return AnswerMark(letter, n, system, at)
    if value in SIGNS:
        return AnswerMark(SIGNS[value], n, value.replace("_", " "))
    named = [each.label(value) for each in leading_questions(questions) if each.kind != Kind.PREFERENCE]
    return AnswerMark(value, n, next(filter(None, named), value))


def _systems_of_drafts(items: Sequence[int]) -> dict[int, list[str]]:
    """The systems of items that are not frozen yet."""
    found: dict[int, list[str]] = {}
    rows = ItemResponse.objects.filter(item__in=items).order_by("response__system_id", "response_id")
    for item, key in rows.values_list("item", "response__system__key") if items else ():
        found.setdefault(item, []).append(key)
    return found
