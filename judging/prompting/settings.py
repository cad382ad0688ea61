"""Settings that decide how a judge is asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from evaluation.protocols.base import Data, Stimulus

# Parameters that a judge's other settings decide, or that would change what comes back.
OWN_PARAMETERS = frozenset(
    {"model", "messages", "stream", "stream_options", "n", "response_format", "logprobs", "top_logprobs",
     "temperature", "seed", "max_tokens", "max_completion_tokens", "tools", "tool_choice", "functions"}
)  # fmt: skip

# A set of thirty entries with reasons is long; judges' limits are made for verdicts.
ENTRIES_TOKENS = 4_096


class CannotAsk(ValueError):
    """The judge's settings do not go together, or not with this protocol or endpoint; the text says what to change."""


@dataclass(frozen=True)
class Example:
    """An item with the answers that it should have (see `evaluation.protocols.answers.gold`)."""

    stimulus: Stimulus
    gold: Data


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
    # What only this kind of judge has, as its backend declares it.
    options: Mapping[str, Any] = field(default_factory=dict)
    # The worked examples that items of each arm are judged by.
    examples: Mapping[str, Sequence[Example]] = field(default_factory=dict)
    # Keys of the systems that answered in a setting without conditions, where these are scored.
    without_conditions: frozenset[str] = frozenset()

    # Options of chat completions, which judges from before they were there lack.

    @property
    def persona(self) -> str:
        """The kind of judge that the model is to be, in sentences; '': none."""
        return str(self.options.get("persona", ""))

    @property
    def guideline(self) -> bool:
        """True unless the judge is not told the guideline."""
        return not self.options.get("without_guideline", False)

    @property
    def demonstrations(self) -> int:
        """The number of worked examples in a prompt."""
        return int(self.options.get("demonstrations", 0))

    @property
    def documents(self) -> int | None:
        """The number of the query's documents in a prompt; None: those that people see."""
        number = self.options.get("documents")
        return None if number is None else int(number)

    @property
    def repeated_share(self) -> float:
        """The share of queries, from 0 to 1, of which all samples are asked; of the others one is."""
        return float(self.options.get("repeated_share", 100)) / 100

    @property
    def label_share(self) -> float:
        """The probability, from 0 to 1, that the labels of a verdict must have together."""
        return float(self.options.get("label_share", 50)) / 100

    @property
    def last_question(self) -> str:
        """Key of the question that is asked once the others are answered, and from these answers; '': none."""
        return str(self.options.get("last_question", ""))
