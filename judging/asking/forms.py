"""The study's own form, asked of a chat model as people are asked it."""

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

from evaluation.protocols import Protocol
from evaluation.protocols.answers.measures import Measure
from evaluation.protocols.base import Spec, Stimulus
from judging.backends.base import Reply, Request
from judging.parsing.reply import Reading, read_reply
from judging.prompting.expected_reply import ExpectedReply, expected_reply
from judging.prompting.item_call import ItemCall, joined_by_part
from judging.prompting.problems import settings_problems
from judging.prompting.questions import steps
from judging.prompting.request import build_request
from judging.prompting.settings import Settings


class FormAsking:
    """See `judging.asking.base.Asking`."""

    key = "chat"

    def problems(self, protocol: Protocol, spec: Spec, settings: Settings) -> list[str]:
        return settings_problems(protocol, spec, settings)

    def questions(self, spec: Spec, settings: Settings) -> list[str]:
        asked = set(settings.questions)
        return [
            question["key"]
            for question in spec["questions"]
            if (question["key"] in asked if asked else question["kind"] != "text")
        ]

    def measures(self, settings: Settings) -> tuple[Measure, ...]:
        return ()

    def steps(
        self, protocol: Protocol, spec: Spec, stimulus: Stimulus, settings: Settings
    ) -> tuple[str, ...]:
        return steps(protocol, spec, stimulus, settings)

    def last_step(self, settings: Settings) -> str:
        return settings.last_question

    def request(self, call: ItemCall, frames: MutableMapping[Any, Any]) -> Request:
        return build_request(call, frames)

    def read(self, call: ItemCall, reply: Reply) -> Reading:
        return read_reply(call, reply)

    def expected(self, call: ItemCall) -> ExpectedReply:
        return expected_reply(call)

    def joined(self, call: ItemCall, data: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        return joined_by_part(data)


FORM = FormAsking()
