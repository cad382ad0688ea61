"""The base of question kinds, and the cleaning that they share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from evaluation.protocols.answers.parts import parts_of
from evaluation.protocols.base import AnswerValue, Over, Problem, QuestionSpec, Source, Stimulus, option_key

# Where an answer is stored: in the array of numbers or of labels, or as a text.
Storage = Literal["number", "label", "text"]
# How several readings by one rater become one answer; None where they are not counted.
Rule = Literal["mean", "majority"]
Level = Literal["nominal", "ordinal", "interval"]


# It is stored with every question, and printed in exports.
MAX_KEY = 12
# Everything that stands in an item itself, the item included.
PARTS = frozenset(set(Over) - {Over.CHOICE})


class BadValue(Exception):
    """An invalid value, with all its problems."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__()
        self.problems = list(problems)


class QuestionKind:
    """A kind of question: what it can be asked about, what answers it, how they are stored and counted.

    `form` names the manner in which it is answered: the field on the screen (`evaluation.forms.fields`), the sentence
    and the shape of a judge's reply (`judging.prompting.cells`). Kinds may share one.
    """

    key: ClassVar[str]
    storage: ClassVar[Storage]
    form: ClassVar[str]
    # What its questions can be about.
    overs: ClassVar[frozenset[Over]] = frozenset({Over.ITEM})
    rule: ClassVar[Rule | None] = None
    # What a question's form may hold beside what every question's may (`evaluation.protocols.requirements.questions`).
    own_settings: ClassVar[frozenset[str]] = frozenset()
    # Whether a gold value can be compared with its answers.
    has_gold: ClassVar[bool] = True

    def offers(self, question: QuestionSpec) -> tuple[Any, ...]:
        """The values that a form offers at each part, in their order; () where answers are free."""
        return ()

    def find_problems(self, question: QuestionSpec) -> Iterator[Problem]:
        """The problems of how a question of this kind is to be answered; `where` is left empty."""
        yield from ()

    def clean(
        self, question: QuestionSpec, stimulus: Stimulus, value: Any, source: Source
    ) -> list[AnswerValue]:
        """The answers that a value stands for: one of those offered for each part. Raises BadValue."""
        offered = {option_key(each): each for each in self.offers(question)}

        def clean_one(where: str, each: Any) -> Any:
            if isinstance(each, bool) or option_key(each) not in offered:
                params = {"value": each, "choices": ", ".join(offered)}
                raise BadValue(Problem("not_a_choice", where, params))
            return offered[option_key(each)]

        return values_by_part(self, question, stimulus, value, source, clean_one)

    def find_gold_problems(
        self, question: QuestionSpec, stimulus: Stimulus, wanted: Mapping[str, Sequence[Any]]
    ) -> list[Problem]:
        """The problems of gold: the values that are accepted, by part of the stimulus."""
        problems = []
        for part, accepted in wanted.items():
            for each in accepted:
                try:
                    self.clean(question, stimulus, {part: each} if part else each, "import")
                except BadValue as bad:
                    problems += bad.problems
        return problems

    def level(self, question: QuestionSpec) -> Level:
        """The level of measurement at which agreement is taken."""
        return "nominal"

    def points(self, question: QuestionSpec) -> tuple[float, ...]:
        """The values that are offered, as the numbers with which figures count: of labels their places."""
        offered = self.offers(question)
        return tuple(float(each) for each in (range(len(offered)) if self.storage == "label" else offered))

    def find_missing(self) -> list[str]:
        """Name the parts that an incomplete kind lacks beyond its plain attributes."""
        found = [] if len(self.key) <= MAX_KEY else [f"a key of at most {MAX_KEY} characters"]
        free = type(self).offers is QuestionKind.offers and type(self).clean is QuestionKind.clean
        if free:
            found.append("offers (the values to choose from) or clean (the reading of free answers)")
        return found


def values_by_part(
    kind: QuestionKind,
    question: QuestionSpec,
    stimulus: Stimulus,
    value: Any,
    source: Source,
    clean: Callable[[str, Any], Any],
    absent: Any = None,
) -> list[AnswerValue]:
    """A value per part. `absent` is the value of a part that a form leaves out; None: it must not leave any out."""

    def answer(where: str, part: str, each: Any) -> AnswerValue:
        return AnswerValue(question.key, question.kind, part, **{kind.storage: clean(where, each)})

    return answers_by_part(question, stimulus, value, source, answer, absent)


def answers_by_part(
    question: QuestionSpec,
    stimulus: Stimulus,
    value: Any,
    source: Source,
    clean: Callable[[str, str, Any], AnswerValue],
    absent: Any = None,
) -> list[AnswerValue]:
    """The same where an answer is more than one stored value: `clean` gets where it stands, its part and the value."""
    parts = parts_of(question, stimulus)
    if parts == [""] and not isinstance(value, Mapping):
        value = {"": value}
    if not isinstance(value, Mapping):
        raise BadValue(Problem("not_a_mapping", question.key))
    problems = [Problem("unknown_part", question.key, {"part": part}) for part in value if part not in parts]
    answers = []
    for part in parts:
        where = f"{question.key}.{part}" if part else question.key
        each = value.get(part)
        if each in (None, ""):
            if source != "form":
                continue
            if absent is None:
                if question.required:
                    problems.append(Problem("missing", where))
                continue
            each = absent
        try:
            answers.append(clean(where, part, each))
        except BadValue as bad:
            problems += bad.problems
    if problems:
        raise BadValue(*problems)
    return answers


def read_number(where: str, text: str) -> float:
    """A number as a form sends it."""
    try:
        return float(text)
    except ValueError:
        raise BadValue(Problem("not_a_number", where, {"value": text[:80]})) from None


def number_between(where: str, value: Any, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadValue(Problem("not_a_number", where, {"value": value}))
    if not low <= value <= high:  # also refuses NaN
        raise BadValue(Problem("out_of_range", where, {"value": value, "low": low, "high": high}))
    return float(value)
