"""Responses by attribute: one by default to each query that was chosen, and one for every value of the attribute."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from judging.generation.adaptability.choosing import (
    EXAMPLE,
    attributes_of,
    chosen_attributes,
    known_attributes,
    names_attribute,
)
from judging.generation.pipeline import (
    Cast,
    Content,
    ContentProblem,
    PipelineStep,
    Planned,
    Prompt,
    QueryState,
    UnitFacts,
)
from judging.generation.responding import RESPONSE_SHAPES, response_problems, response_prompt
from judging.generation.shapes import KEPT
from judging.generation.systems import joined_key, model_systems

SHAPES = {"both": ("default", "adapted"), "default": ("default",), "adapted": ("adapted",)}


class DefaultResponses(PipelineStep):
    """Each system's response where it is told nothing about who asks."""

    key, label, role = "default", "Default responses", "writers"
    fields: ClassVar[Mapping[str, type]] = {"system": str, "text": str}
    shapes = RESPONSE_SHAPES

    def plan(self, state: QueryState) -> Iterable[Planned]:
        if self.key in SHAPES[str(state.options["responses"])] and chosen_attributes(state):
            for system in model_systems(state.models(self.role)):
                yield Planned(key=system.key, about={"system": system.key}, model=system.model)

    def most(self, options: Mapping[str, Any], casts: Mapping[str, Cast]) -> float:
        asked = self.key in SHAPES[str(options["responses"])]
        return len(casts[self.role].models) if asked else 0

    def most_of(self, queries: int, options: Mapping[str, Any], casts: Mapping[str, Cast]) -> float:
        chosen = len(attributes_of(options)) * int(options["per_attribute"])
        return min(queries, chosen) * self.most(options, casts)

    def prompt(self, asked: UnitFacts) -> Prompt:
        return response_prompt(asked.query, [])

    def read(self, asked: UnitFacts, reply: Any) -> Sequence[Content]:
        return [{"system": asked.about["system"], "text": reply}]

    def example(self) -> UnitFacts:
        return UnitFacts(EXAMPLE, "aspen", {"system": "aspen"}, {})

    def problems(self, content: Any) -> list[ContentProblem]:
        return response_problems(content)


class AdaptedResponses(PipelineStep):
    """Each system's responses to people of whom one value of an attribute is known."""

    key, label, role = "adapted", "Adapted responses", "writers"
    fields: ClassVar[Mapping[str, type]] = {"system": str, "text": str, "attribute": str, "value": str}
    shapes: ClassVar = {**RESPONSE_SHAPES, "attribute": KEPT, "value": KEPT}

    def plan(self, state: QueryState) -> Iterable[Planned]:
        if self.key not in SHAPES[str(state.options["responses"])]:
            return
        for attribute in chosen_attributes(state):
            for number, value in enumerate(attribute.values, 1):
                for system in model_systems(state.models(self.role)):
                    yield Planned(
                        key=joined_key(system.key, attribute.key, str(number)),
                        about={"system": system.key, "attribute": attribute.key, "value": value},
                        model=system.model,
                    )

    def most(self, options: Mapping[str, Any], casts: Mapping[str, Cast]) -> float:
        return sum(len(each.values) for each in attributes_of(options)) * self._writers(options, casts)

    def most_of(self, queries: int, options: Mapping[str, Any], casts: Mapping[str, Cast]) -> float:
        return min(queries, int(options["per_attribute"])) * self.most(options, casts)

    def _writers(self, options: Mapping[str, Any], casts: Mapping[str, Cast]) -> int:
        return len(casts[self.role].models) if self.key in SHAPES[str(options["responses"])] else 0

    def prompt(self, asked: UnitFacts) -> Prompt:
        attribute = known_attributes(asked.options)[asked.about["attribute"]]
        return response_prompt(asked.query, [attribute.follow_up(asked.about["value"])])

    def read(self, asked: UnitFacts, reply: Any) -> Sequence[Content]:
        about = {name: asked.about[name] for name in ("system", "attribute", "value")}
        return [{**about, "text": reply}]

    def example(self) -> UnitFacts:
        about = {"system": "aspen", "attribute": "expertise", "value": "Complete beginner"}
        return UnitFacts(EXAMPLE, "aspen-expertise-1", about, {})

    def problems(self, content: Any) -> list[ContentProblem]:
        if problems := response_problems(content):
            return problems
        fit = names_attribute(content) and isinstance(content.get("value"), str) and content["value"].strip()
        said = '"attribute" and "value" must be an attribute\'s key and one of its values.'
        return [] if fit else [ContentProblem(said, "value")]
