"""Constraint counting: how many of the answers to a context's follow-up questions a response takes into account.

ContextEval, Table 13, asks for the number of all of them; here it may also be each by itself. The context is shown
whether or not people in the item's arm see it.
"""

from dataclasses import replace
from typing import Any

from evaluation.protocols import Protocol
from evaluation.protocols.answers.measures import Measure, Subject
from evaluation.protocols.base import Spec, Stimulus
from judging.asking.scores.response_asking import ResponseAsking, ScoreTask, Values, alone
from judging.backends.base import Unmeasurable
from judging.prompting.cells import AnswerCell
from judging.prompting.item_call import ItemCall
from judging.prompting.material import material_of, remarked
from judging.prompting.settings import Settings
from judging.prompting.texts import context_block, fence, query_block
from judging.prompting.view import view_of

INTRODUCTION = """\
You check a response to a query against what is known of the person who asked. They were asked follow-up questions, \
and each of their answers is something that the response should take into account."""

RULES = """\
# What counts

- An answer is taken into account if the response fits it as a whole: someone who gave this answer would find it \
heeded in what the response says, in how it says it, or in what it leaves out.
- A response may fit an answer without naming it. To name its topic is not enough.
- An answer that is only partly heeded, overlooked or contradicted does not count.
- Nothing else matters here: a response may heed every answer and be wrong, or be excellent and heed none."""

COUNT = """\
# Question

satisfied: How many of the {n} follow-up questions have an answer that the response takes into account?
Answer with a number from 0 to {n}."""

EACH = """\
# Question

For each follow-up question, by its number: does the response take the answer into account?
Answer yes or no."""

HEADING = "What {asker} answered to follow-up questions:"
SATISFIED = ("satisfied",)


class ConstraintAsking(ResponseAsking):
    """Counts them in one number per response, or says yes or no to each."""

    key = "constraints"

    def steps(
        self, protocol: Protocol, spec: Spec, stimulus: Stimulus, settings: Settings
    ) -> tuple[str, ...]:
        """A call per response, and none where there is nothing to count."""
        return super().steps(protocol, spec, stimulus, settings) if answered_follow_ups(stimulus) else ()

    def task(self, call: ItemCall) -> ScoreTask:
        follow_ups = answered_follow_ups(call.stimulus)
        if not follow_ups:
            raise Unmeasurable("The item has no context with answers: there is nothing to count.")
        shown = alone(call.stimulus, call.step)
        material = material_of(call.protocol, call.spec, shown, call.settings, view_of(shown, call.step))
        lines = tuple((("Question", each["question"]), ("Answer", each["answer"])) for each in follow_ups)
        material = remarked(replace(material, follow_ups_are=HEADING, follow_ups=lines))
        each = call.settings.options["per"] == "question"
        cells = (
            [
                AnswerCell((f"follow_up_{number}",), f"{follow_up['part']}.{call.step}", {"yes": 1, "no": 0})
                for number, follow_up in enumerate(follow_ups, 1)
            ]
            if each
            else [AnswerCell(SATISFIED, call.step, {str(n): n for n in range(len(follow_ups) + 1)})]
        )
        return ScoreTask(
            introduction=INTRODUCTION,
            task=f"{RULES}\n\n{EACH if each else COUNT.format(n=len(follow_ups))}",
            blocks=(
                query_block(material),
                context_block(material),
                fence("Response", material.responses[0], material.mark),
            ),
            mark=material.mark,
            cells=cells,
        )

    def data(self, call: ItemCall, values: Values) -> dict[str, Any]:
        per, follow_ups = call.settings.options["per"], answered_follow_ups(call.stimulus)
        [measure] = self.measures(call.settings)
        if per == "question":
            each = {
                f"{follow_up['part']}.{call.step}": values[f"follow_up_{number}",]
                for number, follow_up in enumerate(follow_ups, 1)
            }
            return {measure.key: each}
        number = values[SATISFIED]
        return {measure.key: {call.step: number / len(follow_ups) if per == "share" else number}}

    def measures(self, settings: Settings) -> tuple[Measure, ...]:
        name = settings.options["measure"]
        match settings.options["per"]:
            case "question":
                subject = Subject.FOLLOW_UP_RESPONSE
                return (Measure(name, "Answer taken into account", subject, low=0, high=1),)
            case "count":
                return (Measure(name, "Follow-up answers taken into account", low=0),)
        return (Measure(name, "Share of follow-up answers taken into account", low=0, high=1),)


def answered_follow_ups(stimulus: Stimulus) -> list[Any]:
    """The follow-up questions of an item's context whose answer is known."""
    context = stimulus["context"]
    return [each for each in context["follow_ups"] if each["answer"].strip()] if context else []


CONSTRAINTS = ConstraintAsking()
