"""Scores asked of one response at a time: what all such ways of asking have in common."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.protocols import Kind, Over, Protocol, QuestionSpec
from evaluation.protocols.answers.measures import Measure
from evaluation.protocols.base import Spec, Stimulus
from judging.backends.base import Reply, Request
from judging.parsing.answers import read_cells
from judging.parsing.labels import read_masses
from judging.parsing.rejection import require_answer
from judging.parsing.reply import Reading
from judging.prompting.cells import AnswerCell
from judging.prompting.expected_reply import ExpectedReply, expected_label, expected_values
from judging.prompting.item_call import ItemCall, joined_by_part
from judging.prompting.replies import capabilities_of, label_form, reply_schema, values_form
from judging.prompting.request import messages_of, parameters_of
from judging.prompting.settings import OWN_PARAMETERS, Settings
from judging.prompting.texts import MARKED, MATERIAL
from judging.prompting.view import view_of

REASONS_TOKENS, TOKENS_PER_VALUE = 400, 16
# What the reply is to say, from its path on.
Values = Mapping[tuple[str, ...], Any]


@dataclass(frozen=True, kw_only=True)
class ScoreTask:
    """One call: what to do, the texts that it is about between lines with their mark, and the values wanted."""

    introduction: str
    task: str
    blocks: Sequence[str]
    mark: str
    cells: Sequence[AnswerCell]
    # The reply is one of the first cell's choices alone, whose log-probabilities are wanted.
    as_labels: bool = False

    def room(self, settings: Settings) -> int:
        """Tokens for the reply: those of the settings, and more where very many values are wanted."""
        if len(self.cells) == 1:
            return settings.max_tokens
        return max(settings.max_tokens, REASONS_TOKENS + TOKENS_PER_VALUE * len(self.cells))


class ResponseAsking(ABC):
    """See `judging.asking.base.Asking`. A step is the part of a response."""

    key: str

    @abstractmethod
    def task(self, call: ItemCall) -> ScoreTask:
        """The task of a call; Unmeasurable where its response has nothing to be asked about."""

    @abstractmethod
    def data(self, call: ItemCall, values: Values) -> dict[str, Any]:
        """The content of a judgment's step, from the values of a reply; or, of labels, their probabilities."""

    @abstractmethod
    def measures(self, settings: Settings) -> tuple[Measure, ...]: ...

    def questions(self, spec: Spec, settings: Settings) -> list[str]:
        return []

    def problems(self, protocol: Protocol, spec: Spec, settings: Settings) -> list[str]:
        problems = []
        asked = [QuestionSpec.from_json(each) for each in spec["questions"] if each["kind"] != Kind.TEXT]
        if {question.over for question in asked} == {Over.FOLLOW_UP}:
            problems.append("This study's items have no responses to score.")
        if settings.questions:
            problems += self.question_problems(spec, settings)
        if settings.template:
            problems.append("A judge of this kind has no prompt of one's own.")
        if settings.verdict != "text":
            problems.append(
                "The verdict is of preferences: how a judge of this kind gives its numbers is one of its options."
            )
        own = sorted(OWN_PARAMETERS & settings.extra.keys())
        return problems + [f"{name} can't be among the further parameters." for name in own]

    def question_problems(self, spec: Spec, settings: Settings) -> list[str]:
        return ["A judge of this kind gives a measure and answers none of the study's questions."]

    def steps(
        self, protocol: Protocol, spec: Spec, stimulus: Stimulus, settings: Settings
    ) -> tuple[str, ...]:
        """A call per response."""
        return tuple(response["part"] for response in stimulus["responses"])

    def last_step(self, settings: Settings) -> str:
        return ""

    def request(self, call: ItemCall, frames: MutableMapping[Any, Any]) -> Request:
        able = capabilities_of(call.capabilities, call.settings.model)
        task = self.task(call)
        form = form_of(task, able)
        labels = tuple(task.cells[0].choices or ()) if task.as_labels else ()
        user = [
            MARKED.format(mark=task.mark),
            *(block for block in task.blocks if block),
            label_form(labels, call.settings) if labels else values_form(form, task.cells, call.settings),
        ]
        system = "\n\n".join([task.introduction, MATERIAL, task.task])
        seeded = {"seed": call.seed} if call.seed is not None and able.get("seed") else {}
        return Request(
            model=call.settings.model,
            messages=messages_of(system, "\n\n".join(user), able),
            parameters=parameters_of(call.settings, form, able, task.room(call.settings)) | seeded,
            schema=reply_schema(task.cells, call.settings) if form == "json_schema" else None,
            labels=labels,
        )

    def read(self, call: ItemCall, reply: Reply) -> Reading:
        require_answer(reply)
        task = self.task(call)
        if task.as_labels:
            masses, rationale = read_masses(task.cells[0].choices or {}, call.settings, reply)
            return Reading(self.data(call, {task.cells[0].path: masses}), (), rationale)
        values, rationale = read_cells(task.cells, view_of(call.stimulus, call.order), call.settings, reply)
        return Reading(self.data(call, values), (), rationale)

    def expected(self, call: ItemCall) -> ExpectedReply:
        able = capabilities_of(call.capabilities, call.settings.model)
        task = self.task(call)
        if task.as_labels:
            label = next(iter(task.cells[0].choices or {}))
            return expected_label(label, call.settings, room=task.room(call.settings))
        said = [
            (cell, list(cell.choices or ())[number % len(cell.choices or ())])
            for number, cell in enumerate(task.cells)
        ]
        return expected_values(form_of(task, able), said, call.settings, room=task.room(call.settings))

    def joined(self, call: ItemCall, data: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        return joined_by_part(data)


def form_of(task: ScoreTask, able: Mapping[str, Any]) -> str:
    """The form that a reply is asked in: label, json_schema, json_object or lines."""
    if task.as_labels:
        return "label"
    return next((name for name in ("json_schema", "json_object") if able.get(name)), "lines")


def alone(stimulus: Stimulus, part: str) -> Stimulus:
    """The stimulus with one of its responses and no other."""
    responses = [response for response in stimulus["responses"] if response["part"] == part]
    return {**stimulus, "responses": responses}
