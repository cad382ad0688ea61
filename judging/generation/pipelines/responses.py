"""Responses of models to the study's queries, without and with a context: ContextEval's three arms (section 4.1)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, ClassVar

from judging.backends.options import Input, JudgeOption
from judging.generation.pipeline import (
    Cast,
    CastRole,
    Content,
    ContentProblem,
    GivenResponse,
    Making,
    Pipeline,
    PipelineStep,
    PlacedModel,
    Planned,
    ProductText,
    Prompt,
    QueryState,
    Record,
    SourceQuery,
    UnitFacts,
)
from judging.generation.responding import (
    ARMS,
    RESPONSE_SHAPES,
    context_key,
    response_problems,
    response_prompt,
)
from judging.generation.systems import (
    VariantSystem,
    clean_variants,
    joined_key,
    systems_once,
    variant_systems,
)

WITHOUT, WITH = "without", "with"
SETTINGS = {"both": (WITHOUT, WITH), WITHOUT: (WITHOUT,), WITH: (WITH,)}
CHOSEN_ARMS = {
    "all": tuple(ARMS),
    "without": ("NoCtxGen-NoCtxEval",),
    "judging": ("NoCtxGen-NoCtxEval", "NoCtxGen-CtxEval"),
    "with": ("CtxGen-CtxEval",),
}
MOST_FOLLOW_UPS = 100


def clean_amounts(text: str) -> str:
    """Numbers of follow-up questions, each once and ascending: "10", or "0, 2, 5, 10"."""
    numbers = [number for each in text.split(",") if (number := each.strip())]
    if not numbers or any(not each.isdecimal() or int(each) > MOST_FOLLOW_UPS for each in numbers):
        raise ValueError(f"whole numbers from 0 to {MOST_FOLLOW_UPS} are needed, such as 10, or 2, 5, 10.")
    return ", ".join(map(str, sorted(set(map(int, numbers)))))


def amounts_of(options: Mapping[str, Any]) -> list[int]:
    """The numbers of follow-up questions that are told, ascending; [0] where none ever are."""
    return [int(each) for each in str(options["follow_ups"]).split(",") if int(each)] or [0]


def writing_systems(models: Sequence[PlacedModel], options: Mapping[str, Any]) -> list[VariantSystem]:
    # Runs that began before there were variants have no such option.
    return variant_systems(models, options.get("variants", ()))


def follow_ups_of(state: QueryState) -> list[Record]:
    """The follow-up questions of the query's context, by salience: those that a pipeline made, otherwise those of the
    study's first context."""
    if made := _made_context(state):
        return answered(sorted(made, key=lambda each: each["rank"]))
    return answered(next(iter(state.query.contexts.values()), ()))


def _made_context(state: QueryState) -> list[Content]:
    return [each.content for each in state.products("answers", "contexts")]


def _context_source(state: QueryState) -> str:
    """The model that wrote the context of `follow_ups_of`, or what the study says of its own; '' where nothing does."""
    if made := _made_context(state):
        return str(made[0].get("generator", ""))
    return next(iter(state.query.context_sources.values()), "")


def answered(follow_ups: Iterable[Mapping[str, Any]]) -> list[Record]:
    """Those with an answer: without one there is nothing to respond to."""
    return [
        {"question": each["question"], "answers": list(each.get("answers", [])), "answer": each["answer"]}
        for each in follow_ups
        if each.get("answer") and each.get("question")
    ]


def given_responses(state: QueryState, told: Sequence[Record]) -> list[GivenResponse]:
    """The study's own responses to the query that were written with just this context, or with none."""
    contexts = state.query.contexts
    return [
        each
        for each in state.query.responses
        if (answered(contexts.get(each.context, ())) if each.context else []) == list(told)
    ]


def _told_as(told: Sequence[Record]) -> str:
    return f"first-{len(told)}" if told else WITHOUT


class Writing(PipelineStep):
    key, label, role = "responses", "Responses", "writers"
    fields: ClassVar[Mapping[str, type]] = {"system": str, "text": str}
    shapes = RESPONSE_SHAPES

    def plan(self, state: QueryState) -> Iterable[Planned]:
        found = follow_ups_of(state)
        if state.options["queries"] == "with_context" and not found:
            return
        settings = SETTINGS[str(state.options["settings"])]
        counts = {0} if WITHOUT in settings else set()
        if WITH in settings:
            counts |= {min(amount, len(found)) for amount in amounts_of(state.options)} - {0}
        for count in sorted(counts):
            told = found[:count]
            given = {each.system for each in given_responses(state, told)}
            for system in writing_systems(state.models(self.role), state.options):
                if system.key not in given:
                    about: dict[str, Any] = {"system": system.key, "follow_ups": told}
                    if system.instruction:
                        about["instruction"] = system.instruction
                    yield Planned(key=f"{system.key}:{_told_as(told)}", about=about, model=system.model)

    def most(self, options: Mapping[str, Any], casts: Mapping[str, Cast]) -> float:
        settings = SETTINGS[str(options["settings"])]
        written = (WITHOUT in settings) + (WITH in settings) * len(amounts_of(options))
        return len(writing_systems(casts[self.role].models, options)) * written

    def prompt(self, asked: UnitFacts) -> Prompt:
        return response_prompt(asked.query, asked.about["follow_ups"], asked.about.get("instruction", ""))

    def read(self, asked: UnitFacts, reply: Any) -> Sequence[Content]:
        return [{"system": asked.about["system"], "text": reply}]

    def shown(self, content: Content) -> ProductText:
        return ProductText(content["text"], [("system", content["system"])])

    def problems(self, content: Any) -> list[ContentProblem]:
        return response_problems(content)

    def example(self) -> UnitFacts:
        query = SourceQuery(key="soup", text="Which soup can I make tonight?")
        follow_up = {"question": "For how many people?", "answers": ["One", "Two"], "answer": "Two"}
        return UnitFacts(query, "aspen:first-1", {"system": "aspen", "follow_ups": [follow_up]}, {})


class Responses(Pipeline):
    key, label = "responses", "Responses"
    about = (
        "Has models answer the queries, without and with the context that pipelines or files gave them, and makes "
        "pairs of them and of the study's own responses, in the arms of ContextEval."
    )
    roles = (
        CastRole(key="writers", label="Systems", help="Each is a system of the study.", most=None, temperature=0.7,
             max_tokens=1_500),
    )  # fmt: skip
    options = (
        JudgeOption(
            key="variants", label="Prompt variants", input=Input.LINES, default=[], clean=clean_variants,
            help="A line each, NAME: INSTRUCTION. Every model answers under each of them, as a system of its own; a "
            "name alone asks as without variants.",
        ),
        JudgeOption(
            key="settings", label="Responses are written", input=Input.CHOICE, default="both",
            choices={"both": "without the context, and with it", WITHOUT: "without the context",
                     WITH: "with the context"},
        ),
        JudgeOption(
            key="follow_ups", label="Follow-up questions in a context", default="10", clean=clean_amounts,
            help="The first so many, by salience. Several numbers, such as 2, 5, 10, make an arm of each.",
        ),
        JudgeOption(
            key="queries", label="Queries", input=Input.CHOICE, default="all",
            choices={"all": "all", "with_context": "those that have a context"},
        ),
    )  # fmt: skip
    making = (
        JudgeOption(
            key="arms", label="Arms", input=Input.CHOICE, default="all",
            choices={"all": "all three", "without": "no context", "judging": "context shown or not",
                     "with": "context throughout"},
        ),
        JudgeOption(
            key="baseline", label="Baseline system",
            help="Its key: every pair has one response of it. Empty: all pairs.",
        ),
    )  # fmt: skip
    steps = (Writing(),)
    takes = ("contexts",)
    makes = "pairwise"

    def header(self, making: Making) -> Record:
        baseline = {"baseline": making.options["baseline"]} if making.options["baseline"] else {}
        arms = [arm for arm, _ in _arms(making)]
        return {
            "spec": {**making.spec, "protocol": "pairwise", "arms": arms, **baseline},
            "systems": systems_once([*making.systems, *self.systems(making)]),
        }

    def systems(self, making: Making) -> Sequence[Record]:
        systems = writing_systems(making.casts["writers"].models, making.run_options)
        return [each.record() for each in systems]

    def arms_of(self, making: Making, state: QueryState) -> Sequence[str]:
        found = follow_ups_of(state)
        return [
            arm["key"] for arm, amount in _arms(making) if found[:amount] or not arm["context_at_judging"]
        ]

    def records(self, making: Making, states: Iterable[QueryState]) -> Iterator[Record]:
        arms = _arms(making)
        for state in states:
            found = follow_ups_of(state)
            for arm, amount in arms:
                yield from _pairs(making, state, arm, found[:amount])


def _arms(making: Making) -> list[tuple[Record, int]]:
    """The arms of the study, each with how many follow-up questions it tells or shows at most."""
    amounts = amounts_of(making.run_options)
    arms = []
    for key in CHOSEN_ARMS[str(making.options["arms"])]:
        facts = ARMS[key]
        if not facts["context_at_judging"]:
            arms.append(({"key": key, **facts}, 0))
        elif len(amounts) == 1:
            arms.append(({"key": key, **facts}, amounts[0]))
        else:
            arms += [
                ({"key": f"{key}-{amount}", **facts, "label": f"{facts['label']}, first {amount}"}, amount)
                for amount in amounts
            ]
    return arms


def _pairs(making: Making, state: QueryState, arm: Record, told: list[Record]) -> Iterator[Record]:
    """Every pair of one query in one arm, or with the baseline."""
    if arm["context_at_judging"] and not told:
        making.left_out[f"queries without a context in {arm['key']}"] += 1
        return
    context = {"key": context_key(told), "follow_ups": told} if told else None
    if context and (source := _context_source(state)):
        context["source"] = source
    given = context["key"] if context and arm["context_at_generation"] else None
    by_system, made_by = _by_system(state, told if given else [])
    baseline = making.options["baseline"]
    pairs = [pair for pair in combinations(sorted(by_system), 2) if not baseline or baseline in pair]
    if not pairs:
        making.left_out[f"queries without two responses in {arm['key']}"] += 1
    for pair in pairs:
        yield {
            "key": joined_key(state.query.key, arm["key"], *pair),
            "arm": arm["key"],
            "query": state.query.record(),
            **({"context": context} if context else {}),
            "responses": [{**by_system[system], "context": given} for system in pair],
            "origin": {
                "item": state.query.key,
                "products": [made_by[system] for system in pair if system in made_by],
            },
        }


def _by_system(state: QueryState, told: list[Record]) -> tuple[dict[str, Record], dict[str, int]]:
    """By system, the responses with this context, or with none: those of the study, and those that were generated;
    and the products that the latter are."""
    found = {
        each.system: {"system": each.system, "key": each.key, "text": each.text}
        for each in given_responses(state, told)
    }
    made_by: dict[str, int] = {}
    for kept in state.products("responses"):
        if kept.about.get("follow_ups", []) == told:
            system = kept.content["system"]
            made_by[system] = kept.product
            found[system] = {
                "system": system,
                "key": joined_key(system, _told_as(told)),
                "text": kept.content["text"],
            }
    return found, made_by


PIPELINE = Responses()
