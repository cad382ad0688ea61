"""The embedding judge: a model at an endpoint gives the vectors, the response nearer to the reference wins."""

from typing import Any

import orjson

from judging.backends.base import (
    Askable,
    Backend,
    CallFailed,
    EndpointLike,
    ModelBackend,
    Probe,
    Request,
    StopRun,
)
from judging.backends.embedding.measure import EMBEDDING_KEY, text_messages
from judging.backends.measured import MARGIN


async def probe_embeddings(backend: Askable, model: str) -> dict[str, Any]:
    """The capability `embeddings`, the number of their dimensions; StopRun where there are none."""
    request = Request(model=model, messages=text_messages(["One sentence to embed."]))
    try:
        reply = await backend.ask(request)
    except CallFailed as error:
        raise StopRun(f"The model gives no embeddings at this endpoint: {error}") from None
    return {"embeddings": orjson.loads(reply.text)["dimensions"]}


def _open(endpoint: EndpointLike, in_flight: int) -> Backend:
    # The client takes most of a second to import; web processes never need it.
    from judging.backends.embedding.endpoint import EmbeddingBackend
    from judging.backends.keys import key_for

    return EmbeddingBackend(
        endpoint.base_url, key=key_for(endpoint), timeout=endpoint.timeout_seconds, in_flight=in_flight
    )


EMBEDDING = ModelBackend(
    key=EMBEDDING_KEY,
    label="embeddings compared with the reference",
    open=_open,
    options=(MARGIN,),
    probe=Probe("embeddings", probe_embeddings),
    writes=False,
    sees_reference=True,
    measures_each=True,
)
