"""The backends of judges, by key: models, which are asked over the network, heuristics and text metrics, which answer
at once, and derived judges, which are made of other raters' judgments.

One more is a module here, which makes a `ModelBackend`, a `Heuristic` or a `Derived`, and its line in the registry.
"""

from evaluation.registry import Registry
from judging.backends.base import Backend, EndpointLike, Heuristic, JudgeBackend, ModelBackend, Probe
from judging.backends.chat_options import CHAT_OPTIONS
from judging.backends.derived import BY_MEASURE, COMPOSITE, WEIGHTED
from judging.backends.embedding.judge import EMBEDDING
from judging.backends.embedding.static_judge import STATIC_EMBEDDING
from judging.backends.heuristics import LONGER, RANDOM, SHORTER
from judging.backends.metric_judges import METRIC_JUDGES
from judging.backends.perplexity.judge import PERPLEXITY_JUDGE
from judging.backends.probe import CHAT_PROBE
from judging.backends.retrieval import RETRIEVAL
from judging.backends.scores.entry_overlap import ENTRY_OVERLAP
from judging.backends.scores.options import COUNT_OPTIONS, GEVAL_OPTIONS


def _open_chat(endpoint: EndpointLike, in_flight: int) -> Backend:
    # The client takes most of a second to import; web processes and heuristic judges never need it.
    from judging.backends.chat import ChatBackend
    from judging.backends.keys import key_for

    return ChatBackend(
        endpoint.base_url, key=key_for(endpoint), timeout=endpoint.timeout_seconds, in_flight=in_flight
    )


CHAT = ModelBackend(key="chat", label="chat completions", open=_open_chat, options=CHAT_OPTIONS)
CONSTRAINTS = ModelBackend(
    key="constraints", label="constraint counting", open=_open_chat, options=COUNT_OPTIONS
)
GEVAL = ModelBackend(key="geval", label="G-Eval style scores", open=_open_chat, options=GEVAL_OPTIONS)
ENTRY_SCORES = ModelBackend(
    key="entry_scores",
    label="condition and answer scores of entries",
    open=_open_chat,
    sees_reference=True,
)
BACKENDS: Registry[JudgeBackend] = Registry(
    "judge backend",
    {
        "key": "its name in commands and in the database",
        "label": "its name where a judge is made",
        "asks_model": "whether it needs an endpoint and a model: be a ModelBackend, a Heuristic or a Derived",
    },
    (
        CHAT,
        CONSTRAINTS,
        GEVAL,
        ENTRY_SCORES,
        ENTRY_OVERLAP,
        RETRIEVAL,
        RANDOM,
        SHORTER,
        LONGER,
        *METRIC_JUDGES,
        EMBEDDING,
        STATIC_EMBEDDING,
        PERPLEXITY_JUDGE,
        COMPOSITE,
        WEIGHTED,
        BY_MEASURE,
    ),
)


def backend_choices() -> list[tuple[str, str]]:
    return [(each.key, each.label) for each in BACKENDS.values()]


def open_backend(key: str, endpoint: EndpointLike, *, in_flight: int) -> Backend:
    """The connection to a model, to be entered in the event loop; StopRun where the endpoint's key is missing."""
    backend = BACKENDS[key]
    assert isinstance(backend, ModelBackend)
    return backend.open(endpoint, in_flight)


def probe_of(key: str) -> Probe:
    """The way to find out what a model can do for judges of this backend."""
    backend = BACKENDS[key]
    assert isinstance(backend, ModelBackend)
    return backend.probe or CHAT_PROBE


def heuristics() -> list[Heuristic]:
    """The judges that need no model, in the order in which they are offered."""
    return [each for each in BACKENDS.values() if isinstance(each, Heuristic)]
