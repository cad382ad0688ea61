"""Clarifying questions that a pipeline takes up: those of `clarifying_questions`, or those that the study has."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.canonical import canonical_hash
from judging.backends.options import Input, JudgeOption
from judging.generation.clarifying.approaches import APPROACHES, best_questions
from judging.generation.numbers import whole_between
from judging.generation.pipeline import KeptProduct, QueryState

SOURCE = "clarifying_questions"
# Where questions are taken from.
BEST, KEPT, RESPONSES, ITEMS = "best", "kept", "responses", "items"
ALL = "all"

QUESTION_OPTIONS = (
    JudgeOption(
        key="questions", label="Questions", input=Input.CHOICE, default=BEST,
        choices={BEST: "the best of each system of the pipeline clarifying_questions",
                 KEPT: "all that this pipeline kept",
                 RESPONSES: "the responses that the study has", ITEMS: "the questions that the study's items ask"},
    ),
    JudgeOption(key="approach", label="Approach", input=Input.CHOICE, default=ALL, choices={ALL: "all", **APPROACHES},
                help="Of the pipeline's questions."),
    JudgeOption(key="given", label="System of the responses", help="Its key. Empty: all."),
    JudgeOption(key="most", label="Questions of a query", input=Input.NUMBER, default=10,
                clean=whole_between(1, 1_000), help="The first so many."),
)  # fmt: skip


@dataclass(frozen=True)
class PosedQuestion:
    """A clarifying question, and the system that asks it, '' where that is not known."""

    text: str
    system: str

    @property
    def key(self) -> str:
        """Tells it from a query's other questions, whichever there are."""
        return canonical_hash([self.system, self.text])[:10]


def runs_needed(options: Mapping[str, Any]) -> tuple[str, ...]:
    return (SOURCE,) if options["questions"] in (BEST, KEPT) else ()


def posed_questions(state: QueryState) -> list[PosedQuestion]:
    """The questions on a query that the run's options choose, each once."""
    posed = dict.fromkeys(each for each in _posed(state) if each.text.strip())
    return list(posed)[: int(state.options["most"])]


def _posed(state: QueryState) -> Iterable[PosedQuestion]:
    chosen = state.options["questions"]
    if chosen in (RESPONSES, ITEMS):
        wanted = state.options["given"]
        given = [each for each in state.query.responses if wanted in ("", each.system) and not each.context]
        if chosen == RESPONSES:
            return [PosedQuestion(each.text, each.system) for each in given]
        sources = state.query.question_sources
        return [
            PosedQuestion(question, sources.get(question, "")) for each in given for question in each.answers
        ]
    made = list(best_questions(state, SOURCE).values())
    if chosen == KEPT:
        made = [*state.products("filtered", SOURCE), *state.products("baseline_questions", SOURCE)]
    return [_of(each) for each in made if state.options["approach"] in (ALL, each.about["approach"])]


def _of(kept: KeptProduct) -> PosedQuestion:
    return PosedQuestion(kept.content["question"], kept.about["system"])
