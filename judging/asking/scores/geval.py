"""G-Eval style scores: criteria, evaluation steps that were written once, and the mean over the labels' probabilities.

After Liu et al. (2023), which CondAmbigQA section 4.1 and its appendix D build on. Where the scores are single digits
and the model gives log-probabilities, the score is the expected value of the digits, by their probabilities divided by
their sum; where they have less than half of the probability together, the reply is unparsed (`judging.parsing.labels`).
Otherwise it is the score that the reply says.
"""

from collections.abc import Sequence
from typing import Any

from evaluation.protocols import Kind, Over, QuestionSpec
from evaluation.protocols.answers.measures import Measure
from evaluation.protocols.base import Spec
from judging.asking.scores.response_asking import ResponseAsking, ScoreTask, Values, alone
from judging.backends.scores.criteria import CRITERIA, OWN, RANGES
from judging.prompting.cells import AnswerCell
from judging.prompting.item_call import ItemCall
from judging.prompting.material import material_of
from judging.prompting.replies import capabilities_of
from judging.prompting.settings import CannotAsk, Settings
from judging.prompting.texts import context_block, documents_block, fence, query_block, reference_block
from judging.prompting.view import view_of
from judging.prompting.wording import listed, point_text, value_lines

INTRODUCTION = """\
You score responses that were written to queries, one at a time. Judge each by itself, and by the criteria below \
alone."""

ENDS = "{low} is the worst score and {high} the best."
SCORE = ("score",)


class GEvalAsking(ResponseAsking):
    """Scores each response by criteria and steps, for a measure or for one of the study's own scales."""

    key = "geval"

    def task(self, call: ItemCall) -> ScoreTask:
        steps = call.settings.options["steps"]
        if not steps:
            raise CannotAsk("The judge has no evaluation steps yet.")
        shown = alone(call.stimulus, call.step)
        material = material_of(call.protocol, call.spec, shown, call.settings, view_of(shown, call.step))
        question = answered_question(call.spec, call.settings)
        scores = scores_of(question, call.settings)
        able = capabilities_of(call.capabilities, call.settings.model)
        numbered = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
        sections = [
            f"# Criteria\n\n{criteria_of(call.settings)}",
            f"# Steps\n\n{numbered}",
            f"# Score\n\n{_scoring(question, scores)}",
        ]
        return ScoreTask(
            introduction=INTRODUCTION,
            task="\n\n".join(sections),
            blocks=(
                query_block(material),
                documents_block(material),
                context_block(material),
                reference_block(material),
                fence("Response", material.responses[0], material.mark),
            ),
            mark=material.mark,
            cells=[AnswerCell(SCORE, call.step, {text: float(text) for text in scores})],
            as_labels=reads_labels(scores, call.settings) and bool(able.get("logprobs")),
        )

    def data(self, call: ItemCall, values: Values) -> dict[str, Any]:
        value = values[SCORE]
        if isinstance(value, dict):  # the probability of each score
            value = sum(score * probability for score, probability in value.items())
            ends = [
                float(text) for text in scores_of(answered_question(call.spec, call.settings), call.settings)
            ]
            value = min(max(value, min(ends)), max(ends))
        measures = self.measures(call.settings)
        key = measures[0].key if measures else call.settings.questions[0]
        return {key: {call.step: value}}

    def measures(self, settings: Settings) -> tuple[Measure, ...]:
        if settings.questions:
            return ()
        options = settings.options
        scores = [float(text) for text in RANGES[options["range"]]]
        own = options["criterion"] == OWN
        label = "G-Eval score" if own else f"G-Eval score of {CRITERIA[options['criterion']][0]}"
        return (Measure(options["measure"], label, low=min(scores), high=max(scores)),)

    def questions(self, spec: Spec, settings: Settings) -> list[str]:
        return list(settings.questions)

    def problems(self, protocol: Any, spec: Spec, settings: Settings) -> list[str]:
        problems = super().problems(protocol, spec, settings)
        if settings.options.get("criterion") == OWN and not settings.options.get("criteria"):
            problems.append("Criteria of your own are chosen, and none are entered.")
        return problems

    def question_problems(self, spec: Spec, settings: Settings) -> list[str]:
        question = answered_question(spec, settings)
        if question is None or len(settings.questions) > 1:
            return [
                "A judge of this kind answers one question of the study, a scale over the responses, or none."
            ]
        return []


def answered_question(spec: Spec, settings: Settings) -> QuestionSpec | None:
    """The study's question that is answered in place of a measure."""
    found = [QuestionSpec.from_json(each) for each in spec["questions"] if each["key"] in settings.questions]
    scales = [each for each in found if each.kind == Kind.SCALE and each.over == Over.RESPONSE]
    return scales[0] if scales else None


def criteria_of(settings: Settings) -> str:
    options = settings.options
    return str(options["criteria"] if options["criterion"] == OWN else CRITERIA[options["criterion"]][1])


def scores_of(question: QuestionSpec | None, settings: Settings) -> Sequence[str]:
    """The scores that can be given, as they are said."""
    return (
        RANGES[settings.options["range"]]
        if question is None
        else [point_text(each) for each in question.points]
    )


def reads_labels(scores: Sequence[str], settings: Settings) -> bool:
    """True if the score is to come from the probabilities of its labels, each a single digit."""
    return settings.options["score"] == "expected" and all(len(text) == 1 for text in scores)


def _scoring(question: QuestionSpec | None, scores: Sequence[str]) -> str:
    how = f"Go through the steps in turn. Then give the response one score: {listed(scores)}."
    if question is None:
        return f"{how} {ENDS.format(low=scores[0], high=scores[-1])}"
    asked = "\n".join(text for text in (question.prompt, question.help) if text)
    return "\n".join([asked, how, *value_lines(question, scores)])


GEVAL = GEvalAsking()
