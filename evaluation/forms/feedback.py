"""Gold beside the given answers, in the words of the screen."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from evaluation.forms.fields.grades import grade_text
from evaluation.forms.fields.ranking import response_label
from evaluation.forms.fields.scale import number_text
from evaluation.forms.fields.ties import tie_text
from evaluation.forms.response_names import response_names
from evaluation.protocols import Comparison, GoldResult, Kind, Over, Protocol, QuestionSpec
from evaluation.protocols.base import Spec, Stimulus
from evaluation.protocols.entries.sets import Decision, drafted_entries

# What became of a drafted entry.
DECISIONS: dict[str, Promise] = {
    Decision.ACCEPTED: gettext_lazy("Accepted"),
    Decision.EDITED: gettext_lazy("Edited"),
    Decision.MERGED: gettext_lazy("Merged"),
    Decision.REJECTED: gettext_lazy("Rejected"),
}


class FeedbackLine(TypedDict):
    prompt: str
    answer: str
    who: str
    given: str
    accepted: str
    correct: bool


class Feedback(TypedDict):
    passed: bool
    note: str
    lines: list[FeedbackLine]


def build_feedback(
    protocol: Protocol, spec: Spec, stimulus: Stimulus, order: str, result: GoldResult
) -> Feedback:
    """Each gold value beside the given one, in the words of the screen."""
    questions = {question.key: question for question in protocol.questions(spec, stimulus)}
    names = response_names(stimulus, order)
    lines = [
        _line(questions[each.question], each, stimulus, names)
        for each in _as_shown(result.comparisons, list(names))
        if each.question in questions
    ]
    return {"passed": result.passed, "note": result.note, "lines": lines}


def _as_shown(comparisons: Sequence[Comparison], shown: Sequence[str]) -> list[Comparison]:
    """The comparisons with those of responses in the order in which these were shown, whatever their gold's order."""
    first: dict[tuple[str, str], int] = {}

    def place(each: Comparison) -> tuple[int, int]:
        before, _, last = each.part.rpartition(".")
        about = (each.question, before if last in shown else each.part)
        return first.setdefault(about, len(first)), shown.index(last) if last in shown else 0

    return sorted(comparisons, key=place)


def _line(
    question: QuestionSpec, each: Comparison, stimulus: Stimulus, names: Mapping[str, str]
) -> FeedbackLine:
    prompt, answer, who = _asked(question, each.part, stimulus, names)
    shown = list(names)
    in_order = sorted(each.accepted, key=lambda value: shown.index(value) if value in names else len(shown))
    accepted = (_said(question, value, names) for value in in_order)
    return {
        "prompt": prompt,
        "answer": answer,
        "who": who,
        "given": gettext("no answer") if each.given is None else _said(question, each.given, names),
        "accepted": gettext(" or ").join(accepted),
        "correct": each.correct,
    }


def _asked(
    question: QuestionSpec, part: str, stimulus: Stimulus, names: Mapping[str, str]
) -> tuple[str, str, str]:
    """The question about this part: the sentence, its emphasis, and the line below it."""
    first, _, second = part.partition(".")
    follow_up = _follow_up(stimulus, first)
    match question.over:
        case Over.FOLLOW_UP_RESPONSE if follow_up:
            who = gettext("Taken into account by %(response)s") % {"response": names.get(second, second)}
            return follow_up["question"], follow_up["answer"], who
        case Over.VALUE if follow_up:
            values = dict(enumerate(follow_up["answers"], 1))
            number = second.removeprefix("v")
            return follow_up["question"], values.get(int(number), part), question.prompt
        case Over.FOLLOW_UP if follow_up:
            return question.prompt, "", follow_up["question"]
        case _ if question.kind == Kind.ENTRIES:
            return _drafted(part, stimulus), "", gettext("Drafted entry")
        case Over.CHOICE:
            return question.prompt, "", question.label(part) or part
        case Over.RESPONSE if question.kind == Kind.RANKING:
            # What is ranked stands in the list by its text, not by a number.
            return question.prompt, "", _label(part, stimulus)
        case Over.RESPONSE:
            return question.prompt, "", names.get(part, part)
        case _:
            return question.prompt, "", ""


def _said(question: QuestionSpec, value: str, names: Mapping[str, str]) -> str:
    """A stored value in the form's words."""
    match question.kind:
        case Kind.PREFERENCE:
            if question.grades and value not in (*names, "tie"):
                return grade_text(question, float(value), names)
            return names.get(value) or tie_text(question, value)
        case Kind.CHECKLIST:
            return question.label(value) or {"1": gettext("Yes"), "0": gettext("No")}.get(value, value)
        case Kind.SCALE:
            return " ".join(word for word in (number_text(float(value)), question.label(value)) if word)
        case Kind.ENTRIES:
            return str(DECISIONS.get(value, value))
        case Kind.RANKING:
            return gettext("Rank %(rank)s") % {"rank": number_text(float(value))}
        case _:
            return question.label(value) or value


def _drafted(part: str, stimulus: Stimulus) -> str:
    """A drafted entry by what it says first."""
    entry = drafted_entries(stimulus).get(part)
    return (entry["condition"] or ", ".join(entry["answers"]) if entry else "") or part


def _label(part: str, stimulus: Stimulus) -> str:
    html = {response["part"]: response["html"] for response in stimulus["responses"]}
    return response_label(html[part]) if part in html else part


def _follow_up(stimulus: Stimulus, part: str) -> Mapping[str, Any] | None:
    follow_ups = stimulus["context"]["follow_ups"] if stimulus["context"] else []
    return next((each for each in follow_ups if each["part"] == part), None)
