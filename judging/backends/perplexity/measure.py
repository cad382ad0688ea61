"""The measure of the perplexity judge, its options, and the requests that it makes. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.protocols.answers.measures import Measure
from judging.backends.base import Request
from judging.backends.measured import MARGIN
from judging.backends.options import Input, JudgeOption

PERPLEXITY_KEY = "perplexity"
PERPLEXITY = Measure("perplexity", "Perplexity of the reference", low=0, direction="lower")
# What each form of completions adds to a request. With 0 vLLM gives the prompt's own tokens and no alternatives.
FORMS: dict[str, Mapping[str, Any]] = {
    "echo": {"echo": True, "logprobs": 1},
    "prompt_logprobs": {"prompt_logprobs": 0},
}
# Some servers refuse a limit of 0; what is generated is left out by its place.
GENERATED = 1
QUERY = "{query}"


@dataclass(frozen=True)
class SystemModel:
    """The model behind a system, and the endpoint that serves it; '': the judge's own."""

    model: str
    endpoint: str = ""

    def __str__(self) -> str:
        return f"{self.model} @ {self.endpoint}" if self.endpoint else self.model


def models_by_system(lines: Sequence[str]) -> dict[str, SystemModel]:
    """The models of systems by key, from lines "system = model" or "system = model @ endpoint".

    ValueError with a sentence where a line is neither, or a system has two.
    """
    found: dict[str, SystemModel] = {}
    for line in lines:
        system, sign, place = (part.strip() for part in line.partition("="))
        # Names of models may hold a sign of their own, but no blanks around it.
        model, _, endpoint = (part.strip() for part in place.partition(" @ "))
        if not system or not sign or not model:
            raise ValueError(f"{line!r} is not of the form system = model, or system = model @ endpoint.")
        if system in found:
            raise ValueError(f"the system {system} has two models.")
        found[system] = SystemModel(model, endpoint)
    return found


def _checked_lines(lines: list[str]) -> list[str]:
    models_by_system(lines)
    return lines


def _with_query(text: str) -> str:
    if text.count(QUERY) != 1:
        raise ValueError(f"{QUERY} must stand in it once.")
    return text


MODELS = JudgeOption(
    key="models",
    label="Models behind the systems",
    help="One a line: system = model, or system = model @ endpoint for another endpoint than the judge's.",
    input=Input.LINES,
    default=[],
    clean=_checked_lines,
)
PROMPT = JudgeOption(
    key="prompt",
    label="Text before the reference",
    help="What the model is given before the reference; \\n stands for a line break. A model's own chat template fits.",
    default="{query}\\n\\n",
    clean=_with_query,
)
OPTIONS = (MODELS, PROMPT, MARGIN)


def scoring_parameters(form: str) -> dict[str, Any]:
    return {"max_tokens": GENERATED, "temperature": 0, **FORMS[form]}


def scoring_request(
    model: str,
    prompt: str,
    continuation: str,
    form: str,
    *,
    extra: Mapping[str, Any] | None = None,
    place: str = "",
) -> Request:
    """The request for the log-probability of a continuation; `extra` are further parameters."""
    return Request(
        model=model,
        messages=({"role": "prompt", "content": prompt}, {"role": "continuation", "content": continuation}),
        parameters={**(extra or {}), **scoring_parameters(form)},
        repeatable=True,
        place=place,
    )


def perplexity_of(logprob: float, tokens: int) -> float:
    """exp(-logprob / tokens); infinite where that is too large for a number."""
    try:
        return math.exp(-logprob / tokens)
    except OverflowError:
        return math.inf
