"""The protocols by key. Adding one: a module here, its instance in this table, at most one template."""

from evaluation.protocols.base import (
    AnswersInvalid,
    AnswerValue,
    Comparison,
    GoldResult,
    Kind,
    Problem,
    Question,
    Shown,
)
from evaluation.protocols.pairwise import Pairwise
from evaluation.protocols.protocol import Protocol

__all__ = [
    "PROTOCOLS",
    "AnswerValue",
    "AnswersInvalid",
    "Comparison",
    "GoldResult",
    "Kind",
    "Problem",
    "Protocol",
    "Question",
    "Shown",
    "get_protocol",
]

PROTOCOLS: dict[str, Protocol] = {protocol.key: protocol for protocol in (Pairwise(),)}


def get_protocol(key: str) -> Protocol:
    """The protocol of that key; KeyError names the known ones."""
    try:
        return PROTOCOLS[key]
    except KeyError:
        raise KeyError(f"no protocol {key!r}; there are: {', '.join(sorted(PROTOCOLS))}") from None
