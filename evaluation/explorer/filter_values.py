"""The values that the list's own filters have: those of an address are read here, and refused in words of the form."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from evaluation.explorer.answer_conditions import (
    AnswerRange,
    GivenAnswer,
    PreferredSystem,
    known_question,
    require_leading,
)
from evaluation.explorer.answers_of import named, response_names
from evaluation.explorer.item_list import POSITION
from evaluation.explorer.longer_than import LongerThan
from evaluation.explorer.majorities import AGREE, ANY, NONE
from evaluation.explorer.settled_items import DIFFER, NO, YES
from evaluation.models import Outcome, Rater, Role, Study
from evaluation.refusals import FieldsRefused
from evaluation.selectors import asked_questions, system_sets
from evaluation.services.tallies import leading_questions

ALL = "all"
# Of judgments, and of items: what `state` can say of each.
OF_JUDGMENTS, OF_ITEMS = ("counting", "excluded", "surplus"), ("withdrawn", "flagged")
# The values of the names that have a list of them, each with what it is called.
CHOICES: Mapping[str, Mapping[str, str]] = {
    "role": {**{value: str(label) for value, label in Role.choices}, ALL: "all roles"},
    "by": {**{value: str(label) for value, label in Rater.Kind.choices}, "simulated": "simulated rater"},
    "vs": {DIFFER: "majorities differ", AGREE: "majorities agree"},
    "outcome": {value: str(label) for value, label in Outcome.choices},
    "state": {
        "counting": "judgment counts",
        "excluded": "judgment excluded",
        "surplus": "judgment surplus",
        "withdrawn": "item withdrawn",
        "flagged": "item flagged",
    },
    "texts": {YES: "with a reason or text"},
    "note": {YES: "with a note"},
    "settled": {YES: "settled", NO: "not settled", DIFFER: "settled one way and another"},
    "sort": {
        POSITION: "order of the study",
        "disagreement": "disagreement among people",
        "against_judges": "people against judges",
        "newest": "judged last",
        "slowest": "slowest",
    },
}
# The names of which several values can be given.
SEVERAL = ("pair", "by", "answered", "answer", "range", "longer_than", "winner", "outcome", "state")

MOST_WORDS, LONGEST_SEARCH = 10, 200
# What each filter is called, in the order of the form; `note` and `settled` stand here where they are asked for.
LABELS = {
    "q": "Words",
    "sort": "Sort by",
    "role": "Role",
    "arm": "Setting",
    "category": "Category",
    "source": "Source",
    "split": "Split",
    "system": "System",
    "pair": "Systems compared",
    "by": "Judged by",
    "group": "Group of people",
    "rater": "Rater",
    "without_rater": "Without rater",
    "answered": "Answers the question",
    "answer": "Answer",
    "range": "Answer within",
    "winner": "Prefers",
    "majority": "Majority of people",
    "vs": "People and judges",
    "outcome": "Outcome",
    "state": "State",
    "texts": "Reasons",
    "note": "Notes",
    "settled": "Settled",
    "longer_than": "Longer than",
    "least": "Raters, at least",
    "query": "Query",
    "from": "Judged from",
    "to": "Judged to",
    "revision": "Revision",
    "until": "As of judgment",
    "view": "Saved view",
    "judges": "Judges",
}


def read_values(study: Study, name: str, values: Sequence[str]) -> Any:
    """The value of a filter. FieldsRefused has a sentence for each thing that is wrong with it."""
    if name not in SEVERAL and len(values) > 1:
        raise _refused(name, [f"{LABELS[name]} takes one value, not {len(values)}: {', '.join(values)}."])
    read = READERS.get(name, _one_of(name))
    found, problems = [], []
    for value in values:
        try:
            found.append(read(study, value))
        except ValueError as error:
            problems.append(str(error))
    if problems:
        raise _refused(name, problems)
    return tuple(found) if name in SEVERAL else found[0]


def _refused(name: str, problems: Iterable[str]) -> FieldsRefused:
    return FieldsRefused({name: list(problems)})


def _one_of(name: str) -> Callable[[Study, str], str]:
    def read(study: Study, value: str) -> str:
        known = CHOICES[name]
        if value not in known:
            raise ValueError(f"{LABELS[name]}: there is no {value!r}, but {', '.join(known.values())}.")
        return value

    return read


def _search(study: Study, value: str) -> str:
    words = value.split()
    if len(words) > MOST_WORDS or len(value) > LONGEST_SEARCH:
        raise ValueError(f"Search for at most {MOST_WORDS} words, of {LONGEST_SEARCH} characters in all.")
    return " ".join(words)


def _pair(study: Study, value: str) -> str:
    known = system_sets(study)
    if value not in known:
        raise ValueError(f"No item of the study has the systems {value!r} ({named('pairs', known[:20])}).")
    return value


def _majority(study: Study, value: str) -> str:
    if value in (ANY, NONE):
        return value
    responses, problems = response_names(study), []
    for each in leading_questions(asked_questions(study)):
        try:
            require_leading(each, value, responses)
        except ValueError as error:
            problems.append(str(error))
        else:
            return value
    raise ValueError(problems[0] if problems else "The study has no question about items as a whole.")


def _least(study: Study, value: str) -> int:
    if not (value.isascii() and value.isdigit() and 0 < int(value[:9]) < 10_000):
        raise ValueError(f"{value!r} is no number of raters.")
    return int(value)


def _until(study: Study, value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < 19):
        raise ValueError(f"{value!r} is no judgment's id.")
    return int(value)


READERS: Mapping[str, Callable[[Study, str], Any]] = {
    "q": _search,
    "pair": _pair,
    "answered": known_question,
    "answer": GivenAnswer.parse,
    "range": AnswerRange.parse,
    "longer_than": LongerThan.parse,
    "winner": PreferredSystem.parse,
    "majority": _majority,
    "least": _least,
    "until": _until,
}
