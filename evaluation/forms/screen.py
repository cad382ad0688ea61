"""An item's page as a whole."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext, ngettext

from evaluation.forms.documents import read_documents
from evaluation.forms.entry_shapes import ModelRevisions
from evaluation.forms.fields.builders import build_field
from evaluation.forms.fields.entries import entry_lines
from evaluation.forms.fields.follow_ups import group_by_follow_up
from evaluation.forms.fields.places import add_claims, is_in_place, turn_lines
from evaluation.forms.fields.screen_input import ScreenInput
from evaluation.forms.problems import problem_text
from evaluation.forms.response_names import response_names
from evaluation.forms.shapes import Card, ChecklistCell, Field, ScaleGroup, Screen, SourceText, SummaryLine
from evaluation.protocols import Problem, Protocol
from evaluation.protocols.answers.trace import Trace
from evaluation.protocols.base import Data, Spec, Stimulus, sees_context

# Markup of more characters does not fit on a screen beside what is asked of it.
LONG = 1_200
# Questions that take one row, by their partials: these can stay in view while responses are read.
ROWS = frozenset(f"evaluation/_{name}.html" for name in ("preference", "graded", "choice", "flag"))
TEXT = "evaluation/_text.html"


def build_screen(
    protocol: Protocol,
    spec: Spec,
    stimulus: Stimulus,
    order: str,
    *,
    data: Data | None = None,
    problems: Sequence[Problem] = (),
    trace: Trace | None = None,
    drafting: ModelRevisions | None = None,
) -> Screen:
    """Everything that an item's page shows, with what was filled in so far and what was wrong with it.

    `drafting`: the model that can be asked to revise entries, and what it has made so far.
    """
    values = data or {}
    cards = _cards(stimulus, order)
    questions = protocol.questions(spec, stimulus)
    page = ScreenInput(stimulus, cards, _errors(problems), trace or {}, drafting)
    fields = [build_field(question, page, values.get(question.key)) for question in questions]
    for field in fields:
        if field["heads"]:
            _add_tallies(cards, field)
        _add_scales(cards, field)
    add_claims(cards, stimulus, fields)
    turns = turn_lines(stimulus, cards, fields)
    query = _query(protocol, spec, stimulus)
    if turns and turns[0]["said"]:
        # What was said in these turns stands above the replies to it.
        query["turns"] = query.get("turns", [])[: -len(turns)]
    before, docked, after = _around_the_dock(cards, fields)
    return {
        "template": protocol.template,
        "query": query,
        "context": _context(stimulus) if sees_context(spec, stimulus) else [],
        "documents": read_documents(stimulus["query"]["documents"]) if protocol.shows_documents else [],
        "source": _source(protocol, spec, stimulus),
        "turns": turns,
        "cards": cards,
        "fields": fields,
        "apart": [field for field in fields if not is_in_place(field, turns)],
        "before": before,
        "docked": docked,
        "shared_options": _shared_options(docked),
        "after": after,
        "is_long": any(len(card["html"]) > LONG for card in cards),
        "drafted": next((field["entries"] for field in fields if "entries" in field), None),
        "follow_ups": group_by_follow_up(stimulus, questions, fields),
        "has_scales": any(field["points"] for field in fields),
        "has_keys": any(option["key"] for field in fields for option in field["options"]),
        "has_grades": any(question.grades for question in questions),
        "has_both_bad": any(question.tells_both_bad for question in questions),
        "summary": _summary(fields, problems),
    }


def _query(protocol: Protocol, spec: Spec, stimulus: Stimulus) -> dict[str, Any]:
    query = stimulus["query"]
    return {
        "label": _query_label(spec, query),
        "asker": spec["asker"],
        "text": query["text"],
        "html": stimulus.get("prompt_html", ""),
        "turns": _turns(spec, query.get("turns", ())),
        "information_need": query["information_need"] if protocol.shows_information_need else "",
        "clarifying_question": stimulus["clarifying_question"],
        "references": [_reference(each) for each in query["references"]] if spec["show_references"] else [],
    }


def _source(protocol: Protocol, spec: Spec, stimulus: Stimulus) -> SourceText | None:
    """The text that responses are held against, in a study that names a place for one."""
    name, document = protocol.document_name(spec), stimulus["query"].get("document")
    return {"name": name, "html": document["html"]} if name and document else None


def _query_label(spec: Spec, query: Mapping[str, Any]) -> str:
    said = gettext("Conversation with %(asker)s") if query.get("turns") else gettext("%(asker)s asked")
    return said % {"asker": spec["asker"]}


def _turns(spec: Spec, turns: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """The turns of a conversation, each under whoever speaks."""
    speakers = {"user": spec["asker"], "assistant": gettext("Assistant"), "system": gettext("Instructions")}
    return [{"role": turn["role"], "speaker": speakers[turn["role"]], "html": turn["html"]} for turn in turns]


def _reference(reference: Any) -> str:
    return str(reference.get("text", "")) if isinstance(reference, Mapping) else str(reference)


def _context(stimulus: Stimulus) -> list[dict[str, str]]:
    return [
        {"question": follow_up["question"], "answer": follow_up["answer"]}
        for follow_up in stimulus["context"]["follow_ups"]
    ]


def _cards(stimulus: Stimulus, order: str) -> list[Card]:
    by_part = {response["part"]: response for response in stimulus["responses"]}
    return [
        {"part": part, "name": name, "html": by_part[part]["html"], "tally": "", "met": "", "scales": []}
        for part, name in response_names(stimulus, order).items()
    ]


def _add_tallies(cards: list[Card], field: Field) -> None:
    for column, card in enumerate(cards):
        met = sum(row["cells"][column]["options"][0]["checked"] for row in field["rows"])
        card["tally"] = field["key"]
        card["met"] = gettext("%(met)s of %(all)s met") % {"met": met, "all": len(field["rows"])}


def _add_scales(cards: list[Card], field: Field) -> None:
    """Add to each card what a question asks of it that is asked once of every response."""
    by_part = {group["part"]: group for group in field["groups"]}
    for card in cards:
        if card["part"] in by_part:
            card["scales"].append({"field": field, "group": by_part[card["part"]]})


def _first_input(part: ChecklistCell | ScaleGroup) -> str:
    first: str = part["options"][0]["id"] if part["options"] else f"q-{part['name']}"
    return first


def _around_the_dock(
    cards: Sequence[Card], fields: Sequence[Field]
) -> tuple[list[Field], list[Field], list[Field]]:
    """The questions before the choice and its reason, which stay in view, these themselves, and those after them.
    Without responses nothing has to stay."""
    fields = list(fields)
    kept = [_keeps_in_view(field) for field in fields]
    start = kept.index(True) if cards and True in kept else len(fields)
    end = start
    while end < len(fields) and kept[end]:
        end += 1
    if start < end < len(fields) and fields[end]["template"] == TEXT:
        end += 1
    return fields[:start], fields[start:end], fields[end:]


def _shared_options(fields: Sequence[Field]) -> list[str]:
    """The options that several comparisons have in common, which can stand once over all of them; else none."""
    named = [
        [option["label"] for option in field["options"]] for field in fields if len(field["options"]) > 1
    ]
    return named[0] if len(named) > 2 and all(each == named[0] for each in named) else []


def _keeps_in_view(field: Field) -> bool:
    """True of a question in one row: a few options, or a scale for the item as a whole."""
    return field["template"] in ROWS or [group["part"] for group in field["groups"]] == [""]


def _errors(problems: Iterable[Problem]) -> dict[str, str]:
    """Sentences by place; "missing" stays a code, because it reads differently for every kind."""
    return {
        problem.where: "missing" if problem.code == "missing" else problem_text(problem)
        for problem in problems
    }


def _summary(fields: list[Field], problems: Sequence[Problem]) -> list[SummaryLine]:
    """One line per question that has problems, and what belongs to no question; nothing without problems."""
    lines: list[SummaryLine] = []
    for field in fields:
        cells = [cell for row in field["rows"] for cell in row["cells"]]
        parts: list[ChecklistCell | ScaleGroup] = [*cells, *field["groups"]]
        wrong = [each for each in parts if each["error"]]
        asked = (
            field["prompt"]
            if field["prompt"][-1:] in ".?!:\N{ARABIC QUESTION MARK}"
            else f"{field['prompt']}:"
        )
        if wrong:
            still = ngettext("%(n)s choice is missing.", "%(n)s choices are missing.", len(wrong))
            text = still % {"n": len(wrong)}
            lines.append({"href": f"#{_first_input(wrong[0])}", "text": f"{asked} {text}"})
        if field["error"]:
            lines.append({"href": f"#{field['id']}", "text": f"{asked} {field['error']}"})
        if "entries" in field:
            lines += entry_lines(field["entries"])
    known = {field["key"] for field in fields}
    strays = [problem_text(problem) for problem in problems if problem.where.partition(".")[0] not in known]
    return lines + [{"href": "#main", "text": text} for text in dict.fromkeys(strays)]
