"""What a protocol is made of: questions, their parts and values, and the errors of a form that was filled in wrong.

Everything here is pure: a spec and a stimulus are plain JSON values, so the same code serves the participant's
form, the API, imports and the parser of a judge's reply.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

Spec = Mapping[str, Any]
Stimulus = Mapping[str, Any]
Data = Mapping[str, Any]
# Where an answer came from. A form must be complete; imports and judges bring what they have.
Source = Literal["form", "import", "judge"]

MAX_TEXT = 20_000


class Kind(StrEnum):
    """The kinds of question; each stores its answers in one way (see `evaluation.models.Answer`)."""

    PREFERENCE = "preference"
    SCALE = "scale"
    CHECKLIST = "checklist"
    RANKING = "ranking"
    CHOICE = "choice"
    TEXT = "text"


class Shown(StrEnum):
    """In which arms a question is asked."""

    ALWAYS = "always"
    WITH_CONTEXT = "with_context"
    WITHOUT_CONTEXT = "without_context"


@dataclass(frozen=True)
class Question:
    """One field of a protocol's form, as it stands in a compiled spec."""

    key: str
    kind: Kind
    prompt: str
    help: str = ""
    required: bool = True
    shown: Shown = Shown.ALWAYS
    # Labels of the fixed options by their stored value (preference: r1, r2, tie; only `tie` is worded here).
    options: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "kind": str(self.kind),
            "prompt": self.prompt,
            "help": self.help,
            "required": self.required,
            "shown": str(self.shown),
            "options": dict(self.options),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Question":
        return cls(
            key=data["key"],
            kind=Kind(data["kind"]),
            prompt=data["prompt"],
            help=data["help"],
            required=data["required"],
            shown=Shown(data["shown"]),
            options=data["options"],
        )


@dataclass(frozen=True)
class AnswerValue:
    """One answer before it is a row; `part` is a key into the stimulus, '' for the whole item."""

    question: str
    kind: Kind
    part: str = ""
    number: float | None = None
    label: str | None = None
    text: str | None = None


@dataclass(frozen=True)
class Problem:
    """One thing wrong with an item or an answer. `code` names the message for translation; `where` is a path."""

    code: str
    where: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        text = MESSAGES[self.code].format(**self.params)
        return f"{self.where}: {text}" if self.where else text


# The sentences are in English here and translated where they meet a person (`evaluation.forms`).
MESSAGES = {
    "unknown_question": "this study has no such question in this arm",
    "unknown_part": "no such part: {part!r}",
    "missing": "an answer is missing",
    "nothing": "a judgment needs at least one answer",
    "not_a_choice": "{value!r} is not one of {choices}",
    "not_a_number": "{value!r} is not a number",
    "out_of_range": "{value} is not between {low} and {high}",
    "not_text": "this must be text",
    "too_long": "this is longer than {limit} characters",
    "not_a_mapping": "this must be an object of parts and their values",
    "responses": "needs exactly {wanted} responses, has {found}",
    "same_system": "both responses are from the same system {system!r}",
    "context_missing": "arm {arm!r} shows a context, and this item has none",
    "too_many_follow_ups": "has {found} follow-up questions; at most {limit} can be shown",
    "follow_up_unanswered": "follow-up question {number} has no chosen answer",
    "unknown_arm": "the study has no arm {arm!r}",
    "gold_empty": "says neither which response is better nor what is satisfied",
    "query_empty": "the query has no text",
}


class AnswersInvalid(Exception):
    """The answers can't be taken; carries every problem at once, so that nobody has to mend them one by one."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__("; ".join(str(problem) for problem in problems))


@dataclass(frozen=True)
class Comparison:
    """One gold value beside what was given."""

    question: str
    part: str
    accepted: tuple[str, ...]
    given: str | None

    @property
    def correct(self) -> bool:
        return self.given in self.accepted


@dataclass(frozen=True)
class GoldResult:
    """How a judgment fared against an item's gold."""

    comparisons: tuple[Comparison, ...]
    passed: bool
    note: str = ""


def arm_of(spec: Spec, key: str) -> Mapping[str, Any]:
    """The arm's description in a compiled spec."""
    for arm in spec["arms"]:
        if arm["key"] == key:
            found: Mapping[str, Any] = arm
            return found
    raise KeyError(key)


def sees_context(spec: Spec, stimulus: Stimulus) -> bool:
    """Whether who judges this stimulus is shown its context."""
    return bool(arm_of(spec, stimulus["arm"])["context_at_judging"]) and stimulus["context"] is not None
