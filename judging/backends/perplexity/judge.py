"""The perplexity judge: the response wins whose system's model finds the human-written reference less perplexing."""

from typing import Any

from judging.backends.base import (
    Askable,
    Backend,
    CallFailed,
    EndpointLike,
    ModelBackend,
    Probe,
    StopRun,
    TryAgain,
)
from judging.backends.perplexity.measure import FORMS, OPTIONS, PERPLEXITY_KEY, scoring_request
from judging.backends.probe import BREAKS

PROBE_PROMPT, PROBE_CONTINUATION = "One, two, three,", " four, five, six."


async def probe_prompt_logprobs(backend: Askable, model: str) -> dict[str, Any]:
    """The capability `prompt_logprobs`, the form in which the model gives them ('' for none), and under
    `prompt_logprobs_problem` why not ('' where they are there).

    Takes a backend that is entered. StopRun where no call can succeed (key, quota); TryAgain where the endpoint is busy
    or out of order, which says nothing of what it can do.
    """
    problem = ""
    for form in FORMS:
        said = await _problem(backend, model, form)
        if not said:
            return {"prompt_logprobs": form, "prompt_logprobs_problem": ""}
        # The first form is the one that most servers know.
        problem = problem or said
    return {"prompt_logprobs": "", "prompt_logprobs_problem": problem}


async def _problem(backend: Askable, model: str, form: str) -> str:
    """Why the model gives no log-probabilities in this form; '' if it does."""
    try:
        await backend.ask(scoring_request(model, PROBE_PROMPT, PROBE_CONTINUATION, form))
    except CallFailed as error:
        return str(error)
    except StopRun as error:
        if error.status != 404:
            raise
        return "The endpoint has no completions of this model, only chat."
    except TryAgain as error:
        # Servers that break on what they do not know instead of refusing it.
        if error.status not in BREAKS:
            raise
        return f"The endpoint breaks on completions with {form} ({error})."
    return ""


def _open(endpoint: EndpointLike, in_flight: int) -> Backend:
    # The client takes most of a second to import; web processes never need it.
    from judging.backends.keys import key_for
    from judging.backends.perplexity.completions import CompletionBackend

    return CompletionBackend(
        endpoint.base_url, key=key_for(endpoint), timeout=endpoint.timeout_seconds, in_flight=in_flight
    )


PERPLEXITY_JUDGE = ModelBackend(
    key=PERPLEXITY_KEY,
    label="perplexity of the reference",
    open=_open,
    options=OPTIONS,
    probe=Probe("prompt_logprobs", probe_prompt_logprobs),
    writes=False,
    sees_reference=True,
    by_system=True,
)
