"""The steps that write clarifying questions: from facets, in sets at rising temperatures, and plainly (phase 1).

AGENT-CQ, section 2.1.1 and appendix A.1. A query's information need is what people are asked about later: no prompt
here has it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from judging.generation.clarifying.approaches import (
    BASELINE,
    FACET,
    VARIED,
    WRITERS,
    different_texts,
    question_systems,
)
from judging.generation.pipeline import (
    Cast,
    Content,
    ContentProblem,
    PipelineStep,
    Planned,
    Prompt,
    QueryState,
    SourceQuery,
    UnitFacts,
    reject,
)
from judging.generation.prompts import about_material

EXAMPLE = SourceQuery(key="soup", text="Which soup can I make tonight?")

FACETS_TASK = """\
Somebody typed a query into a search system, and different people who type it are after different things. Name \
{facets} of the facets that it may be about: the readings it allows, and the sides of its subject that somebody may \
want to know of. Let no two say the same, and let them range widely. Each is a phrase that can be understood without \
the others."""

FACET_QUESTION_TASK = """\
Somebody typed a query into a search system, which may ask them one question back before it answers. Write that \
question, so that the answer tells whether the given facet of the query is what they are after, and what about it. \
Speak to the person. Ask one thing, and choose words and form that suit this facet rather than a set phrase."""

VARIED_TASK = """\
Somebody typed a query into a search system, and different people who type it are after different things. Before it \
answers, the system may ask one question back. Write {questions} such questions.

- Each is to bring out something else: another reading of the query, or another side of what the person may need.
- None repeats another in other words.
- The answer to each narrows down what the person is after.
- Where the query can be understood in several ways, ask about them."""

BASELINE_TASK = """\
Somebody typed a query into a search system. Write {questions} questions that the system could ask back to make clear \
what they are looking for."""


def listed(name: str, number: int) -> dict[str, Any]:
    """The schema of an object that lists so many texts."""
    texts = {"type": "array", "minItems": number, "items": {"type": "string", "minLength": 1}}
    return {"type": "object", "properties": {name: texts}, "required": [name], "additionalProperties": False}


QUESTION = {
    "type": "object",
    "properties": {"question": {"type": "string", "minLength": 1}},
    "required": ["question"],
    "additionalProperties": False,
}


class QuestionStep(PipelineStep):
    """A step whose products are questions."""

    fields: ClassVar[Mapping[str, type]] = {"question": str}

    def problems(self, content: Any) -> list[ContentProblem]:
        return text_problems(content, "question")


def text_problems(content: Any, name: str) -> list[ContentProblem]:
    """The problem of a content that has no text of this name."""
    text = content.get(name) if isinstance(content, dict) else None
    if isinstance(text, str) and text.strip():
        return []
    return [ContentProblem(f'A product of this step is an object with the text of its "{name}".', name)]


class Facets(PipelineStep):
    key, label, role = "facets", "Facets", "facet_namer"
    fields: ClassVar[Mapping[str, type]] = {"facet": str}

    def plan(self, state: QueryState) -> Iterable[Planned]:
        [model] = state.models(self.role)
        return [Planned(model=model)]

    def prompt(self, asked: UnitFacts) -> Prompt:
        number = int(asked.options["facets"])
        return about_material(
            FACETS_TASK.format(facets=number), [("Query", asked.query.text)], schema=listed("facets", number)
        )

    def read(self, asked: UnitFacts, reply: Any) -> Sequence[Content]:
        found = different_texts(reply["facets"], int(asked.options["facets"]), "facets")
        return [{"facet": text} for text in found]

    def example(self) -> UnitFacts:
        return UnitFacts(EXAMPLE, "", {}, {"facets": 40})

    def problems(self, content: Any) -> list[ContentProblem]:
        return text_problems(content, "facet")


class FacetQuestions(QuestionStep):
    key, label, role = "facet_questions", "Questions by facet", WRITERS[FACET]

    def plan(self, state: QueryState) -> Iterable[Planned]:
        facets = state.products("facets")
        for system, written_by in question_systems(FACET, state.models(self.role)).items():
            for each in facets:
                about = {"approach": FACET, "system": system, "facet": each.content["facet"]}
                yield Planned(key=f"{system}:{each.number}", about=about, model=written_by.model)

    def most(self, options: Mapping[str, Any], casts: Mapping[str, Cast]) -> float:
        return len(casts[self.role].models) * int(options["facets"])

    def prompt(self, asked: UnitFacts) -> Prompt:
        texts = [("Query", asked.query.text), ("Facet", asked.about["facet"])]
        return about_material(FACET_QUESTION_TASK, texts, schema=QUESTION)

    def read(self, asked: UnitFacts, reply: Any) -> Sequence[Content]:
        question = reply["question"].strip()
        if not question:
            reject("The question is empty.")
        return [{"question": question}]

    def example(self) -> UnitFacts:
        return UnitFacts(EXAMPLE, "facet-aspen:1", {"facet": "what is in the kitchen already"}, {})


class VariedQuestions(QuestionStep):
    key, label, role = "varied_questions", "Questions by temperature", WRITERS[VARIED]

    def plan(self, state: QueryState) -> Iterable[Planned]:
        for system, written_by in question_systems(VARIED, state.models(self.role)).items():
            for number, temperature in enumerate(temperatures(state.options)):
                yield Planned(
                    key=f"{system}:{number + 1}",
                    about={"approach": VARIED, "system": system, "temperature": temperature},
                    model=written_by.model,
                    temperature=temperature,
                    sample=number,
                )

    def most(self, options: Mapping[str, Any], casts: Mapping[str, Cast]) -> float:
        return len(casts[self.role].models) * int(options["sets"])

    def prompt(self, asked: UnitFacts) -> Prompt:
        return _asking_for_several(VARIED_TASK, asked)

    def read(self, asked: UnitFacts, reply: Any) -> Sequence[Content]:
        return _several(asked, reply)

    def example(self) -> UnitFacts:
        return UnitFacts(EXAMPLE, "temperature-aspen:1", {}, {"questions": 10})


class BaselineQuestions(QuestionStep):
    key, label, role = "baseline_questions", "Questions of the baseline", WRITERS[BASELINE]

    def plan(self, state: QueryState) -> Iterable[Planned]:
        for system, written_by in question_systems(BASELINE, state.models(self.role)).items():
            yield Planned(key=system, about={"approach": BASELINE, "system": system}, model=written_by.model)

    def prompt(self, asked: UnitFacts) -> Prompt:
        return _asking_for_several(BASELINE_TASK, asked)

    def read(self, asked: UnitFacts, reply: Any) -> Sequence[Content]:
        return _several(asked, reply)

    def example(self) -> UnitFacts:
        return UnitFacts(EXAMPLE, "baseline-aspen", {}, {"questions": 10})


def temperatures(options: Mapping[str, Any]) -> list[float]:
    """The temperature of each set: from the lowest to the highest in equal steps."""
    steps = np.linspace(float(options["lowest"]), float(options["highest"]), int(options["sets"]))
    return [round(float(each), 3) for each in steps]


def _asking_for_several(task: str, asked: UnitFacts) -> Prompt:
    number = int(asked.options["questions"])
    return about_material(
        task.format(questions=number), [("Query", asked.query.text)], schema=listed("questions", number)
    )


def _several(asked: UnitFacts, reply: Any) -> list[Content]:
    found = different_texts(reply["questions"], int(asked.options["questions"]), "questions")
    return [{"question": text} for text in found]
