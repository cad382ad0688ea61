"""The steps that score clarifying questions and keep the best (AGENT-CQ, section 2.1.2 and equation 2)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from evaluation.canonical import canonical_hash
from judging.generation.clarifying.approaches import FACET, VARIED, WRITERS, same_text
from judging.generation.clarifying.writing import EXAMPLE, QuestionStep
from judging.generation.pipeline import (
    Cast,
    Content,
    ContentProblem,
    KeptProduct,
    Planned,
    Prompt,
    QueryState,
    UnitFacts,
)
from judging.generation.prompts import about_material
from judging.generation.shapes import LONG_TEXT, NUMBER, WHOLE_NUMBER

SCALE = 10
ASPECTS = ("relevance", "clarification")

TASK = f"""\
Somebody typed a query into a search system, which could ask the given question back before it answers. Score the \
question from 0 to {SCALE} on two aspects, each by itself:

- relevance: is it about what the query is about? 0: about something else; {SCALE}: entirely about it.
- clarification: would the answer make clearer what the person is after? 0: not at all, or it is no clarifying \
question; {SCALE}: very much.

Give your reason in a sentence."""

SCHEMA = {
    "type": "object",
    "properties": {
        "reason": {"type": "string"},
        **{aspect: {"type": "number", "minimum": 0, "maximum": SCALE} for aspect in ASPECTS},
    },
    "required": ["reason", *ASPECTS],
    "additionalProperties": False,
}


def question_score(relevance: float, clarification: float, alpha: float) -> float:
    """S = alpha R + (1 - alpha) L."""
    return round(alpha * relevance + (1 - alpha) * clarification, 6)


class Scores(QuestionStep):
    key, label, role = "scores", "Scores", "scorer"
    fields: ClassVar[Mapping[str, type]] = {"question": str, **dict.fromkeys(ASPECTS, float)}
    shapes: ClassVar = {**dict.fromkeys(ASPECTS, NUMBER), "reason": LONG_TEXT}

    def plan(self, state: QueryState) -> Iterable[Planned]:
        [model] = state.models(self.role)
        seen = set()
        for each in [*state.products("facet_questions"), *state.products("varied_questions")]:
            system, question = each.about["system"], each.content["question"]
            key = f"{system}:{canonical_hash(same_text(question))[:10]}"
            if key not in seen:  # a question that came twice is scored once
                seen.add(key)
                about = {"approach": each.about["approach"], "system": system, "question": question}
                yield Planned(key=key, about=about, model=model)

    def most(self, options: Mapping[str, Any], casts: Mapping[str, Cast]) -> float:
        varied = int(options["sets"]) * int(options["questions"])
        return (
            len(casts[WRITERS[FACET]].models) * int(options["facets"])
            + len(casts[WRITERS[VARIED]].models) * varied
        )

    def prompt(self, asked: UnitFacts) -> Prompt:
        texts = [("Query", asked.query.text), ("Question", asked.about["question"])]
        return about_material(TASK, texts, schema=SCHEMA)

    def read(self, asked: UnitFacts, reply: Any) -> Sequence[Content]:
        return [{"question": asked.about["question"], **{aspect: reply[aspect] for aspect in ASPECTS},
                 "reason": reply["reason"]}]  # fmt: skip

    def example(self) -> UnitFacts:
        return UnitFacts(EXAMPLE, "", {"question": "For how many people do you cook?"}, {})

    def problems(self, content: Any) -> list[ContentProblem]:
        if problems := super().problems(content):
            return problems
        return [
            ContentProblem(f'"{aspect}" must be a number from 0 to {SCALE}.', aspect)
            for aspect in ASPECTS
            if not _is_score(content.get(aspect))
        ]


class Filtered(QuestionStep):
    key, label = "filtered", "Filtered questions"
    fields: ClassVar[Mapping[str, type]] = {"question": str, "rank": int}
    shapes: ClassVar = {**dict.fromkeys(("score", *ASPECTS), NUMBER), "rank": WHOLE_NUMBER}

    def plan(self, state: QueryState) -> Iterable[Planned]:
        by_system: dict[str, list[KeptProduct]] = {}
        for each in state.products("scores"):
            by_system.setdefault(each.about["system"], []).append(each)
        for system, scored in by_system.items():
            yield Planned(
                key=system,
                about={"approach": scored[0].about["approach"], "system": system},
                products=_ranked(scored, float(state.options["alpha"]), int(state.options["kept"])),
            )


def _is_score(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= SCALE


def _ranked(scored: Sequence[KeptProduct], alpha: float, kept: int) -> list[Content]:
    """The best so many, the highest score first; of equal scores the question that was written first."""
    contents = []
    for each in scored:
        relevance, clarification = (each.content[aspect] for aspect in ASPECTS)
        score = question_score(relevance, clarification, alpha)
        contents.append(
            {"question": each.content["question"], "score": score, "relevance": relevance,
             "clarification": clarification}
        )  # fmt: skip
    best = sorted(contents, key=lambda each: -each["score"])[:kept]
    return [{**each, "rank": rank} for rank, each in enumerate(best, 1)]
