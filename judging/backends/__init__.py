"""What answers a judge's calls: a registry, one file per kind.

Heuristics answer at once from the stimulus; the other kinds are opened once per task and asked over the network.
A further kind is a module here and a line in one of the two tables.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from judging.backends.base import Backend
from judging.backends.heuristics import HEURISTICS, answers_question, heuristic_data

__all__ = ["BACKENDS", "HEURISTICS", "EndpointLike", "answers_question", "heuristic_data", "open_backend"]


class EndpointLike(Protocol):
    """What a backend must know of an endpoint: the attributes of `judging.models.Endpoint`."""

    base_url: str
    key_name: str
    timeout_seconds: float


def _open_chat(endpoint: EndpointLike, in_flight: int) -> Backend:
    # The client takes most of a second to import; web processes and heuristic judges never need it.
    from judging.backends.chat import ChatBackend
    from judging.backends.keys import key_for

    return ChatBackend(
        endpoint.base_url, key=key_for(endpoint), timeout=endpoint.timeout_seconds, in_flight=in_flight
    )


BACKENDS: Mapping[str, Callable[[EndpointLike, int], Backend]] = {"chat": _open_chat}


def open_backend(kind: str, endpoint: EndpointLike, *, in_flight: int) -> Backend:
    """The backend of that kind, to be entered in the event loop; StopRun where the endpoint's key is missing."""
    return BACKENDS[kind](endpoint, in_flight)
