"""Settings that decide how a judge is asked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

# Parameters that a judge's other settings decide, or that would change what comes back.
OWN_PARAMETERS = frozenset(
    {"model", "messages", "stream", "stream_options", "n", "response_format", "logprobs", "top_logprobs",
     "temperature", "seed", "max_tokens", "max_completion_tokens", "tools", "tool_choice", "functions"}
)  # fmt: skip

# A set of thirty entries with reasons is long; judges' limits are made for verdicts.
ENTRIES_TOKENS = 4_096


class CannotAsk(ValueError):
    """The judge's settings do not go together, or not with this protocol or endpoint; the text says what to change."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The pure form of `judging.models.Judge`."""

    model: str
    temperature: float | None = 0.0
    max_tokens: int = 1024
    extra: Mapping[str, Any] = field(default_factory=dict)
    # Keys of questions; empty: every question of the arm that is not a free text.
    questions: tuple[str, ...] = ()
    verdict: Literal["text", "logprobs"] = "text"
    rationale: Literal["none", "before", "after"] = "none"
    with_reference: bool = False
    one_call_per_question: bool = False
    # Overrides the derived prompt; empty: derived.
    template: str = ""
