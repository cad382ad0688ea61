"""The study's own form, asked of a chat model as people are asked it."""

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

from evaluation.protocols import Protocol
from evaluation.protocols.answers.measures import Measure
from evaluation.protocols.base import Spec, Stimulus
from judging import prompting
from judging.asking.base import ItemCall, joined_by_part
from judging.backends.base import Reply, Request
from judging.parsing import Reading, read_reply
from judging.prompting import Settings


class FormAsking:
    """See `judging.asking.base.Asking`."""

    key = "chat"

    def problems(self, protocol: Protocol, spec: Spec, settings: Settings) -> list[str]:
        return prompting.settings_problems(protocol, spec, settings)

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
        return prompting.steps(protocol, spec, stimulus, settings)

    def last_step(self, settings: Settings) -> str:
        return settings.last_question

    def request(self, call: ItemCall, frames: MutableMapping[Any, Any]) -> Request:
        return prompting.build_request(
            call.protocol,
            call.spec,
            call.stimulus,
            call.settings,
            order=call.order,
            step=call.step,
            earlier=joined_by_part(list(call.earlier.values())),
            capabilities=call.capabilities,
            seed=call.seed,
            frames=frames,
        )

    def read(self, call: ItemCall, reply: Reply) -> Reading:
        return read_reply(
            call.protocol,
            call.spec,
            call.stimulus,
            call.settings,
            order=call.order,
            step=call.step,
            reply=reply,
        )

    def expected(self, call: ItemCall) -> prompting.ExpectedReply:
        return prompting.expected_reply(
            call.protocol,
            call.spec,
            call.stimulus,
            call.settings,
            order=call.order,
            step=call.step,
            capabilities=call.capabilities,
        )

    def joined(self, call: ItemCall, data: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        return joined_by_part(data)


FORM = FormAsking()
