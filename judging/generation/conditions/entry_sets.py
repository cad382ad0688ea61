"""Sets of condition-answer-citation entries in what models reply: their schemas, and their strict reading."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from evaluation.protocols.base import Stimulus
from evaluation.protocols.entries.references import reference_set
from evaluation.protocols.entries.sets import FIELDS, Citation, Entry, clean_entries, is_blank
from judging.generation.pipeline import (
    Content,
    ContentProblem,
    KeptProduct,
    PipelineStep,
    ProductText,
    QueryState,
    Record,
    reject,
)
from judging.generation.shapes import LONG_TEXT, TEXTS, WHOLE_NUMBERS, Shape, rows_of

LONGEST, MOST_ANSWERS = 4_000, 20
TEXT: Mapping[str, Any] = {"type": "string", "maxLength": LONGEST}
SAID: Mapping[str, Any] = {"type": "string", "minLength": 1, "maxLength": LONGEST}
ANSWERS: Mapping[str, Any] = {"type": "array", "maxItems": MOST_ANSWERS, "items": SAID}
# A set as it is edited.
SET_SHAPES: Mapping[str, Shape] = {
    "entries": rows_of(
        {"condition": LONG_TEXT, "answers": TEXTS, "citations": WHOLE_NUMBERS, "reason": LONG_TEXT}
    )
}
ENTRY_PLACE = re.compile(r"entries\.e([0-9]+)(.*)")


def strict_object(properties: Mapping[str, Any]) -> Record:
    """The schema of an object that has these properties and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def citations_schema(fragments: int, most: int | None = None) -> Record:
    """A list of the numbers of fragments, of which there are so many."""
    number = {"type": "integer", "minimum": 1, "maximum": fragments}
    return {"type": "array", "maxItems": min(most or fragments, fragments), "items": number}


def read_entries(given: Any, fragments: int) -> list[Record]:
    """Entries in one spelling; `reject` where one is none, is blank, or cites what is not there."""
    entries, problems = clean_entries(given, fragments, "entries")
    if problems:
        reject(f"{problems[0]}.")
    if any(is_blank(entry) for entry in entries):
        reject("An entry is blank throughout.")
    return [plain_entry(entry) for entry in entries]


def plain_entry(entry: Entry | Mapping[str, Any]) -> Record:
    """An entry as a draft has it: without origins, which are a judgment's."""
    return {name: cast(Mapping[str, Any], entry)[name] for name in FIELDS}


class EntrySetStep(PipelineStep):
    """A step whose products are sets of entries."""

    shapes = SET_SHAPES

    def shown(self, content: Content) -> ProductText:
        lines = [
            (
                each["condition"] or "(no condition)",
                " / ".join(each["answers"])
                + "".join(f" [{_cited_as(cited)}]" for cited in each["citations"])
                + (f" Reason: {each['reason']}" if each["reason"] else ""),
            )
            for each in clean_entries(content["entries"], None, "")[0]
        ]
        return ProductText(f"Entries: {len(lines)}", lines)

    def problems(self, content: Any) -> list[ContentProblem]:
        if not isinstance(content, dict) or "entries" not in content:
            return [ContentProblem("A set is an object with entries.")]
        wrong = clean_entries(content["entries"], None, "entries")[1]
        return [ContentProblem(f"{each}.", _path(each.where)) for each in wrong]


def _cited_as(cited: Citation) -> str:
    return str(cited) if isinstance(cited, int) else cited["title"]


def _path(where: str) -> str:
    """The place of a set's problem, whose entries are counted from 1."""
    entry = ENTRY_PLACE.fullmatch(where)
    return f"entries.{int(entry[1]) - 1}{entry[2]}" if entry else where


def known_set(state: QueryState, fragments: Sequence[Any]) -> tuple[list[Record], str]:
    """The set that is known of a query, and what it is: what people settled on, or a reference; [] and '' without."""
    if state.query.settled:
        return [plain_entry(each) for each in state.query.settled], "settled"
    asked = {"query": {"references": list(state.query.references), "documents": list(fragments)}}
    reference = reference_set(cast(Stimulus, asked))
    return ([plain_entry(each) for each in reference], "reference") if reference else ([], "")


def entries_in(product: KeptProduct) -> list[Record]:
    """The entries of a set, as it was edited last, in one spelling."""
    return [plain_entry(each) for each in clean_entries(product.content["entries"], None, "")[0]]


def cited(entries: Collection[Mapping[str, Any]]) -> list[int]:
    """The numbers of fragments that entries cite."""
    return sorted({each for entry in entries for each in entry["citations"] if isinstance(each, int)})


def written_entry(entry: Mapping[str, Any]) -> str:
    """An entry as a prompt shows it; further lines are set in."""
    return "\n".join(
        [
            "Condition: " + "\n    ".join(entry["condition"].splitlines()),
            *(f"Answer: {answer}" for answer in entry["answers"]),
            f"Citations: {', '.join(map(str, cited([entry]))) or 'none'}",
        ]
    )
