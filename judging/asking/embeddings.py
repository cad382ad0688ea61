"""Embeddings: one request for all texts of an item, whose reply is their similarities."""

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

import orjson

from evaluation.protocols import Protocol
from evaluation.protocols.answers.measures import Measure
from evaluation.protocols.base import Spec, Stimulus
from judging.asking.measured import (
    answered_questions,
    compares,
    measured_data,
    measured_problems,
    measured_reading,
)
from judging.backends.base import Reply, Request, Unmeasurable
from judging.backends.embedding.measure import (
    COSINE,
    EMBEDDING_KEY,
    compared_texts,
    nearest_cosines,
    text_messages,
)
from judging.parsing.rejection import ReplyRejected
from judging.parsing.reply import Reading
from judging.prompting.expected_reply import ExpectedReply
from judging.prompting.item_call import ItemCall, joined_by_part
from judging.prompting.settings import Settings

OWN_PARAMETERS = frozenset({"model", "input", "encoding_format"})


class EmbeddingAsking:
    """See `judging.asking.base.Asking`."""

    key = EMBEDDING_KEY

    def problems(self, protocol: Protocol, spec: Spec, settings: Settings) -> list[str]:
        return measured_problems(spec, COSINE, settings, OWN_PARAMETERS)

    def questions(self, spec: Spec, settings: Settings) -> list[str]:
        return [question.key for question in answered_questions(spec, COSINE, settings)]

    def measures(self, settings: Settings) -> tuple[Measure, ...]:
        return (COSINE,)

    def steps(
        self, protocol: Protocol, spec: Spec, stimulus: Stimulus, settings: Settings
    ) -> tuple[str, ...]:
        return ("",)

    def last_step(self, settings: Settings) -> str:
        return ""

    def request(self, call: ItemCall, frames: MutableMapping[Any, Any]) -> Request:
        return Request(
            model=call.settings.model,
            messages=text_messages(self._texts(call)),
            parameters=call.settings.extra,
            repeatable=True,
        )

    def read(self, call: ItemCall, reply: Reply) -> Reading:
        try:
            texts = self._texts(call)
            cosines = orjson.loads(reply.text)["cosines"]
            numbers = nearest_cosines(call.stimulus, texts, cosines)
        except (ValueError, KeyError, TypeError, IndexError, Unmeasurable):
            raise ReplyRejected("unparsed", "The reply has no similarities of these texts.") from None
        return measured_reading(call, COSINE, measured_data(call, COSINE, numbers))

    def expected(self, call: ItemCall) -> ExpectedReply:
        """Nothing is written, so it has no tokens."""
        try:
            n = len(self._texts(call))
        except Unmeasurable:
            n = 1
        text = orjson.dumps({"dimensions": 1024, "cosines": [[1.0] * n] * n}).decode()
        return ExpectedReply(text=text, tokens=0, choices=0, texts=0, entries=0, reasons=False)

    def joined(self, call: ItemCall, data: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        return joined_by_part(data)

    def _texts(self, call: ItemCall) -> list[str]:
        return compared_texts(call.stimulus, of_each=compares(call, COSINE))


EMBEDDINGS = EmbeddingAsking()
