"""Answers by question and part, or by the system whose response they are about, read where they are stored: by layout,
in the judgment's own array."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, Protocol, Self

from django.db.models import Case, F, FloatField, Func, Q, TextField, When
from django.db.models.functions import Cast

from evaluation.models import Study
from evaluation.models.item import BETWEEN_SYSTEMS
from evaluation.protocols import Kind, QuestionSpec
from evaluation.protocols.answers.layout import AnswerPlace
from evaluation.protocols.answers.measures import PREFIX, Measure, Subject, declared_measures
from evaluation.protocols.answers.parts import PARTS_LIKE
from evaluation.protocols.base import Over
from evaluation.selectors import asked_questions, system_sets
from evaluation.services.answers import layouts_of_question

NOTHING = Q(pk__in=[])
RESPONSE = re.compile(r"r[0-9]+")
NUMBER = re.compile(r"(?<=[a-z])[1-9][0-9]*")
PARTS_OF_MEASURES: dict[str, str] = {**PARTS_LIKE, Subject.PAIR: "", Subject.ENTRY: "e1.r1"}
# Between a question and a system.
OF_SYSTEM = "@"


class AnswerAt(Func):
    """The label or number at a place of a judgment's array, as text."""

    output_field = TextField()

    def __init__(self, place: int) -> None:
        super().__init__(F("answer_values"), place=int(place))

    def as_postgresql(self, compiler: Any, connection: Any) -> Any:
        return self.as_sql(compiler, connection, template="(%(expressions)s::json ->> %(place)s)")

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(compiler, connection, template="json_extract(%(expressions)s, '$[%(place)s]')")


class Holds(Protocol):
    """A condition on a value, an expression for a label or a number."""

    def __call__(self, value: Any, *, is_label: bool) -> Q: ...


@dataclass(frozen=True)
class AnswersOf:
    """The answers to a question: at one part or, with None, at any; with a system, those about its response."""

    question: str
    part: str | None = None
    system: str | None = None

    @classmethod
    def parse(cls, study: Study, text: str) -> Self:
        """`<question>`, `<question>.<part>` or `<question>@<system key>`. ValueError says what is wrong with it."""
        known: dict[str, QuestionSpec | Measure] = {**asked_questions(study)}
        if text.startswith(PREFIX):
            known |= _measures(study)
        if text in known:
            return cls(text)
        for key in sorted(known, key=len, reverse=True):
            rest = text.removeprefix(key)
            if text.startswith(f"{key}."):
                return cls(key, _known_part(study, known[key], rest[1:]))
            if text.startswith(f"{key}{OF_SYSTEM}"):
                _require_responses(known[key])
                return cls(key, system=known_system(study, rest[1:]))
        raise ValueError(f"The study has no question {text!r} ({named('questions', [*known])}).")

    def __str__(self) -> str:
        part = "" if self.part is None else f".{self.part}"
        return f"{self.question}{part}{'' if self.system is None else f'{OF_SYSTEM}{self.system}'}"

    @property
    def in_words(self) -> str:
        return str(self) if self.system is None else f"{self.question} of {self.system}"

    def condition(self, study: Study, reads_label: Callable[[AnswerPlace], bool | None], holds: Holds) -> Q:
        """Judgments of which one of these answers holds. `reads_label` is True of a place whose label is asked, False
        of one whose number is, None of others."""
        if self.system is None:
            return self._at(None, reads_label, holds)
        return any_of(
            Q(item__systems_key__in=sets) & self._at(response, reads_label, holds)
            for response, sets in responses_of(study, self.system).items()
        )

    def _at(self, response: str | None, reads_label: Callable[[AnswerPlace], bool | None], holds: Holds) -> Q:
        """The same of a response alone, or of all parts."""
        # By the place in the array, and True of labels: the layouts that have it there.
        places: dict[tuple[int, bool], set[int]] = {}
        for layout in layouts_of_question(self.question):
            for each in layout.places:
                is_label = reads_label(each) if self._has(each, response) else None
                if is_label is not None:
                    at = each.label if is_label else each.number
                    assert at is not None
                    places.setdefault((at, is_label), set()).add(layout.key)
        return any_of(
            holds(_value_at(place, is_label, layouts), is_label=is_label)
            for (place, is_label), layouts in sorted(places.items())
        )

    def _has(self, place: AnswerPlace, response: str | None) -> bool:
        if place.question != self.question or self.part not in (None, place.part):
            return False
        return response is None or response in place.part.split(".")


def any_of(conditions: Iterable[Q]) -> Q:
    """One of them holds; of none, nothing does."""
    found = list(conditions)
    return reduce(or_, found) if found else NOTHING


def named(nouns: str, known: Sequence[str]) -> str:
    return f"its {nouns}: {', '.join(known)}" if known else f"it has no such {nouns}"


def known_system(study: Study, key: str) -> str:
    """ValueError where the study has no such system."""
    systems = list(study.systems.values_list("key", flat=True))
    if key not in systems:
        raise ValueError(f"The study has no system {key!r} ({named('systems', systems)}).")
    return key


def responses_of(study: Study, system: str) -> dict[str, list[str]]:
    """The parts at which a system's responses stand in items, each with the sets of systems in which it does."""
    found: dict[str, list[str]] = {}
    for each in system_sets(study):
        for number, key in enumerate(each.split(BETWEEN_SYSTEMS), 1):
            if key == system:
                found.setdefault(f"r{number}", []).append(each)
    return found


def response_names(study: Study) -> list[str]:
    """The parts of responses that items of the study have; none before it is launched."""
    most = max((len(each.split(BETWEEN_SYSTEMS)) for each in system_sets(study)), default=0)
    return [f"r{number}" for number in range(1, most + 1)]


def _known_part(study: Study, asked: QuestionSpec | Measure, part: str) -> str:
    """ValueError where no answer to it can be at that part, or where that is of a response that no item has."""
    like = _parts_like(asked)
    is_choice = isinstance(asked, QuestionSpec) and asked.over == Over.CHOICE
    if (part if is_choice else NUMBER.sub("1", part)) not in like:
        written = named("parts", like) if any(like) else "it is about the item as a whole"
        raise ValueError(f"{asked.key!r} has no part {part!r} ({written}).")
    responses = response_names(study)
    for each in part.split(".") if responses else ():
        if RESPONSE.fullmatch(each) and each not in responses:
            raise ValueError(
                f"No item of the study has a response {each!r} ({named('responses', responses)})."
            )
    return part


def _require_responses(asked: QuestionSpec | Measure) -> None:
    """ValueError where none of its answers is about one response."""
    if not any("r1" in each.split(".") for each in _parts_like(asked)):
        is_preference = isinstance(asked, QuestionSpec) and asked.kind == Kind.PREFERENCE
        instead = f"; write winner={asked.key}:system for those that prefer one" if is_preference else ""
        raise ValueError(
            f"Answers to {asked.key!r} are not about single responses, so none is of a system{instead}."
        )


def _parts_like(asked: QuestionSpec | Measure) -> list[str]:
    """Its choices, or a part of it with 1 for every number."""
    if isinstance(asked, Measure):
        return [PARTS_OF_MEASURES[asked.subject]]
    return list(asked.choices) if asked.over == Over.CHOICE else [PARTS_LIKE[asked.over]]


def _measures(study: Study) -> dict[str, Measure]:
    raters = study.raters.exclude(about={}).values_list("about", flat=True)
    found = {each.key: each for about in raters for each in declared_measures(about)}
    return dict(sorted(found.items()))


def _value_at(place: int, is_label: bool, layouts: Collection[int]) -> Case:
    """The value there, of judgments with one of these layouts; no other array is opened."""
    value: Any = AnswerAt(place) if is_label else Cast(AnswerAt(place), FloatField())
    field = TextField() if is_label else FloatField()
    return Case(When(answer_layout__in=sorted(layouts), then=value), output_field=field)
