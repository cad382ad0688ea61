"""An item's page as a whole."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext, ngettext

from evaluation.forms.documents import read_documents
from evaluation.forms.entry_shapes import ModelRevisions
from evaluation.forms.fields.builders import build_field
from evaluation.forms.fields.entries import entry_lines
from evaluation.forms.fields.follow_ups import group_by_follow_up
from evaluation.forms.fields.screen_input import ScreenInput
from evaluation.forms.problems import problem_text
from evaluation.forms.response_names import response_names
from evaluation.forms.shapes import Card, ChecklistCell, Field, ScaleGroup, Screen, SummaryLine
from evaluation.protocols import Problem, Protocol
from evaluation.protocols.answers.trace import Trace
from evaluation.protocols.base import Data, Spec, Stimulus, sees_context


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
    return {
        "template": protocol.template,
        "query": _query(protocol, spec, stimulus),
        "context": _context(stimulus) if sees_context(spec, stimulus) else [],
        "documents": read_documents(stimulus["query"]["documents"]) if protocol.shows_documents else [],
        "cards": cards,
        "fields": fields,
        "drafted": next((field["entries"] for field in fields if "entries" in field), None),
        "follow_ups": group_by_follow_up(stimulus, questions, fields),
        "has_scales": any(field["groups"] for field in fields),
        "has_keys": any(option["key"] for field in fields for option in field["options"]),
        "has_grades": any(question.grades for question in questions),
        "summary": _summary(fields, problems),
    }


def _query(protocol: Protocol, spec: Spec, stimulus: Stimulus) -> dict[str, Any]:
    query = stimulus["query"]
    return {
        "label": gettext("%(asker)s asked") % {"asker": spec["asker"]},
        "asker": spec["asker"],
        "text": query["text"],
        "information_need": query["information_need"] if protocol.shows_information_need else "",
        "clarifying_question": stimulus["clarifying_question"],
        "references": [_reference(each) for each in query["references"]] if spec["show_references"] else [],
    }


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
    """Add to each card the scale of a question that is asked once of every response."""
    by_part = {group["part"]: group for group in field["groups"]}
    for card in cards:
        if card["part"] in by_part:
            card["scales"].append({"field": field, "group": by_part[card["part"]]})


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
        asked = field["prompt"] if field["prompt"][-1:] in ".?!:" else f"{field['prompt']}:"
        if wrong:
            still = ngettext("%(n)s choice is missing.", "%(n)s choices are missing.", len(wrong))
            text = still % {"n": len(wrong)}
            lines.append({"href": f"#{wrong[0]['options'][0]['id']}", "text": f"{asked} {text}"})
        if field["error"]:
            lines.append({"href": f"#{field['id']}", "text": f"{asked} {field['error']}"})
        if "entries" in field:
            lines += entry_lines(field["entries"])
    known = {field["key"] for field in fields}
    strays = [problem_text(problem) for problem in problems if problem.where.partition(".")[0] not in known]
    return lines + [{"href": "#main", "text": text} for text in dict.fromkeys(strays)]
