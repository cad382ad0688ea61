"""The form above the list of items: its filters, those that are chosen as chips, and the way to take each away."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from evaluation.explorer.filter_values import CHOICES, LABELS, SEVERAL
from evaluation.explorer.item_filters import ItemFilters
from evaluation.explorer.majorities import ANY, NONE
from evaluation.filters import SEVERAL as SEVERAL_OF_VIEWS
from evaluation.filters import few_choices_of
from evaluation.models import Study
from evaluation.models.item import BETWEEN_SYSTEMS
from evaluation.protocols import Kind, QuestionSpec
from evaluation.protocols.base import option_key
from evaluation.protocols.kinds import KINDS
from evaluation.selectors import asked_questions, system_sets
from evaluation.services.tallies import leading_questions

# Of a list of pairs or answers, no more can be chosen from; an address can name each.
MOST_OFFERED = 100
# The fields that always stand open, and those that a person types into.
FIRST = ("q", "sort")
TYPED = {"q": "search", "rater": "text", "query": "text", "from": "date", "to": "date"}
# Those that a page of the list is asked for by, which are no filters.
CURSORS = ("after", "before")


@dataclass(frozen=True)
class ListField:
    """A field of the form; with `options`, (value, label, chosen), it is chosen from: one of them, or several. What is
    typed may be one of those `suggested`, or like them."""

    name: str
    type: str
    given: Sequence[str]
    options: Sequence[tuple[str, str, bool]]
    problems: Sequence[str]
    suggested: Sequence[str] = ()

    @property
    def label(self) -> str:
        return LABELS[self.name]

    @property
    def is_several(self) -> bool:
        return bool(self.options) and self.name in (*SEVERAL, *SEVERAL_OF_VIEWS)

    @property
    def value(self) -> str:
        return self.given[0] if self.given else ""

    @property
    def left(self) -> Sequence[str]:
        """The values that it has no room for."""
        return () if self.is_several else self.given[1:]

    @property
    def chosen(self) -> list[str]:
        """The labels of what is chosen."""
        return [label for _, label, is_chosen in self.options if is_chosen]

    @property
    def is_first(self) -> bool:
        return self.name in FIRST

    @property
    def open_label(self) -> str:
        """The words for nothing chosen; empty where something always is."""
        return "" if self.name in ("sort", "role") else "any"


@dataclass(frozen=True)
class Chip:
    """A filter that is chosen, in words, and the end of the address without it."""

    label: str
    value: str
    without: str


class ItemListForm:
    """The fields for what an address gives, whether that could be read or not."""

    def __init__(
        self, study: Study, given: Mapping[str, Sequence[str]], problems: Mapping[str, Sequence[str]]
    ) -> None:
        self.given = {name: [each for each in values if each] for name, values in given.items()}
        questions, compared = asked_questions(study), system_sets(study)
        self.choices = _choices(study, questions, compared)
        self.suggested = _suggested(questions, compared)
        self.problems = problems

    @property
    def fields(self) -> list[ListField]:
        """Those that have something to choose from, and those of which more is wrong than can be chosen."""
        known = {*self.choices, *self.suggested, *TYPED, *self.problems}
        return [self._field(name) for name in LABELS if name in known]

    @property
    def first(self) -> list[ListField]:
        return [each for each in self.fields if each.is_first]

    @property
    def further(self) -> list[ListField]:
        return [each for each in self.fields if not each.is_first]

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """The rest of the address: names without a field, and further values of one that takes one."""
        left = {**self.given, **{each.name: each.left for each in self.fields}}
        return [(name, value) for name, values in left.items() if name in LABELS for value in values]

    def chips(self, filters: ItemFilters) -> list[Chip]:
        """All that is chosen but the order."""
        pairs, ranges = filters.pairs, filters.ranges_in_words
        return [
            Chip(
                LABELS.get(name, name),
                ranges.get((name, value)) or self._said(name, value),
                urlencode(_without(pairs, at)),
            )
            for at, (name, value) in enumerate(pairs)
            if name != "sort"
        ]

    def _said(self, name: str, value: str) -> str:
        return self.choices.get(name, {}).get(value, value)

    def _field(self, name: str) -> ListField:
        given = self.given.get(name, [])
        choices = self.choices.get(name, {})
        known = {each: each for each in given if choices and each not in choices}
        options = [(value, label, value in given) for value, label in (*choices.items(), *known.items())]
        return ListField(
            name,
            TYPED.get(name, ""),
            given,
            options,
            self.problems.get(name, ()),
            self.suggested.get(name, ()),
        )


def _without(pairs: Sequence[tuple[str, str]], at: int) -> list[tuple[str, str]]:
    return [each for number, each in enumerate(pairs) if number != at]


def _suggested(questions: Mapping[str, QuestionSpec], compared: Sequence[str]) -> dict[str, list[str]]:
    """Values of filters with a range, whose ends are typed."""
    scales = [each for each in questions.values() if each.kind == Kind.SCALE]
    pairs = [each.split(BETWEEN_SYSTEMS) for each in compared]
    systems = dict.fromkeys(system for pair in pairs if len(pair) == 2 for system in pair)
    found = {
        "range": [f"{each.key}:{each.form['low']}..{each.form['high']}" for each in scales],
        "longer_than": [f"{system}:1.." for system in systems],
    }
    return {name: values[:MOST_OFFERED] for name, values in found.items() if values}


def _choices(
    study: Study, questions: Mapping[str, QuestionSpec], compared: Sequence[str]
) -> dict[str, dict[str, str]]:
    """The values of each filter that is chosen from, with their names."""
    systems = dict(study.systems.values_list("key", "label"))
    pairs = compared[:MOST_OFFERED]
    found = {
        **{name: dict(values) for name, values in CHOICES.items()},
        **few_choices_of(study),
        "pair": {each: each for each in pairs} if len(pairs) > 1 else {},
        "answer": _capped(_answers(questions.values())),
        "winner": _capped(_winners(questions.values(), systems)),
        "majority": _majorities(questions),
    }
    return {name: values for name, values in found.items() if values}


def _capped(choices: dict[str, str]) -> dict[str, str]:
    return dict(list(choices.items())[:MOST_OFFERED])


def _answers(questions: Iterable[QuestionSpec]) -> dict[str, str]:
    """Of each question that is chosen from, its answers."""
    return {
        f"{question.key}:{value}": f"{question.key.replace('_', ' ')}: {named}"
        for question in questions
        for value, named in _offered(question)
    }


def _offered(question: QuestionSpec) -> list[tuple[str, str]]:
    """The answers of a question by value; of a preference those that name no response are known without an item."""
    if question.kind == Kind.PREFERENCE:
        return [(value, value.replace("_", " ")) for value in question.tie_values]
    values: list[Any] = list(KINDS[question.kind].offers(question))
    if question.kind == Kind.CHECKLIST:
        return [("1", "yes"), ("0", "no")]
    return [
        (option_key(each), " ".join(filter(None, [option_key(each), question.label(each)])))
        for each in values
    ]


def _winners(questions: Iterable[QuestionSpec], systems: Mapping[str, str]) -> dict[str, str]:
    prefers = [each for each in questions if each.kind in (Kind.PREFERENCE, Kind.RANKING)]
    return {
        f"{question.key}:{key}": (label or key) if len(prefers) == 1 else f"{question.key}: {label or key}"
        for question in prefers
        for key, label in systems.items()
    }


def _majorities(questions: Mapping[str, QuestionSpec]) -> dict[str, str]:
    leading = leading_questions(questions)[:1]
    if not leading:
        return {}
    offered = {value: label for each in leading for value, label in _offered(each)}
    return {**offered, ANY: "any", NONE: "none"}
