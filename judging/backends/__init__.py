"""The backends of judges, by key: models, which are asked over the network, and heuristics, which answer at once.

One more is a module here, which makes a `ModelBackend` or a `Heuristic`, and its line in the registry.
"""

from evaluation.registry import Registry
from judging.backends.base import Backend, EndpointLike, Heuristic, JudgeBackend, ModelBackend
from judging.backends.heuristics import LONGER, RANDOM, SHORTER, heuristic_data

__all__ = [
    "BACKENDS",
    "CHAT",
    "EndpointLike",
    "Heuristic",
    "JudgeBackend",
    "ModelBackend",
    "backend_choices",
    "heuristic_data",
    "heuristics",
    "open_backend",
]


def _open_chat(endpoint: EndpointLike, in_flight: int) -> Backend:
    # The client takes most of a second to import; web processes and heuristic judges never need it.
    from judging.backends.chat import ChatBackend
    from judging.backends.keys import key_for

    return ChatBackend(
        endpoint.base_url, key=key_for(endpoint), timeout=endpoint.timeout_seconds, in_flight=in_flight
    )


CHAT = ModelBackend(key="chat", label="chat completions", open=_open_chat)
BACKENDS: Registry[JudgeBackend] = Registry(
    "judge backend",
    {
        "key": "its name in commands and in the database",
        "label": "its name where a judge is made",
        "asks_model": "whether it needs an endpoint and a model: be a ModelBackend or a Heuristic",
    },
    (CHAT, RANDOM, SHORTER, LONGER),
)


def backend_choices() -> list[tuple[str, str]]:
    return [(each.key, each.label) for each in BACKENDS.values()]


def open_backend(key: str, endpoint: EndpointLike, *, in_flight: int) -> Backend:
    """The connection to a model, to be entered in the event loop; StopRun where the endpoint's key is missing."""
    backend = BACKENDS[key]
    assert isinstance(backend, ModelBackend)
    return backend.open(endpoint, in_flight)


def heuristics() -> list[Heuristic]:
    """The judges that need no model, in the order in which they are offered."""
    return [each for each in BACKENDS.values() if isinstance(each, Heuristic)]
