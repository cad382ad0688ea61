"""The types of a query: in what respects it leaves open which answer is right (ContextEval, table 1 and appendix B)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from judging.generation.pipeline import (
    CastRole,
    Content,
    ContentProblem,
    Pipeline,
    PipelineStep,
    Planned,
    Prompt,
    QueryState,
    SourceQuery,
    UnitFacts,
)
from judging.generation.prompts import about_material
from judging.generation.shapes import LONG_TEXT, choices_of

TYPES = {
    "ambiguous": "it can be understood in several ways, so that it is not clear what is asked",
    "incomplete": "something is missing without which nobody can tell what is wanted",
    "subjective": "the answer depends on convictions, taste or point of view",
    "open_ended": "it calls for a detailed answer, and there is no single short one",
    "closed_ended": "it calls for one short answer that is not open to interpretation",
}

TASK = """\
Somebody put a query to an assistant. Say of which types it is:

{types}

A query may be of several types. An incomplete query lacks something; an ambiguous one says too little about which of \
several things it means. Give your reason in a sentence."""

SCHEMA = {
    "type": "object",
    "properties": {
        "types": {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"enum": list(TYPES)}},
        "reason": {"type": "string"},
    },
    "required": ["types", "reason"],
    "additionalProperties": False,
}


class Classification(PipelineStep):
    key, label, role = "types", "Types", "classifier"
    fields: ClassVar[Mapping[str, type]] = {"types": list}
    shapes: ClassVar = {"types": choices_of(list(TYPES)), "reason": LONG_TEXT}

    def plan(self, state: QueryState) -> Iterable[Planned]:
        [model] = state.models(self.role)
        return [Planned(model=model)]

    def prompt(self, asked: UnitFacts) -> Prompt:
        types = "\n".join(f"- {key}: {meaning}" for key, meaning in TYPES.items())
        return about_material(TASK.format(types=types), [("Query", asked.query.text)], schema=SCHEMA)

    def read(self, asked: UnitFacts, reply: Any) -> Sequence[Content]:
        return [reply]

    def example(self) -> UnitFacts:
        return UnitFacts(SourceQuery(key="soup", text="Which soup can I make tonight?"), "", {}, {})

    def problems(self, content: Any) -> list[ContentProblem]:
        types = content.get("types") if isinstance(content, dict) else None
        if isinstance(types, list) and types and all(each in list(TYPES) for each in types):
            return []
        return [ContentProblem(f'"types" must be one or more of {", ".join(TYPES)}.', "types")]


class QueryTypes(Pipeline):
    key, label = "query_types", "Types of queries"
    about = "Sorts queries into ambiguous, incomplete, subjective, open-ended and closed-ended ones; several may hold."
    roles = (CastRole(key="classifier", label="Classifier", max_tokens=300),)
    steps = (Classification(),)


PIPELINE = QueryTypes()
