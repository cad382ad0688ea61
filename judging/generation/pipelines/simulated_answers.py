"""Answers of simulated users to clarifying questions (AGENT-CQ, section 2.1.3 and appendix A.2).

The simulated user knows the query's information need. In the parameterised variant the length of the answer and how
much of the need it gives away are drawn for each answer; the plain one goes without them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, ClassVar

from judging.backends.options import Input, JudgeOption
from judging.generation.clarifying.posed import QUESTION_OPTIONS, SOURCE, posed_questions, runs_needed
from judging.generation.clarifying.writing import text_problems
from judging.generation.pipeline import (
    Cast,
    CastRole,
    Content,
    ContentProblem,
    KeptProduct,
    Making,
    Pipeline,
    PipelineStep,
    PlacedModel,
    Planned,
    Prompt,
    QueryState,
    Record,
    SourceQuery,
    UnitFacts,
    reject,
)
from judging.generation.prompts import about_material
from judging.generation.shapes import KEPT, LONG_TEXT
from judging.generation.systems import (
    MAX_SYSTEM,
    ONE_ARM,
    ModelSystem,
    joined_key,
    model_systems,
    systems_once,
)

PARAMETERISED, PLAIN = "parameterised", "plain"
VARIANTS = {PARAMETERISED: "Parameterised user", PLAIN: "Plain user"}
# Tokens of an answer, both included; and the probability with which the need is revealed.
VERBOSITY = (10, 60)
REVEAL = (0.0, 0.9)
# What is compared in a study.
BETWEEN, GIVEN, BOTH = "variants", "given", "all"

TASK = """\
Play a person who typed a query into a search system. The system does not answer yet but asks a question back; you \
answer it as that person, in their own words. What the person is really after is given: answer from it, and bring in \
nothing that is no part of it. The system does not see it. Do not say that you are a model or that you play a part."""

CHARACTER = """\
This person writes about {verbosity} tokens, and no more than that. The probability with which they disclose what they \
are really after is {reveal:.2f}: at 0 they answer the question and give away nothing else, and the higher it is, the \
more they tell of it."""

BRIEFLY = "Keep the answer short."

SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string", "minLength": 1}},
    "required": ["answer"],
    "additionalProperties": False,
}


def chosen_variants(options: Mapping[str, Any]) -> list[str]:
    return [variant for variant in VARIANTS if options[variant]]


def user_systems(variant: str, models: Iterable[PlacedModel]) -> dict[str, ModelSystem]:
    """The systems that these models are as users of a variant, by their keys."""
    longest = MAX_SYSTEM - len(variant) - 1
    return {f"{variant}-{each.key}": each for each in model_systems(models, longest)}


class UserAnswers(PipelineStep):
    key, label, role = "answers", "Answers", "users"
    fields: ClassVar[Mapping[str, type]] = {"answer": str}
    shapes: ClassVar = {"question": KEPT, "answer": LONG_TEXT}

    def plan(self, state: QueryState) -> Iterable[Planned]:
        if not state.query.information_need.strip():
            return  # there is nothing to answer from
        for posed, variant in product(posed_questions(state), chosen_variants(state.options)):
            for system, user in user_systems(variant, state.models(self.role)).items():
                key = f"{system}:{posed.key}"
                about = {"question": posed.text, "asked_by": posed.system, "posed": posed.key,
                         "variant": variant, "system": system, "writer": user.key}  # fmt: skip
                if variant == PARAMETERISED:
                    about |= _character(state, key)
                yield Planned(key=key, about=about, model=user.model)

    def most(self, options: Mapping[str, Any], casts: Mapping[str, Cast]) -> float:
        return len(casts[self.role].models) * len(chosen_variants(options)) * int(options["most"])

    def prompt(self, asked: UnitFacts) -> Prompt:
        character = CHARACTER.format(**asked.about) if asked.about["variant"] == PARAMETERISED else BRIEFLY
        texts = [
            ("Query", asked.query.text),
            ("What the person is after", asked.query.information_need),
            ("Question of the system", asked.about["question"]),
        ]
        return about_material(f"{TASK}\n\n{character}", texts, schema=SCHEMA)

    def read(self, asked: UnitFacts, reply: Any) -> Sequence[Content]:
        answer = reply["answer"].strip()
        if not answer:
            reject("The answer is empty.")
        return [{"question": asked.about["question"], "answer": answer}]

    def example(self) -> UnitFacts:
        query = SourceQuery(
            key="soup", text="Which soup can I make tonight?",
            information_need="A vegetarian soup for two that needs no shopping.",
        )  # fmt: skip
        about = {"question": "For how many people do you cook?", "variant": PARAMETERISED, "verbosity": 24,
                 "reveal": 0.35}  # fmt: skip
        return UnitFacts(query, "", about, {})

    def problems(self, content: Any) -> list[ContentProblem]:
        return text_problems(content, "answer")


def _character(state: QueryState, key: str) -> Record:
    rng = state.draw("user", key)
    least, most = VERBOSITY
    return {
        "verbosity": int(rng.integers(least, most + 1)),
        "reveal": round(float(rng.uniform(*REVEAL)), 2),
    }


class SimulatedAnswers(Pipeline):
    key, label = "simulated_answers", "Simulated answers"
    about = (
        "Has models answer clarifying questions as a person who knows the query's information need would, at a length "
        "and with an openness drawn for each answer and plainly, and makes pairs of answers."
    )
    roles = (
        CastRole(key="users", label="Simulated users", help="Each is a system in each variant.", most=None,
                 temperature=0.7, max_tokens=200),
    )  # fmt: skip
    options = (
        *QUESTION_OPTIONS,
        JudgeOption(key=PARAMETERISED, label="Parameterised users", input=Input.FLAG, default=True,
                    help="Of each answer the length and the probability of revealing the need are drawn."),
        JudgeOption(key=PLAIN, label="Plain users", input=Input.FLAG, default=True,
                    help="Nothing is drawn."),
    )  # fmt: skip
    making = (
        JudgeOption(key="pairs", label="Pairs", input=Input.CHOICE, default=BETWEEN,
                    choices={BETWEEN: "parameterised and plain users of the same model",
                             GIVEN: "simulated users and the answers that the study has", BOTH: "all of these"}),
        JudgeOption(key="people", label="System of the study's answers", help="Its key. Empty: all."),
    )  # fmt: skip
    steps = (UserAnswers(),)
    takes = (SOURCE,)
    makes = "answer_pairs"

    def needs(self, options: Mapping[str, Any]) -> Sequence[str]:
        return runs_needed(options)

    def problems(self, options: Mapping[str, Any], casts: Mapping[str, Cast]) -> list[str]:
        return [] if chosen_variants(options) else ["Neither parameterised nor plain users are chosen."]

    def header(self, making: Making) -> Record:
        return {
            "spec": {**making.spec, "protocol": self.makes, "arms": [ONE_ARM]},
            "systems": systems_once([*making.systems, *self.systems(making)]),
        }

    def systems(self, making: Making) -> Sequence[Record]:
        return [
            {
                "key": system,
                "label": f"{VARIANTS[variant]} ({user.label})",
                "family": user.family,
                "kind": "model",
            }
            for variant in chosen_variants(making.run_options)
            for system, user in user_systems(variant, making.casts["users"].models).items()
        ]

    def records(self, making: Making, states: Iterable[QueryState]) -> Iterator[Record]:
        for state in states:
            if not state.query.information_need.strip():
                making.left_out["queries without an information need"] += 1
                continue
            answered: dict[str, list[KeptProduct]] = {}
            for each in state.products("answers"):
                answered.setdefault(each.about["posed"], []).append(each)
            if not answered:
                making.left_out["queries without an answer"] += 1
            for posed, answers in answered.items():
                pairs = list(_pairs(making, state, answers))
                if not pairs:
                    making.left_out["questions without a pair of answers"] += 1
                source = answers[0].about["asked_by"]
                for pair, products in pairs:
                    yield {
                        "key": joined_key(state.query.key, posed, *(each["key"] for each in pair)),
                        "arm": ONE_ARM["key"],
                        "query": state.query.record(),
                        "clarifying_question": answers[0].about["question"],
                        **({"clarifying_source": source} if source else {}),
                        "responses": list(pair),
                        "origin": {"item": state.query.key, "products": products},
                    }


def _pairs(
    making: Making, state: QueryState, answers: Sequence[KeptProduct]
) -> Iterator[tuple[tuple[Record, Record], list[int]]]:
    """The pairs of answers to one question, and the products that they are."""
    chosen, people = making.options["pairs"], making.options["people"]
    if chosen in (BETWEEN, BOTH):
        plain = {each.about["writer"]: each for each in answers if each.about["variant"] == PLAIN}
        for each in answers:
            if each.about["variant"] == PARAMETERISED and each.about["writer"] in plain:
                other = plain[each.about["writer"]]
                yield (_response(each), _response(other)), [each.product, other.product]
    if chosen in (GIVEN, BOTH):
        for given in state.query.responses:
            if answers[0].about["question"] in given.answers and people in ("", given.system):
                theirs = {"system": given.system, "key": given.key, "text": given.text, "context": None}
                for each in answers:
                    yield (_response(each), theirs), [each.product]


def _response(kept: KeptProduct) -> Record:
    system, posed = kept.about["system"], kept.about["posed"]
    return {"system": system, "key": f"{system}-{posed}", "text": kept.content["answer"], "context": None}


PIPELINE = SimulatedAnswers()
