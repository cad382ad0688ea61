"""One concrete context of a query: an answer to each of its follow-up questions, all of them true of one person."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from judging.generation.contexts.follow_ups import (
    FOLLOW_UP_SHAPES,
    by_rank,
    follow_up_problems,
    show_follow_up,
)
from judging.generation.contexts.jury import EXAMPLE_SET, listed, numbered_schema
from judging.generation.contexts.need import EXAMPLE
from judging.generation.pipeline import (
    Content,
    ContentProblem,
    PipelineStep,
    Planned,
    ProductText,
    Prompt,
    QueryState,
    UnitFacts,
)
from judging.generation.prompts import about_material

TASK = """\
Think of somebody who might put this query to an assistant, and say how they would answer its follow-up questions: to \
each, one of its answers, word for word.

The answers must be those of one person in one situation: none of them contradicts another, or what the query says. \
People with the same query differ; do not keep to the most common ones, or to the answers that stand first."""
PARTS = ("question", "answers", "rank", "generator")


class SampledAnswers(PipelineStep):
    key, label, role = "answers", "Answers of one person", "sampler"
    fields: ClassVar[Mapping[str, type]] = {"question": str, "answers": list, "rank": int, "answer": str}
    shapes = FOLLOW_UP_SHAPES

    def plan(self, state: QueryState) -> Iterable[Planned]:
        follow_ups = [
            {name: each[name] for name in PARTS if name in each} for each in by_rank(state.products("kept"))
        ]
        if follow_ups:
            [model] = state.models(self.role)
            yield Planned(about={"follow_ups": follow_ups}, model=model)

    def prompt(self, asked: UnitFacts) -> Prompt:
        follow_ups = asked.about["follow_ups"]
        choices = [{"type": "string", "enum": each["answers"]} for each in follow_ups]
        return about_material(
            TASK,
            [("Query", asked.query.text), *listed(follow_ups)],
            schema=numbered_schema(choices, "answer"),
        )

    def read(self, asked: UnitFacts, reply: Any) -> Sequence[Content]:
        return [
            {**each, "answer": reply[f"answer_{number}"]}
            for number, each in enumerate(asked.about["follow_ups"], 1)
        ]

    def example(self) -> UnitFacts:
        return UnitFacts(EXAMPLE, "", {"follow_ups": EXAMPLE_SET}, {})

    def shown(self, content: Content) -> ProductText:
        return show_follow_up(content)

    def problems(self, content: Any) -> list[ContentProblem]:
        problems = follow_up_problems(content)
        if not problems and content.get("answer") not in content["answers"]:
            problems.append(ContentProblem('"answer" must be one of the answers.', "answer"))
        return problems
