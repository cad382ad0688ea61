"""Categories of clarifying questions: pattern, purpose and expected response type (AGENT-CQ, section 4.1 and D.1).

The codes are data: `data/question_codes.json`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from judging.generation.clarifying.posed import QUESTION_OPTIONS, SOURCE, posed_questions, runs_needed
from judging.generation.pipeline import (
    Cast,
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
from judging.generation.shapes import KEPT, choice_of

CODES: Mapping[str, Mapping[str, str]] = json.loads(
    (Path(__file__).parents[1] / "data" / "question_codes.json").read_text("utf-8")
)
# By what a code says of a question, the codes to choose from.
CODED = {"pattern": "patterns", "purpose": "purposes", "response_type": "response_types"}

TASK = """\
Somebody typed a query into a search system, and the system asks a question back. Choose a code of each list for that \
question.

pattern, the words it is asked in; where several hold, the one that the main question begins with:

{patterns}

purpose, why it is asked, seen from this query:

{purposes}

response_type, the answer that it calls for:

{response_types}"""

SCHEMA = {
    "type": "object",
    "properties": {name: {"enum": list(CODES[codes])} for name, codes in CODED.items()},
    "required": list(CODED),
    "additionalProperties": False,
}


class Categories(PipelineStep):
    key, label, role = "categories", "Categories", "classifier"
    fields: ClassVar[Mapping[str, type]] = {"question": str, "system": str, **dict.fromkeys(CODED, str)}
    shapes: ClassVar = {
        **dict.fromkeys(("question", "system"), KEPT),
        **{name: choice_of(list(CODES[codes])) for name, codes in CODED.items()},
    }

    def plan(self, state: QueryState) -> Iterable[Planned]:
        [model] = state.models(self.role)
        for posed in posed_questions(state):
            about = {"question": posed.text, "system": posed.system}
            yield Planned(key=posed.key, about=about, model=model)

    def most(self, options: Mapping[str, Any], casts: Mapping[str, Cast]) -> float:
        return int(options["most"])

    def prompt(self, asked: UnitFacts) -> Prompt:
        lists = {
            name: "\n".join(f"- {code}: {meaning}" for code, meaning in codes.items())
            for name, codes in CODES.items()
        }
        texts = [("Query", asked.query.text), ("Question", asked.about["question"])]
        return about_material(TASK.format(**lists), texts, schema=SCHEMA)

    def read(self, asked: UnitFacts, reply: Any) -> Sequence[Content]:
        return [{"question": asked.about["question"], "system": asked.about["system"], **reply}]

    def example(self) -> UnitFacts:
        query = SourceQuery(key="soup", text="Which soup can I make tonight?")
        return UnitFacts(
            query, "", {"question": "Do you cook for yourself, or for guests?", "system": ""}, {}
        )

    def problems(self, content: Any) -> list[ContentProblem]:
        if not isinstance(content, dict):
            return [ContentProblem("A product is a JSON object.")]
        return [
            ContentProblem(f"{name}: {content.get(name)!r} is none of {', '.join(CODES[codes])}.", name)
            for name, codes in CODED.items()
            if content.get(name) not in CODES[codes]
        ]


class QuestionCategories(Pipeline):
    key, label = "question_categories", "Categories of questions"
    about = "Sorts clarifying questions by their pattern, their purpose and the response that they call for."
    roles = (CastRole(key="classifier", label="Classifier", max_tokens=200),)
    options = QUESTION_OPTIONS
    steps = (Categories(),)
    takes = (SOURCE,)

    def needs(self, options: Mapping[str, Any]) -> Sequence[str]:
        return runs_needed(options)


PIPELINE = QuestionCategories()
