"""The first step to a context: which queries need one at all."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from judging.generation.pipeline import (
    Content,
    ContentProblem,
    PipelineStep,
    Planned,
    ProductText,
    Prompt,
    QueryState,
    SourceQuery,
    UnitFacts,
    ask_each,
)
from judging.generation.prompts import about_material
from judging.generation.shapes import KEPT, LONG_TEXT

EXAMPLE = SourceQuery(key="soup", text="Which soup can I make tonight?")

TASK = """\
Somebody puts a query to an assistant that knows nothing about them. Say whether the assistant should ask back before \
it answers.

It should if the best response hangs on something that the query leaves open: who asks and what they know already, \
where they are, what they want it for, in what form, length or style they want it, or what exactly they mean. It need \
not if the query has one response that is right for whoever asks: a fact, a calculation, a task that is described \
completely.

Give your reason in a sentence, then your decision."""

SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "needed": {"type": "boolean"}},
    "required": ["reason", "needed"],
    "additionalProperties": False,
}


def is_needed(state: QueryState) -> bool:
    """The decision on a query: that of all who were asked, or of any, as the run's option says."""
    said = [bool(each.content["needed"]) for each in state.products("need")]
    return any(said) if state.options["need"] == "any" else bool(said) and all(said)


class ContextNeed(PipelineStep):
    key, label, role = "need", "Need of a context", "generators"
    fields: ClassVar[Mapping[str, type]] = {"needed": bool, "reason": str, "generator": str}
    shapes: ClassVar = {"reason": LONG_TEXT, "generator": KEPT}

    def plan(self, state: QueryState) -> Iterable[Planned]:
        return ask_each(state, self.role, {})

    def prompt(self, asked: UnitFacts) -> Prompt:
        return about_material(TASK, [("Query", asked.query.text)], schema=SCHEMA)

    def read(self, asked: UnitFacts, reply: Any) -> Sequence[Content]:
        return [{**reply, "generator": asked.about["generators"]}]

    def example(self) -> UnitFacts:
        return UnitFacts(EXAMPLE, "1", {}, {})

    def shown(self, content: Content) -> ProductText:
        said = "Needs a context" if content["needed"] else "Needs no context"
        return ProductText(said, [(name, str(content.get(name, ""))) for name in ("reason", "generator")])

    def problems(self, content: Any) -> list[ContentProblem]:
        needed = isinstance(content, dict) and isinstance(content.get("needed"), bool)
        return [] if needed else [ContentProblem('A decision has "needed": true or false.', "needed")]
