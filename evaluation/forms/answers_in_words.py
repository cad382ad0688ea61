"""Recorded answers in words, as they are read beside the screen that they were given on."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby

from django.utils.html import format_html
from django.utils.safestring import SafeString

from evaluation.forms.fields.checklist import yes_no_options
from evaluation.forms.fields.grades import grade_text
from evaluation.forms.fields.part_names import part_names
from evaluation.forms.fields.ranking import response_label
from evaluation.forms.fields.screen_input import ScreenInput
from evaluation.forms.fields.ties import tie_text
from evaluation.forms.shapes import Card
from evaluation.protocols import AnswerValue, Kind, Over, QuestionSpec
from evaluation.protocols.base import Stimulus, option_key
from evaluation.protocols.entries.sets import Entry, read_entry

# By canonical part, escaped, in the order in which they are told.
ResponseNames = Mapping[str, SafeString]
TEXTS = (Kind.TEXT, Kind.ENTRIES)


@dataclass(frozen=True)
class PartInWords:
    """The value that a part has; `who` is empty where that is the whole item."""

    who: str
    text: str


@dataclass(frozen=True)
class AnswerInWords:
    """A question's answer: its parts by what they belong to, '' where they belong to nothing else."""

    name: str
    prompt: str
    is_text: bool
    heads: list[tuple[str, list[PartInWords]]] = field(default_factory=list)


def answers_in_words(
    questions: Iterable[QuestionSpec],
    stimulus: Stimulus,
    answers: Iterable[AnswerValue],
    names: ResponseNames,
) -> list[AnswerInWords]:
    """The answers in the order of the form, measures after them."""
    by_question: dict[str, list[AnswerValue]] = {}
    for answer in answers:
        by_question.setdefault(answer.question, []).append(answer)
    page = ScreenInput(stimulus, [_card(part, name) for part, name in names.items()], {}, {})
    said = [
        AnswerInWords(
            question.key.replace("_", " "),
            question.prompt,
            question.kind in TEXTS,
            _under_heads(_parts(question, by_question.pop(question.key), page, names)),
        )
        for question in questions
        if question.key in by_question
    ]
    return said + [
        AnswerInWords(key, "", False, [("", [_bare(each, names) for each in measured])])
        for key, measured in by_question.items()
    ]


def _card(part: str, name: SafeString) -> Card:
    return {"part": part, "name": name, "html": "", "tally": "", "met": "", "scales": []}


def _under_heads(parts: Iterable[tuple[str, PartInWords]]) -> list[tuple[str, list[PartInWords]]]:
    return [(head, [part for _, part in rows]) for head, rows in groupby(parts, key=lambda each: each[0])]


def _parts(
    question: QuestionSpec, answers: list[AnswerValue], page: ScreenInput, names: ResponseNames
) -> Iterator[tuple[str, PartInWords]]:
    if question.kind == Kind.RANKING:
        # What is ranked stands nowhere under a name.
        labels = {each["part"]: response_label(each["html"]) for each in page.stimulus["responses"]}
        for each in sorted(answers, key=lambda answer: answer.number or 0.0):
            yield "", PartInWords(f"{each.number:g}.", f"{names[each.part]}: {labels[each.part]}")
    elif question.kind == Kind.ENTRIES:
        for number, each in enumerate(answers, 1):
            yield "", PartInWords(f"{number}.", _entry(read_entry(each.text or "")))
    elif question.over == Over.CHOICE:
        ticked = [question.label(each.part) or each.part for each in answers if each.number]
        yield "", PartInWords("", ", ".join(ticked) or "none")
    else:
        by_part = {each.part: each for each in answers}
        for part in part_names(question, page):
            if part.key in by_part:
                yield part.head, PartInWords(part.who, _value(question, by_part[part.key], names))


def _value(question: QuestionSpec, answer: AnswerValue, names: ResponseNames) -> str:
    if answer.text is not None:
        return answer.text
    match question.kind:
        case Kind.PREFERENCE:
            return _preference(question, answer, names)
        case Kind.CHECKLIST:
            return dict(yes_no_options(question)).get(option_key(answer.number), f"{answer.number:g}")
        case Kind.CHOICE:
            return question.label(answer.label) or str(answer.label)
    label = question.label(answer.number)
    return f"{answer.number:g} {label}" if label else f"{answer.number:g}"


def _preference(question: QuestionSpec, answer: AnswerValue, names: ResponseNames) -> SafeString:
    if question.grades and answer.number is not None:
        # Made of what is escaped.
        return SafeString(grade_text(question, answer.number, names))
    label = str(answer.label)
    said = names[label] if label in names else tie_text(question, label)
    if answer.number is None:
        return said
    return format_html("{} (probability of {}: {})", said, names["r2"], f"{answer.number:.2f}")


def _entry(entry: Entry) -> str:
    cited = [f"[{each}]" if isinstance(each, int) else f"“{each['text']}”" for each in entry["citations"]]
    said = f"{entry['condition']}: " if entry["condition"] else ""
    return " ".join(filter(None, [said + "; ".join(entry["answers"]), *cited, entry["reason"]]))


def _bare(answer: AnswerValue, names: ResponseNames) -> PartInWords:
    """An answer to what the form does not ask."""
    value = answer.text or answer.label or ("" if answer.number is None else f"{answer.number:g}")
    return PartInWords(names.get(answer.part, answer.part), value)
