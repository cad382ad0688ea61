"""Rejection of a reply that is no verdict, with the outcome that is counted."""

from typing import NoReturn

from judging.backends.base import Reply

CUT_SHORT = frozenset({"length", "max_tokens"})
FILTERED = frozenset({"content_filter", "safety"})


class ReplyRejected(Exception):
    """The reply is no verdict; `outcome` is unparsed, refused or truncated, the text says why."""

    def __init__(self, outcome: str, reason: str) -> None:
        self.outcome = outcome
        super().__init__(reason)


def reject(reason: str) -> NoReturn:
    """Reject the reply as unparsed."""
    raise ReplyRejected("unparsed", reason)


def require_answer(reply: Reply) -> None:
    """Reject a refusal by the model, or by the endpoint's filter."""
    if reply.refusal:
        raise ReplyRejected("refused", f"The model refused: {reply.refusal[:200]}")
    if reply.finish_reason in FILTERED:
        raise ReplyRejected("refused", "The endpoint's content filter held the reply back.")


def require_complete(reply: Reply) -> None:
    """Reject a reply that was cut short."""
    if reply.finish_reason in CUT_SHORT:
        raise ReplyRejected("truncated", "The reply was cut off at the token limit.")
