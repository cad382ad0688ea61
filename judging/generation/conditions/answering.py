"""Answers in three settings: with conditions that the system finds itself, without any, and with conditions given.

CondAmbigQA section 4.2 and appendix D. Each answer is a set of entries, so that all are scored alike; of one that was
written without conditions, the conditions are blank.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from judging.generation.conditions.drafting import (
    BRIDGE,
    DRAFTED,
    EXAMPLE_FRAGMENTS,
    KNOWN,
    MERGED,
    made_fragments,
)
from judging.generation.conditions.entry_sets import (
    ANSWERS,
    SAID,
    SET_SHAPES,
    EntrySetStep,
    citations_schema,
    entries_in,
    known_set,
    read_entries,
    strict_object,
)
from judging.generation.fragments import documents_of, written_fragments
from judging.generation.pipeline import (
    Cast,
    Content,
    ContentProblem,
    Planned,
    Prompt,
    QueryState,
    Record,
    UnitFacts,
)
from judging.generation.prompts import about_material
from judging.generation.shapes import KEPT
from judging.generation.systems import model_systems

SELF, RAG, GIVEN = "self", "rag", "given"
SETTINGS: Mapping[str, tuple[str, ...]] = {
    "none": (), "all": (SELF, RAG, GIVEN), SELF: (SELF,), RAG: (RAG,), GIVEN: (GIVEN,), "compared": (RAG, GIVEN),
}  # fmt: skip
LABELS = {SELF: "conditions found by itself", RAG: "without conditions", GIVEN: "conditions given"}
ANSWERED = "answers"
MOST_CITATIONS = 3
MOST_DIRECT_ANSWERS = 10

RULES = """\
Use the fragments alone, nothing that you know besides, and guess nothing. What they don't say stays blank."""

FIND = f"""\
A question can be understood in several ways. Passages that bear on it were looked up; each is a numbered \
fragment. First find the conditions on which its answer hangs, {{most}} at most and the most important first: each \
is what has to be the case for one reading of the question. Then answer the question under each of them, and name \
the numbers of the fragments that support the condition and its answers.

{RULES}"""

ANSWER = f"""\
Answer a question from passages that were looked up for it; each is a numbered fragment. Name with each answer the \
numbers of the fragments that support it, {MOST_CITATIONS} at most. Several answers only where the question has \
several; if the fragments say nothing of it, there are none.

{RULES}"""

USE = f"""\
A question can be understood in several ways, and the conditions on which its answer hangs are given, by number. \
Passages that bear on it were looked up; each is a numbered fragment. Answer the question under each condition, as \
if it held, and name the numbers of the fragments that support these answers.

{RULES}"""


def conditions_for(state: QueryState) -> tuple[list[Record], str]:
    """The entries whose conditions are given, and to which answers are compared: those that are known of the query,
    unless the run says otherwise, or else those that were drafted; and which of these they are, '' where none."""
    if state.options["conditions"] == KNOWN:
        known, source = known_set(state, documents_of(made_fragments(state)))
        if known:
            return known, source
    merged = [each for product in state.products(MERGED) for each in entries_in(product)]
    return merged, DRAFTED if merged else ""


class Answering(EntrySetStep):
    key, label, role = ANSWERED, "Answers", "answerers"
    fields: ClassVar[Mapping[str, type]] = {"system": str, "setting": str, "entries": list}
    shapes: ClassVar = {**SET_SHAPES, "system": KEPT, "setting": KEPT}

    def plan(self, state: QueryState) -> Iterable[Planned]:
        fragments = made_fragments(state)
        if not fragments:
            return
        given = [each["condition"] for each in conditions_for(state)[0] if each["condition"]]
        for system in model_systems(state.models(self.role)):
            for setting in SETTINGS[str(state.options["settings"])]:
                if setting == GIVEN and not given:
                    continue
                yield Planned(
                    key=f"{system.key}:{setting}",
                    about={
                        "system": f"{system.key}-{setting}",
                        "setting": setting,
                        "fragments": fragments,
                        "conditions": given if setting == GIVEN else [],
                    },
                    model=system.model,
                )

    def most(self, options: Mapping[str, Any], casts: Mapping[str, Cast]) -> float:
        return len(set(casts[self.role].models)) * len(SETTINGS[str(options["settings"])])

    def prompt(self, asked: UnitFacts) -> Prompt:
        fragments, conditions = asked.about["fragments"], asked.about["conditions"]
        all_ = citations_schema(len(fragments))
        few = citations_schema(len(fragments), MOST_CITATIONS)
        most = int(asked.options["most_conditions"])
        texts = [("Question", asked.query.text), *written_fragments(fragments)]
        match asked.about["setting"]:
            case "self":
                task = FIND.format(most=most)
                each = strict_object({"condition": SAID, "answers": ANSWERS, "citations": all_})
                schema = {"entries": {"type": "array", "maxItems": most, "items": each}}
            case "rag":
                task = ANSWER
                each = strict_object({"answer": SAID, "citations": few})
                schema = {"answers": {"type": "array", "maxItems": MOST_DIRECT_ANSWERS, "items": each}}
            case _:
                task = USE
                texts += [(f"Condition {number}", each) for number, each in enumerate(conditions, 1)]
                each = strict_object({"answers": ANSWERS, "citations": all_})
                schema = {f"condition_{number}": each for number in range(1, len(conditions) + 1)}
        return about_material(task, texts, schema=strict_object(schema))

    def read(self, asked: UnitFacts, reply: Any) -> Sequence[Content]:
        match asked.about["setting"]:
            case "self":
                given = reply["entries"]
            case "rag":
                given = [
                    {"answers": [each["answer"]], "citations": each["citations"]} for each in reply["answers"]
                ]
            case _:
                given = [
                    {"condition": condition, **reply[f"condition_{number}"]}
                    for number, condition in enumerate(asked.about["conditions"], 1)
                ]
        entries = read_entries(given, len(asked.about["fragments"]))
        return [{"system": asked.about["system"], "setting": asked.about["setting"], "entries": entries}]

    def example(self) -> UnitFacts:
        about = {
            "system": "aspen-given", "setting": GIVEN, "fragments": EXAMPLE_FRAGMENTS,
            "conditions": ["The first bridge", "The bridge for cars"],
        }  # fmt: skip
        return UnitFacts(BRIDGE, "aspen:given", about, {"most_conditions": 3})

    def problems(self, content: Any) -> list[ContentProblem]:
        if not isinstance(content, dict) or not {"system", "setting"} <= content.keys():
            return [ContentProblem("An answer is an object with system, setting and entries.")]
        return super().problems(content)
