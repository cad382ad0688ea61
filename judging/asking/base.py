"""The seam between a judge's run and the way in which its model is asked about items."""

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from evaluation.protocols import Protocol as StudyProtocol
from evaluation.protocols.answers.measures import Measure
from evaluation.protocols.base import Spec, Stimulus
from judging.backends.base import Reply, Request
from judging.parsing.reply import Reading
from judging.prompting.expected_reply import ExpectedReply
from judging.prompting.item_call import ItemCall
from judging.prompting.settings import Settings


class Asking(Protocol):
    """A way of asking a model about items. Pure."""

    # The key of the backends whose judges ask so.
    key: str

    def problems(self, protocol: StudyProtocol, spec: Spec, settings: Settings) -> list[str]:
        """Reasons why a judge of such settings can't judge a study of this spec, a sentence each."""
        ...

    def questions(self, spec: Spec, settings: Settings) -> list[str]:
        """Keys of the study's questions that it answers, in the order of the form."""
        ...

    def measures(self, settings: Settings) -> tuple[Measure, ...]:
        """The measures that it gives beside them."""
        ...

    def steps(
        self, protocol: StudyProtocol, spec: Spec, stimulus: Stimulus, settings: Settings
    ) -> tuple[str, ...]:
        """The steps of one judgment, a call each; () where there is nothing to judge."""
        ...

    def last_step(self, settings: Settings) -> str:
        """The step that is asked once the others of its judgment are final, from their data; '' if none is."""
        ...

    def request(self, call: ItemCall, frames: MutableMapping[Any, Any]) -> Request:
        """The request of a call; CannotAsk if there can be none, Unmeasurable if this item has nothing to ask about.

        `frames` keeps what requests have in common.
        """
        ...

    def read(self, call: ItemCall, reply: Reply) -> Reading:
        """Read a reply; ReplyRejected if it is none."""
        ...

    def expected(self, call: ItemCall) -> ExpectedReply:
        """A reply that could come to a call."""
        ...

    def joined(self, call: ItemCall, data: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The content of a judgment, from that of its steps in the order of the steps; `call` is one of theirs."""
        ...


def possible_earlier(asking: Asking, call: ItemCall) -> ItemCall:
    """The call with what the steps before it might have said, where it follows others and nothing is known of them."""
    if call.earlier or not call.step or call.step != asking.last_step(call.settings):
        return call
    # In words alone, which can be read whatever the model is able to do.
    plain = replace(call, settings=replace(call.settings, verdict="text", rationale="none"), capabilities={})
    earlier = {}
    for step in asking.steps(call.protocol, call.spec, call.stimulus, call.settings):
        if step != call.step:
            each = replace(plain, step=step)
            earlier[step] = asking.read(each, Reply(text=asking.expected(each).text)).data
    return replace(call, earlier=earlier)
