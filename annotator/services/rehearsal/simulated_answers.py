"""A simulated participant's form for one item: a plausible judgment, or the expected one where the item has gold."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from annotator.services.rehearsal.manners import Habits
from evaluation.demo.answer_draws import SimulatedJudgment
from evaluation.demo.plausible import plausible_parameters
from evaluation.forms.input.recorded_answers import answers_as_data
from evaluation.models import Item
from evaluation.protocols import AnswersInvalid, Kind, Protocol, QuestionSpec
from evaluation.protocols.answers.gold import accepted_values
from evaluation.protocols.base import Over, Spec
from evaluation.refusals import Refused

ATTEMPTS = 5


def simulated_form(
    protocol: Protocol, spec: Spec, item: Item, habits: Habits, lean: float, rng: np.random.Generator
) -> dict[str, Any]:
    """The form's data as a browser would send it. Refused if no answer can be made up that the study would take."""
    stimulus: dict[str, Any] = item.stimulus or {}
    questions = protocol.questions(spec, stimulus)
    parameters = plausible_parameters(questions, item.key, stimulus, spec["seed"], habits.noise)
    follows_gold = item.gold is not None and rng.random() < habits.gold
    wrong: AnswersInvalid | None = None
    for _ in range(ATTEMPTS):
        data = SimulatedJudgment(item.key, stimulus, parameters, rng, lean).answer(questions)
        if follows_gold:
            data = _with_gold(questions, data, item.gold or {})
        try:
            answers = protocol.clean(spec, stimulus, data, source="import")
            form = answers_as_data(questions, answers)
            protocol.clean(spec, stimulus, form, source="form")
        except AnswersInvalid as invalid:
            wrong = invalid
            continue
        return form
    raise Refused(f"No simulated answers to item {item.key} can be made up: {wrong}.")


def _with_gold(
    questions: list[QuestionSpec], data: dict[str, Any], gold: Mapping[str, Any]
) -> dict[str, Any]:
    by_key = {question.key: question for question in questions}
    for (key, part), accepted in accepted_values(gold).items():
        question = by_key.get(key)
        if question is None or not accepted or question.kind == Kind.ENTRIES:
            continue
        value = _value(question, accepted[0])
        if question.over == Over.ITEM:
            data[key] = value
        elif question.kind == Kind.RANKING:
            data[key] = _ranked(data[key], part, int(value))
        else:
            data[key] = {**data.get(key, {}), part: value}
    return data


def _value(question: QuestionSpec, accepted: str) -> Any:
    if question.kind in (Kind.SCALE, Kind.RANKING):
        return float(accepted)
    if question.kind == Kind.CHECKLIST:
        return int(accepted)
    if question.grades and accepted in ("r1", "r2"):
        return {"number": question.grades[0] if accepted == "r1" else question.grades[-1]}
    return {"number": float(accepted if accepted != "tie" else 0)} if question.grades else accepted


def _ranked(ranks: Mapping[str, int], part: str, rank: int) -> dict[str, int]:
    """The order with one response in that place."""
    order = [each for each in sorted(ranks, key=lambda each: ranks[each]) if each != part]
    order.insert(rank - 1, part)
    return {each: place for place, each in enumerate(order, 1)}
