"""Clarifying questions by three approaches, scored and filtered: AGENT-CQ's generation (section 2.1, appendix A.1)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from judging.backends.options import Input, JudgeOption
from judging.generation.clarifying.approaches import WRITERS, best_questions, written_systems
from judging.generation.clarifying.filtering import Filtered, Scores
from judging.generation.clarifying.writing import BaselineQuestions, FacetQuestions, Facets, VariedQuestions
from judging.generation.numbers import number_between, whole_between
from judging.generation.pipeline import Cast, CastRole, Making, Pipeline, QueryState, Record
from judging.generation.systems import ONE_ARM, joined_key, systems_once

RANKING, QUALITY = "ranking", "question_quality"


class ClarifyingQuestions(Pipeline):
    key, label = "clarifying_questions", "Clarifying questions"
    about = (
        "Has models write questions that a search system could ask back: from facets of the query, in sets at rising "
        "temperatures, and plainly; scores them, keeps the best, and makes studies in which people put them in order "
        "or rate them."
    )
    roles = (
        CastRole(key="facet_namer", label="Names facets", temperature=0.7, max_tokens=2_000),
        CastRole(key=WRITERS["facet"], label="Write questions by facet", help="Each is a system.", most=None,
                 temperature=0.7, max_tokens=200),
        CastRole(key=WRITERS["temperature"], label="Write sets of questions", most=None, temperature=None,
                 help="Each is a system. Its temperature is that of the set.", max_tokens=1_000),
        CastRole(key=WRITERS["baseline"], label="Write the baseline", help="Each is a system.", most=None,
                 temperature=0.7, max_tokens=1_000),
        CastRole(key="scorer", label="Scores questions", temperature=0.7, max_tokens=300),
    )  # fmt: skip
    options = (
        JudgeOption(key="facets", label="Facets of a query", input=Input.NUMBER, default=40,
                    clean=whole_between(1, 100)),
        JudgeOption(key="sets", label="Sets of questions", input=Input.NUMBER, default=3, clean=whole_between(1, 20),
                    help="Each at a temperature of its own, from the lowest to the highest in equal steps."),
        JudgeOption(key="lowest", label="Lowest temperature", input=Input.NUMBER, default=0.5,
                    clean=number_between(0, 2)),
        JudgeOption(key="highest", label="Highest temperature", input=Input.NUMBER, default=0.9,
                    clean=number_between(0, 2)),
        JudgeOption(key="questions", label="Questions in a set", input=Input.NUMBER, default=10,
                    clean=whole_between(1, 50), help="Of the baseline, too."),
        JudgeOption(key="alpha", label="Weight of relevance", input=Input.NUMBER, default=0.4,
                    clean=number_between(0, 1), help="The rest is that of clarification."),
        JudgeOption(key="kept", label="Questions kept", input=Input.NUMBER, default=10, clean=whole_between(1, 100),
                    help="The best so many of each query and system."),
    )  # fmt: skip
    making = (
        JudgeOption(key="study", label="Study", input=Input.CHOICE, default=RANKING,
                    choices={RANKING: "the systems' best questions are put in order",
                             QUALITY: "each of them is rated by itself"}),
        JudgeOption(key="given", label="System of people's questions", default="human",
                    help="Of its responses to a query one is drawn and stands beside the others. Empty: none."),
    )  # fmt: skip
    steps = (Facets(), FacetQuestions(), VariedQuestions(), BaselineQuestions(), Scores(), Filtered())
    makes = RANKING

    def problems(self, options: Mapping[str, Any], casts: Mapping[str, Cast]) -> list[str]:
        if options["lowest"] > options["highest"]:
            return ["The lowest temperature is higher than the highest."]
        return []

    def header(self, making: Making) -> Record:
        return {
            "spec": {**making.spec, "protocol": making.options["study"], "arms": [ONE_ARM]},
            "systems": systems_once([*making.systems, *self.systems(making)]),
        }

    def systems(self, making: Making) -> Sequence[Record]:
        return written_systems(making.casts)

    def records(self, making: Making, states: Iterable[QueryState]) -> Iterator[Record]:
        alone = making.options["study"] == QUALITY
        for state in states:
            best = best_questions(state)
            responses = [
                {"system": system, "key": system, "text": kept.content["question"], "context": None}
                for system, kept in best.items()
            ]
            responses += _given(state, str(making.options["given"]))
            if len(responses) < (1 if alone else 2):
                making.left_out[
                    "queries without a question" if alone else "queries without two questions"
                ] += 1
                continue
            for shown in [[each] for each in responses] if alone else [responses]:
                made = [best[each["system"]].product for each in shown if each["system"] in best]
                yield {
                    "key": joined_key(state.query.key, *([shown[0]["system"]] if alone else [])),
                    "arm": ONE_ARM["key"],
                    "query": state.query.record(),
                    "responses": shown,
                    "origin": {"item": state.query.key, "products": made},
                }


def _given(state: QueryState, system: str) -> list[Record]:
    """One of the questions that the query has by this system, drawn; none if there is none."""
    theirs = [each for each in state.query.responses if each.system == system and not each.context]
    if not theirs:
        return []
    drawn = theirs[int(state.draw("given", system).integers(len(theirs)))]
    return [{"system": system, "key": drawn.key, "text": drawn.text, "context": None}]


PIPELINE = ClarifyingQuestions()
