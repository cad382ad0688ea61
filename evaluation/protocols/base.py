"""The vocabulary of protocols: questions, their parts and values, and the problems of a form that was filled in wrong.

Everything here is pure: a spec and a stimulus are plain JSON values, so the same code serves the participant's
form, the API, imports and the parser of a judge's reply.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from evaluation.storable import storable

Spec = Mapping[str, Any]
Stimulus = Mapping[str, Any]
Data = Mapping[str, Any]
# Where an answer came from. A form must be complete; imports and judges bring what they have.
Source = Literal["form", "import", "judge"]

MAX_TEXT = 20_000
# So many parts of a kind can stand in one item.
MAX_PARTS = 50


class Kind(StrEnum):
    """The kinds of question that protocols ask, by name; `evaluation.protocols.kinds` says what each is."""

    PREFERENCE = "preference"
    SCALE = "scale"
    CHECKLIST = "checklist"
    RANKING = "ranking"
    CHOICE = "choice"
    TEXT = "text"
    ENTRIES = "entries"


class Shown(StrEnum):
    """The arms in which a question is asked."""

    ALWAYS = "always"
    WITH_CONTEXT = "with_context"
    WITHOUT_CONTEXT = "without_context"


class Over(StrEnum):
    """The subject of a question: the whole item once, or each of its parts."""

    ITEM = "item"
    RESPONSE = "response"
    FOLLOW_UP = "follow_up"
    FOLLOW_UP_RESPONSE = "follow_up.response"
    # The values of an attribute (a follow-up question with its answer set); where one was chosen, that one alone.
    VALUE = "value"
    # A turn of a conversation, and each response's reply in it.
    TURN = "turn"
    TURN_RESPONSE = "turn.response"
    # The claims that a response makes: the facts that it states, one by one.
    CLAIM = "claim"
    # The question's own choices, of which several may hold.
    CHOICE = "choice"


# What the questions of a kind are about that don't say; those of any other kind are about the item.
DEFAULT_OVERS: Mapping[str, Over] = {Kind.CHECKLIST: Over.FOLLOW_UP_RESPONSE, Kind.RANKING: Over.RESPONSE}
DIRECTIONS = ("higher", "lower")
# What answers a preference without preferring a response (`QuestionSpec.tie_values`): to figures of wins all are ties.
TIE, BOTH_BAD = "tie", "both_bad"
# The key of a tie's wording where BOTH_BAD stands beside it.
BOTH_GOOD = "both_good"
# The part of a question's options that is no label: what a revision can't change.
FORM = "form"
# Before a stored value: the key of the text that says what it means.
ABOUT = "help:"


def default_over(kind: str) -> Over:
    """The subject of a question of this kind that names none."""
    return DEFAULT_OVERS.get(kind, Over.ITEM)


@dataclass(frozen=True)
class QuestionSpec:
    """One field of a protocol's form, as it stands in a compiled spec.

    `options` holds labels by stored value ("tie", "1", "-1", a choice's value), under "help:<value>" what a value
    means, and under "form" how the question is answered: `over`; of a scale `low`, `high`, `step` (1) and either
    `ideal` or `direction`, the better end ("higher" or "lower"); of a choice, or a checklist over its choices,
    `choices` (values in their order) and `groups` (of the choices that have one, for reports); of a ranking or
    preference `ties`; of a preference between two `both_bad` (see `tie_values`), of a graded one `points`, 5 or 7 (see
    `grades`); `flag`: a checklist over the whole item that is one box to tick; `none`: a checklist over its choices has
    a box for none of them; of a text `least`, the characters that it must have.
    """

    key: str
    # A key of `evaluation.protocols.kinds.KINDS`.
    kind: str
    prompt: str
    help: str = ""
    required: bool = True
    shown: Shown = Shown.ALWAYS
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def form(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.options.get(FORM) or {}
        return found

    @property
    def over(self) -> Over:
        return Over(self.form.get("over") or default_over(self.kind))

    @property
    def points(self) -> tuple[float, ...]:
        """The values of a scale that a form offers, from low to high."""
        low, high, step = self.form["low"], self.form["high"], self.form.get("step", 1)
        return tuple(low + number * step for number in range(round((high - low) / step) + 1))

    @property
    def ideal(self) -> float | None:
        ideal: float | None = self.form.get("ideal")
        return ideal

    @property
    def direction(self) -> str:
        """The better end of a scale; empty for other kinds, and where the scale has an ideal.

        Higher was better before a question could say, so that is what one reads as that does not say.
        """
        if self.kind != Kind.SCALE or self.ideal is not None:
            return ""
        return str(self.form.get("direction") or DIRECTIONS[0])

    @property
    def more_is_better(self) -> bool:
        """True if the highest point of a scale is the best."""
        return self.kind == Kind.SCALE and (self.direction == "higher" or self.ideal == self.points[-1])

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of a choice, in the order of the form."""
        return tuple(self.form.get("choices", ()))

    @property
    def groups(self) -> Mapping[str, str]:
        """The group under which a report counts a choice, by choice; empty where each is counted by itself."""
        found: Mapping[str, str] = self.form.get("groups") or {}
        return found

    @property
    def ties(self) -> bool:
        """True if ties are allowed: in a preference unless it says otherwise, in a ranking only if it says so."""
        return bool(self.form.get("ties", self.kind == Kind.PREFERENCE))

    @property
    def tie_values(self) -> tuple[str, ...]:
        """The values of a preference that prefer no response: a tie, if there may be one, and where the question tells
        them apart also BOTH_BAD, beside which a tie says that both are good."""
        if not self.ties:
            return ()
        return (TIE, BOTH_BAD) if self.tells_both_bad else (TIE,)

    @property
    def tells_both_bad(self) -> bool:
        return bool(self.form.get("both_bad"))

    @property
    def grades(self) -> tuple[int, ...]:
        """The grades of a preference, -2 to 2 or -3 to 3: negative if r1 is better, 0 for a tie, positive if r2 is;
        () for one without grades. A grade is the answer's number, and its sign the label."""
        strongest = int(self.form.get("points", 1)) // 2
        if not strongest:
            return ()
        return tuple(grade for grade in range(-strongest, strongest + 1) if grade or self.ties)

    @property
    def least(self) -> int:
        """The characters that a required text must have in a form; 0 where any will do.

        One that says nothing was frozen when this was a hint alone.
        """
        return int(self.form.get("least", 0)) if self.required else 0

    @property
    def offers_none(self) -> bool:
        """True if nothing ticked is no answer to a checklist over its choices: that none holds is a box of its own."""
        return bool(self.form.get("none"))

    @property
    def is_flag(self) -> bool:
        return bool(self.form.get("flag"))

    def label(self, value: object) -> str:
        """The wording of a stored value; empty where it has none. 2.0 and 2 are the same value.

        A tie beside BOTH_BAD has a wording of its own.
        """
        key = BOTH_GOOD if value == TIE and self.tells_both_bad else option_key(value)
        return str(self.options.get(key) or "")

    def about(self, value: object) -> str:
        """The meaning of a stored value, if the options give one."""
        return str(self.options.get(ABOUT + option_key(value)) or "")

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
    def from_json(cls, data: Mapping[str, Any]) -> "QuestionSpec":
        return cls(
            key=data["key"],
            kind=data["kind"],
            prompt=data["prompt"],
            help=data["help"],
            required=data["required"],
            shown=Shown(data["shown"]),
            options=data["options"],
        )


def normalize_text(text: str) -> str:
    """Text as an answer keeps it: storable, and with line ends in one form, so that an export reads back equal."""
    return storable(text).replace("\r\n", "\n")


def option_key(value: object) -> str:
    """A value as options name it: whole numbers without their fraction."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


@dataclass(frozen=True, slots=True)
class AnswerValue:
    """One answer before it is a row; `part` is a key into the stimulus, '' for the whole item."""

    question: str
    kind: str
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
    "unknown_measure": "no such measure is declared by the rater",
    "measure_of_item": "this measure is of an item as a whole, and has no parts",
    "measure_of_pair": "this measure is of two responses, and the item has not two",
    "beyond_any_measure": "{value:g} is further from zero than {greatest:g}, and no score may be",
    "below_range": "{value} is below {low}, the least that it can be",
    "above_range": "{value} is above {high}, the most that it can be",
    "missing": "an answer is missing",
    "nothing": "a judgment needs at least one answer",
    "not_a_choice": "{value!r} is not one of {choices}",
    "not_a_number": "{value!r} is not a number",
    "out_of_range": "{value} is not between {low} and {high}",
    "off_step": "{value} is not one of the points from {low} to {high}",
    "not_a_rank": "{value!r} is not a rank from 1 to {highest}",
    "ranks_tied": "two responses share a rank, which this question does not allow",
    "unconfirmed": "the order is as it was given and was not confirmed",
    "not_text": "this must be text",
    "too_long": "this is longer than {limit} characters",
    "too_short": "this has {found} characters, and needs {least}",
    "text_least": "the least number of characters is a whole number from 0 to {limit}",
    "none_of_choices": "none of these can be offered beside a checklist's own choices only",
    "none_and_some": "none is ticked, and so is something else",
    "not_a_mapping": "this must be an object of parts and their values",
    "responses": "needs exactly {wanted} responses, has {found}",
    "same_system": "both responses are from the same system {system!r}",
    "context_missing": "arm {arm!r} shows a context, and this item has none",
    "too_many_follow_ups": "has {found} follow-up questions; at most {limit} can be shown",
    "follow_up_unanswered": "follow-up question {number} has no chosen answer",
    "unknown_arm": "the study has no arm {arm!r}",
    "gold_empty": "says neither which response is better nor what is satisfied",
    "query_empty": "the query has no text",
    "responses_between": "needs {low} to {high} responses, has {found}",
    "response_empty": "{part} is empty",
    "document_missing": "needs a document ({name}), and the query has none",
    "document_unused": "the query has a document, and the study names no place for one",
    "turns_missing": "has no turns of a conversation",
    "turns_differ": "the responses reply in different numbers of turns",
    "turns_unasked": "the responses reply to {replies} turns, and the query ends in {asked} turns of who asked",
    "claims_missing": "no response has claims",
    "too_many_parts": "{where} has {found} {what}; at most {limit} can be asked about",
    "needs_unused": "every item of this protocol needs the same",
    "needs_responses": "the number of responses is from 0 to {limit}, the least first",
    "needs_unknown": "needs has {name!r}, which no study has",
    "compares_responses": "compares responses, and an item may have fewer than two",
    "preference_of_parts": "can be asked of turns or follow-up questions only where every item has two responses",
    "part_not_shown": "can't be asked of these parts here: only a form of one's own shows them",
    "part_unneeded": "is asked of responses, and an item needs none",
    "clarifying_question_missing": "has no clarifying question",
    "information_need_missing": "the query has no information need",
    "answers_missing": "follow-up question {number} has no set of answers",
    "answer_not_in_set": "the chosen answer of follow-up question {number} is not in its set",
    "follow_ups_missing": "has no follow-up questions",
    "attribute_unknown": "the study has no attribute {key!r}; it has: {known}",
    "attribute_twice": "the attribute {key!r} appears twice",
    "attribute_key": "a key is letters, digits, - and _, at most 60",
    "attribute_question": "has no question",
    "attribute_values": "needs 2 to {limit} values, has {found}",
    "attribute_value_blank": "a value is empty",
    "attribute_value_line": "the value {value!r} has a line break, or blanks around it",
    "attribute_value_twice": "a value appears twice",
    "attributes_unused": "no item of this protocol is about attributes",
    "shares_list": "shares must be a list of objects with key, label, of and among",
    "shares_number": "at most {limit} shares, has {found}",
    "share_key": "a key is letters, digits, - and _, at most 60",
    "share_twice": "two shares have this key",
    "share_unknown": "has {name!r}, which no share has",
    "share_label": "needs a label of one line, at most {limit} characters, without |",
    "share_side": "{side} must be an object of a question, by key, and values, a list of at least one",
    "share_question": "the study has no question {question!r}; it has: {known}",
    "share_kind": "{question!r} is a {kind}, and shares are of choices, scales and checklists",
    "share_tags": "{question!r} asks for several of its own choices, which have a share each already",
    "share_satisfied": "{question!r} is counted with the preference between the two responses, and has no shares",
    "share_value": "{value!r} is no answer to {question!r}; it has: {choices}",
    "share_parts": "{of!r} and {among!r} must be asked of the same parts of an item",
    "share_arms": "no arm asks both {of!r} and {among!r}",
    "share_outside": "{value!r} is counted and not in the denominator, which is of the same question",
    "share_always": "every answer in the denominator is counted: the share is always 100 %",
    "key_reserved": "{key!r} can't be a question's key, because forms have a field of that name",
    "form_no_object": "form must be an object",
    "form_unknown": "form has {name!r}, which no question has",
    "form_over": "a {kind} can't be asked over {over!r}; it can over: {choices}",
    "scale_limits": "a scale needs low and high, low below high, and a step that leads from one to the other",
    "scale_points": "a scale has at most {limit} points",
    "scale_ideal": "the ideal {ideal} is not between {low} and {high}",
    "scale_direction": "the direction of a scale is higher or lower, and none beside an ideal",
    "choices_missing": "needs choices, a list of values",
    "choices_number": "needs 2 to {limit} choices, has {found}",
    "choices_twice": "a choice appears twice",
    "choice_value": "{value!r} can't be a choice: letters, digits, - and _, at most 32",
    "choice_groups": "groups must be an object from choices to the names of their groups",
    "preference_points": "a graded preference has 5 or 7 points",
    "preference_of_two": "only a choice between two responses can be graded",
    "both_bad": "both_bad is true or false, and true only where there are ties and no grades",
    "both_bad_of_two": "only a choice between two responses can say that both are bad",
    "grade_label": "the label {label!r} does not go with the grade {number}",
    "gold_unanswerable": "{question} can't be compared with a gold value",
    "no_entries": "this must be a list of entries",
    "too_many_entries": "has {found} entries; at most {limit} can be shown",
    "not_an_entry": "this must be an object with condition, answers, citations and reason",
    "entry_unknown": "has {name!r}, which no entry has",
    "entry_blank": "this entry is empty",
    "undecided": "nobody has said whether this entry is kept or rejected",
    "nothing_above": "there is no entry above it to be merged with",
    "entries_missing": "needs at least one entry",
    "not_texts": "this must be a list of texts",
    "no_citations": "this must be a list of citations",
    "no_fragment": "{value} is not the number of a fragment, of which there are {fragments}",
    "not_a_quotation": "a citation is the number of a fragment, or an object with title and text",
    "unknown_origin": "no drafted entry is called {value!r}",
    "fragment_empty": "fragment {number} has no text",
    "too_many_fragments": "has {found} fragments; at most {limit} can be shown",
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
    """The result of comparing a judgment with an item's gold."""

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


def asked_questions(spec: Spec) -> list[Mapping[str, Any]]:
    """The compiled questions, without those that are asked with a context where no arm shows one."""
    shows_context = any(arm["context_at_judging"] for arm in spec["arms"])
    return [each for each in spec["questions"] if shows_context or each["shown"] != Shown.WITH_CONTEXT]


def sees_context(spec: Spec, stimulus: Stimulus) -> bool:
    """True if raters of this stimulus are shown its context."""
    return bool(arm_of(spec, stimulus["arm"])["context_at_judging"]) and stimulus["context"] is not None
