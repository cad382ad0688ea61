"""The protocol: the one place where a kind of task is described."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from evaluation.protocols.answers.gold import compare_all, find_gold_problems
from evaluation.protocols.answers.values import clean_value
from evaluation.protocols.attributes import Attributes, AttributeSpec, attributes_of, find_attribute_problems
from evaluation.protocols.base import (
    AnswersInvalid,
    AnswerValue,
    Data,
    GoldResult,
    Kind,
    Over,
    Problem,
    QuestionSpec,
    Shown,
    Source,
    Spec,
    Stimulus,
    sees_context,
)
from evaluation.protocols.requirements.questions import find_question_problems
from evaluation.protocols.requirements.shares import find_share_problems
from evaluation.protocols.texts import Translate


class Protocol:
    """A kind of task. Subclasses say their questions, what an item needs, their guideline and how gold is compared."""

    key: ClassVar[str]
    label: ClassVar[str]
    # Arranges the question partials; a protocol without its own uses the plain one.
    template: ClassVar[str] = "evaluation/protocols/_plain.html"
    # Whether who judges is told what the person who asked was looking for.
    shows_information_need: ClassVar[bool] = False
    # Whether every item has two responses, so that a preference compares systems: it may be graded, and has win rates.
    compares_pairs: ClassVar[bool] = False
    # Keys of the headings that stand first in its report, if not in the usual order (see `analytics.figures.headings`).
    headings: ClassVar[tuple[str, ...]] = ()
    # Whether who judges is shown the query's documents.
    shows_documents: ClassVar[bool] = False
    # Whether responses are drafted sets of entries, written as JSON, rather than texts.
    drafts_entries: ClassVar[bool] = False
    # The fewest and the most responses that its items may have.
    response_counts: ClassVar[tuple[int, int]] = (1, 10)
    # What else each of its items needs, by the names that tables' columns have (`evaluation.dumps.tables`).
    needed_columns: ClassVar[tuple[str, ...]] = ()
    # Whether a study has a list of attributes, which items may name instead of bringing their values.
    has_attributes: ClassVar[bool] = False
    # Whether a study says itself what an item needs (`evaluation.protocols.requirements.needs`).
    has_needs: ClassVar[bool] = False

    @abstractmethod
    def default_questions(self) -> tuple[QuestionSpec, ...]:
        """The questions that a new study begins with, in the order of the form."""

    @abstractmethod
    def default_texts(self) -> dict[str, str]:
        """The study's texts by key, Markdown: consent, instructions, guideline, guideline_context, thanks."""

    def default_attributes(self) -> tuple[AttributeSpec, ...]:
        """The attributes that a new study begins with."""
        return ()

    @abstractmethod
    def check_item(self, spec: Spec, stimulus: Stimulus) -> list[Problem]:
        """The problems that keep this item from being judged."""

    def compare_gold(self, stimulus: Stimulus, gold: Data, answers: Sequence[AnswerValue]) -> GoldResult:
        """Every value that the gold names must be given; {question: value, list of values, or either per part}."""
        return compare_all(gold, answers)

    def gold_problems(self, spec: Spec, stimulus: Stimulus, gold: Data) -> list[Problem]:
        """Problems with an item's gold."""
        return find_gold_problems(self.questions(spec, stimulus), stimulus, gold)

    def spec_problems(self, spec: Spec) -> list[Problem]:
        """Problems with a study's questions, before any item is looked at."""
        questions = [QuestionSpec.from_json(data) for data in spec["questions"]]
        problems = [problem for question in questions for problem in find_question_problems(question)]
        problems += [
            Problem("part_not_shown", f"questions.{question.key}")
            for question in questions
            if not self.has_needs and _is_of_own_forms(question)
        ]
        problems += self._attribute_problems(attributes_of(spec))
        needs = spec.get("needs") or {}
        if needs and not self.has_needs:
            problems.append(Problem("needs_unused", "needs"))
        # What a share is of can only be looked at where it can be asked.
        if not problems:
            compares = self.compares(needs)
            problems += find_share_problems(spec.get("shares", []), questions, compares_pairs=compares)
        if self.compares(needs):
            return problems
        return problems + [
            Problem(code, f"questions.{question.key}")
            for question in questions
            if question.kind == Kind.PREFERENCE
            for setting, code in (("points", "preference_of_two"), ("both_bad", "both_bad_of_two"))
            if question.form.get(setting)
        ]

    def compares(self, needs: Mapping[str, Any]) -> bool:
        """True if all items of a study with these needs have two responses (see `compares_pairs`)."""
        return self.compares_pairs

    def document_name(self, spec: Spec) -> str:
        """The name of the text that responses are held against, as it stands above its place; empty without one."""
        return ""

    def _attribute_problems(self, attributes: Attributes) -> list[Problem]:
        if attributes and not self.has_attributes:
            return [Problem("attributes_unused", "attributes")]
        return find_attribute_problems(attributes)

    def advice(self, redundancy: int, fewest_responses: Callable[[], int]) -> list[str]:
        """Warnings to read before launching a study with this many judgments per item.

        `fewest_responses` counts those of the item that has fewest; it is called where it matters.
        """
        return []

    def questions(self, spec: Spec, stimulus: Stimulus) -> list[QuestionSpec]:
        """The questions that this stimulus's arm asks, in the order of the form."""
        with_context = sees_context(spec, stimulus)
        wanted = (Shown.ALWAYS, Shown.WITH_CONTEXT if with_context else Shown.WITHOUT_CONTEXT)
        return [QuestionSpec.from_json(data) for data in spec["questions"] if data["shown"] in wanted]

    def guideline(self, spec: Spec, *, with_context: bool, translate: Translate = str) -> str:
        """The text that people read and judges are prompted with; of the study's own nothing is translated."""
        texts = spec["texts"]
        general: str = texts.get("guideline", "")
        extra: str = texts.get("guideline_context", "") if with_context else ""
        own = "\n\n".join(text for text in (general, extra) if text)
        return own or self.written_guideline(spec, with_context=with_context, translate=translate)

    def written_guideline(self, spec: Spec, *, with_context: bool, translate: Translate) -> str:
        """The guideline of a study that has none of its own."""
        return ""

    def clean(
        self, spec: Spec, stimulus: Stimulus, data: Data, *, source: Source = "form"
    ) -> list[AnswerValue]:
        """The answers in `data` ({question: value} or {question: {part: value}}), or AnswersInvalid with every problem.

        A form must answer every required question; an import or a judge at least one question.
        """
        questions = {question.key: question for question in self.questions(spec, stimulus)}
        problems = [Problem("unknown_question", key) for key in data if key not in questions]
        answers: list[AnswerValue] = []
        for key, question in questions.items():
            value = data.get(key)
            if value is None:
                if source != "form" or not (question.required or _is_ticked(question)):
                    continue
                value = "" if question.over == Over.ITEM and not _is_ticked(question) else {}
            found, wrong = clean_value(question, stimulus, value, source)
            answers += found
            problems += _as_missing(wrong, value)
        if not answers and not problems:
            problems.append(Problem("nothing", ""))
        if problems:
            raise AnswersInvalid(problems)
        return answers


def _is_of_own_forms(question: QuestionSpec) -> bool:
    """True of questions over parts that only a form of one's own shows."""
    of_follow_ups = question.kind == Kind.PREFERENCE and question.over == Over.FOLLOW_UP
    return of_follow_ups or question.over in (Over.TURN, Over.TURN_RESPONSE, Over.CLAIM)


def _is_ticked(question: QuestionSpec) -> bool:
    """True for checkboxes, of which a form sends only the ticked ones."""
    return question.kind == Kind.CHECKLIST and (question.is_flag or question.over == Over.CHOICE)


def _as_missing(problems: list[Problem], value: Any) -> list[Problem]:
    """Report an empty value as missing, whatever problems its kind finds."""
    if value != "":
        return problems
    return [Problem("missing", problem.where) for problem in problems]
