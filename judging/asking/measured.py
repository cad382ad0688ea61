"""Askings whose replies are numbers of texts: of the study's questions they answer what follows from the numbers."""

from collections.abc import Mapping
from typing import Any

from evaluation.protocols import AnswersInvalid, QuestionSpec
from evaluation.protocols.answers.measures import Measure, clean_answers
from evaluation.protocols.base import Spec
from judging.backends.base import Unmeasurable
from judging.backends.measured import fits_scale, is_comparison, verdict_by_measure
from judging.parsing.rejection import ReplyRejected
from judging.parsing.reply import Reading
from judging.prompting.item_call import ItemCall
from judging.prompting.settings import Settings

# Settings of a text that is written.
WRITTEN = {
    "template": "a prompt of its own",
    "rationale": "a rationale",
    "verdict": "a verdict from log-probabilities",
    "one_call_per_question": "one call per question",
}
DEFAULTS = Settings(model="")


def answers(question: QuestionSpec, measure: Measure, settings: Settings) -> bool:
    """True if a judge of these settings answers the question by this measure."""
    if settings.questions and question.key not in settings.questions:
        return False
    return is_comparison(question) or (bool(settings.questions) and fits_scale(question, measure))


def answered_questions(spec: Spec, measure: Measure, settings: Settings) -> list[QuestionSpec]:
    questions = [QuestionSpec.from_json(each) for each in spec["questions"]]
    return [question for question in questions if answers(question, measure, settings)]


def measured_problems(
    spec: Spec, measure: Measure, settings: Settings, own_parameters: frozenset[str]
) -> list[str]:
    """Reasons why a judge of such settings can't judge a study of this spec, a sentence each."""
    answered = {question.key for question in answered_questions(spec, measure, settings)}
    problems = [
        f"The question {key!r} can't be answered by a number of each response: it is no preference, ranking or scale "
        "that fits, or the study has none of that key."
        for key in settings.questions
        if key not in answered
    ]
    problems += [
        f"{name} can't be among the further parameters."
        for name in sorted(own_parameters & settings.extra.keys())
    ]
    problems += [
        f"This judge's model writes nothing, so it can't have {words}."
        for name, words in WRITTEN.items()
        if getattr(settings, name) != getattr(DEFAULTS, name)
    ]
    return problems


def compares(call: ItemCall, measure: Measure) -> bool:
    """True if a question that the item's arm asks is answered by comparing all responses."""
    return any(
        is_comparison(question) and answers(question, measure, call.settings)
        for question in call.protocol.questions(call.spec, call.stimulus)
    )


def measured_data(call: ItemCall, measure: Measure, numbers: Mapping[str, float]) -> dict[str, Any]:
    """The content of a judgment: the numbers by part, and the answers that follow from them; ReplyRejected where
    none do."""
    margin = call.settings.options.get("margin", 0.0)
    data: dict[str, Any] = {measure.key: dict(numbers)}
    for question in call.protocol.questions(call.spec, call.stimulus):
        if answers(question, measure, call.settings):
            try:
                verdict = verdict_by_measure(
                    question, call.stimulus, measure, numbers, call.draws, margin=margin
                )
            except Unmeasurable as reason:
                raise ReplyRejected("unparsed", str(reason)) from None
            if verdict is not None:
                data[question.key] = verdict
    return data


def measured_reading(call: ItemCall, measure: Measure, data: Mapping[str, Any]) -> Reading:
    """The answers that such content makes; ReplyRejected where they are none."""
    try:
        found = clean_answers(call.protocol, call.spec, [measure], call.stimulus, data, source="judge")
    except AnswersInvalid as invalid:
        raise ReplyRejected("unparsed", str(invalid)) from None
    return Reading(dict(data), found)
