"""Conditions on the answers of judgments, read where they are stored: by layout, in the judgment's own array."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import inf
from operator import or_
from typing import Any, Self

from django.db.models import Case, F, FloatField, Func, Q, TextField, When
from django.db.models.functions import Cast
from django.db.models.lookups import Exact

from evaluation.models import Study
from evaluation.models.item import BETWEEN_SYSTEMS
from evaluation.protocols import Kind, QuestionSpec
from evaluation.protocols.answers.measures import PREFIX, declared_measures
from evaluation.protocols.base import option_key
from evaluation.protocols.kinds import KINDS
from evaluation.selectors import asked_questions, system_sets
from evaluation.services.answers import layouts_of_question

NOTHING = Q(pk__in=[])
RESPONSE = re.compile(r"r[0-9]+")


class AnswerAt(Func):
    """The label or number at a place of a judgment's array, as text."""

    output_field = TextField()

    def __init__(self, place: int) -> None:
        super().__init__(F("answer_values"), place=int(place))

    def as_postgresql(self, compiler: Any, connection: Any) -> Any:
        return self.as_sql(compiler, connection, template="(%(expressions)s::json ->> %(place)s)")

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(compiler, connection, template="json_extract(%(expressions)s, '$[%(place)s]')")


@dataclass(frozen=True, order=True)
class GivenAnswer:
    """A value of a question, at one part or, with None, at any."""

    question: str
    part: str | None
    value: str

    @classmethod
    def parse(cls, study: Study, text: str) -> Self:
        """`<question>[.<part>]:<value>`. ValueError says what is wrong with it."""
        where, colon, value = text.rpartition(":")
        if not colon or not value:
            raise ValueError(f"{text!r} is no answer: write it as question:value or question.part:value.")
        question, part = _question_and_part(study, where)
        _require_fitting(study, asked_questions(study).get(question), part, value)
        return cls(question, part, value)

    def __str__(self) -> str:
        return f"{self.question}{'' if self.part is None else f'.{self.part}'}:{self.value}"

    def condition(self) -> Q:
        """Judgments that have it."""
        number = as_number(self.value)
        # By the place in the array, and True of labels: the layouts that have it there.
        places: dict[tuple[int, bool], set[int]] = {}
        for layout in layouts_of_question(self.question):
            for each in layout.places:
                if each.question != self.question or self.part not in (None, each.part):
                    continue
                if each.label is not None and (number is None or each.number is None):
                    places.setdefault((each.label, True), set()).add(layout.key)
                elif each.number is not None and number is not None:
                    places.setdefault((each.number, False), set()).add(layout.key)
        value = {True: self.value, False: number}
        return any_of(
            Q(Exact(_at(place, is_label, layouts), value[is_label]))
            for (place, is_label), layouts in sorted(places.items())
        )


@dataclass(frozen=True, order=True)
class PreferredSystem:
    """A system that judgments prefer in a question, or rank first."""

    question: str
    system: str

    @classmethod
    def parse(cls, study: Study, text: str) -> Self:
        """`<question>:<system key>`. ValueError says what is wrong with it."""
        question, _, system = text.partition(":")
        asked = asked_questions(study)
        prefers = [key for key, each in asked.items() if each.kind in (Kind.PREFERENCE, Kind.RANKING)]
        if question not in prefers:
            raise ValueError(f"No question {question!r} prefers a system ({named('questions', prefers)}).")
        systems = list(study.systems.values_list("key", flat=True))
        if system not in systems:
            raise ValueError(f"The study has no system {system!r} ({named('systems', systems)}).")
        return cls(question, system)

    def __str__(self) -> str:
        return f"{self.question}:{self.system}"

    def condition(self, study: Study) -> Q:
        """Judgments that prefer it, wherever it stands among an item's responses."""
        ranks = asked_questions(study)[self.question].kind == Kind.RANKING
        by_place: dict[int, list[str]] = {}
        for each in system_sets(study):
            for place, system in enumerate(each.split(BETWEEN_SYSTEMS), 1):
                if system == self.system:
                    by_place.setdefault(place, []).append(each)
        return any_of(
            Q(item__systems_key__in=sets) & self._answer(f"r{place}", ranks).condition()
            for place, sets in by_place.items()
        )

    def _answer(self, part: str, ranks: bool) -> GivenAnswer:
        return GivenAnswer(self.question, part, "1") if ranks else GivenAnswer(self.question, None, part)


def answers_q(answers: Iterable[GivenAnswer]) -> Q:
    """Judgments with one of the values that are given of a question's part, of each that is named."""
    by_place: dict[tuple[str, str | None], list[GivenAnswer]] = {}
    for each in answers:
        by_place.setdefault((each.question, each.part), []).append(each)
    found = Q()
    for values in by_place.values():
        found &= any_of(each.condition() for each in values)
    return found


def answered_q(questions: Iterable[str]) -> Q:
    """Judgments with any answer to one of the questions."""
    layouts = {layout.key for each in questions for layout in layouts_of_question(each)}
    return Q(answer_layout__in=sorted(layouts))


def known_question(study: Study, key: str) -> str:
    """ValueError where the study does not ask it."""
    known = [*asked_questions(study)]
    if key not in known:
        raise ValueError(f"The study has no question {key!r} ({named('questions', known)}).")
    return key


def any_of(conditions: Iterable[Q]) -> Q:
    """One of them holds; of none, nothing does."""
    found = list(conditions)
    return reduce(or_, found) if found else NOTHING


def named(nouns: str, known: Sequence[str]) -> str:
    return f"its {nouns}: {', '.join(known)}" if known else f"it has no such {nouns}"


def as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def is_number(text: str) -> bool:
    number = as_number(text)
    return number is not None and number == number


def _at(place: int, is_label: bool, layouts: Collection[int]) -> Case:
    """The value there, of judgments with one of these layouts; no other array is opened."""
    value: Any = AnswerAt(place) if is_label else Cast(AnswerAt(place), FloatField())
    field = TextField() if is_label else FloatField()
    return Case(When(answer_layout__in=sorted(layouts), then=value), output_field=field)


def _question_and_part(study: Study, where: str) -> tuple[str, str | None]:
    known = [*asked_questions(study)]
    if where.startswith(PREFIX):
        known += _measures(study)
    if where in known:
        return where, None
    for key in sorted(known, key=len, reverse=True):
        if where.startswith(f"{key}."):
            return key, where.removeprefix(f"{key}.")
    raise ValueError(f"The study has no question {where!r} ({named('questions', known)}).")


def _measures(study: Study) -> list[str]:
    raters = study.raters.exclude(about={}).values_list("about", flat=True)
    return sorted({each.key for about in raters for each in declared_measures(about)})


def _require_fitting(study: Study, question: QuestionSpec | None, part: str | None, value: str) -> None:
    """ValueError where no item of the study can have such an answer; without a question it is a measure."""
    storage = "number" if question is None else KINDS[question.kind].storage
    if question is not None and storage == "text":
        raise ValueError(f"{question.key!r} is answered by texts, which are searched for words.")
    responses = response_names(study)
    for each in (part or "").split(".") if responses else ():
        if RESPONSE.fullmatch(each) and each not in responses:
            raise ValueError(
                f"No item of the study has a response {each!r} ({named('responses', responses)})."
            )
    if question is not None:
        require_answer(question, value, responses)
    elif not is_number(value):
        raise ValueError(f"{value!r} is no number.")


def require_answer(question: QuestionSpec, value: str, responses: Sequence[str]) -> None:
    """ValueError where none of an item with at most these responses can be answered so."""
    if KINDS[question.kind].storage == "label":
        offered = offered_labels(question, responses)
        if offered and value not in offered:
            raise ValueError(f"{value!r} is no answer to {question.key!r} ({named('answers', offered)}).")
        return
    if not is_number(value):
        raise ValueError(f"{value!r} is no number.")
    low, high = _bounds(question, len(responses))
    if not low <= float(value) <= high:
        raise ValueError(f"{value!r} is no answer to {question.key!r} (its answers: {low:g} to {high:g}).")


def require_leading(question: QuestionSpec, value: str, responses: Sequence[str]) -> None:
    """The same of what an item is counted by: of a ranking the response that is first."""
    if question.kind != Kind.RANKING:
        require_answer(question, value, responses)
    elif value not in responses:
        raise ValueError(f"No response {value!r} is ranked ({named('responses', responses)}).")


def offered_labels(question: QuestionSpec, responses: Sequence[str]) -> list[str]:
    """The labels that answer it; none where responses do and are not known yet."""
    if question.kind == Kind.PREFERENCE:
        return [*responses, *question.tie_values] if responses else []
    return [option_key(each) for each in KINDS[question.kind].offers(question)]


def response_names(study: Study) -> list[str]:
    """The parts of responses that items of the study have; none before it is launched."""
    most = max((len(each.split(BETWEEN_SYSTEMS)) for each in system_sets(study)), default=0)
    return [f"r{number}" for number in range(1, most + 1)]


def _bounds(question: QuestionSpec, n_responses: int) -> tuple[float, float]:
    """The least and the greatest number that answers a question; judges and imports give any between."""
    if question.kind == Kind.SCALE:
        return question.form["low"], question.form["high"]
    if question.kind == Kind.RANKING:
        return 1, n_responses or inf
    return (0, 1) if question.kind == Kind.CHECKLIST else (-inf, inf)
