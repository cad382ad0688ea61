"""The protocol: the one place where a kind of task is described."""

from collections.abc import Sequence
from typing import Any, ClassVar

from evaluation.protocols.base import (
    AnswersInvalid,
    AnswerValue,
    Data,
    GoldResult,
    Problem,
    Question,
    Shown,
    Source,
    Spec,
    Stimulus,
    sees_context,
)
from evaluation.protocols.values import clean_value


class Protocol:
    """A kind of task. Subclasses say their questions, what an item needs, their guideline and how gold is compared."""

    key: ClassVar[str]
    label: ClassVar[str]
    # Arranges the question partials; a protocol without its own uses the plain one.
    template: ClassVar[str] = "evaluation/protocols/_plain.html"
    # Which parts of the report apply.
    analyses: ClassVar[frozenset[str]] = frozenset()

    def default_questions(self) -> tuple[Question, ...]:
        raise NotImplementedError(self.key)

    def default_texts(self) -> dict[str, str]:
        """The study's texts by key, Markdown: consent, instructions, guideline, guideline_context, thanks."""
        raise NotImplementedError(self.key)

    def check_item(self, spec: Spec, stimulus: Stimulus) -> list[Problem]:
        """What keeps this item from being judged."""
        raise NotImplementedError(self.key)

    def compare_gold(self, gold: Data, answers: Sequence[AnswerValue]) -> GoldResult:
        raise NotImplementedError(self.key)

    def gold_problems(self, spec: Spec, stimulus: Stimulus, gold: Data) -> list[Problem]:
        """What is wrong with an item's gold."""
        raise NotImplementedError(self.key)

    def questions(self, spec: Spec, stimulus: Stimulus) -> list[Question]:
        """The questions that this stimulus's arm asks, in the order of the form."""
        with_context = sees_context(spec, stimulus)
        wanted = {Shown.ALWAYS, Shown.WITH_CONTEXT if with_context else Shown.WITHOUT_CONTEXT}
        questions = (Question.from_json(data) for data in spec["questions"])
        return [question for question in questions if question.shown in wanted]

    def guideline(self, spec: Spec, *, with_context: bool) -> str:
        """The text that people read and judges are prompted with."""
        texts = spec["texts"]
        general: str = texts.get("guideline", "")
        extra: str = texts.get("guideline_context", "") if with_context else ""
        return "\n\n".join(text for text in (general, extra) if text)

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
                if question.required and source == "form":
                    value = {} if question.kind == "checklist" else ""
                else:
                    continue
            found, wrong = clean_value(question, stimulus, value, source)
            answers += found
            problems += _as_missing(wrong, value)
        if not answers and not problems:
            problems.append(Problem("nothing", ""))
        if problems:
            raise AnswersInvalid(problems)
        return answers


def _as_missing(problems: list[Problem], value: Any) -> list[Problem]:
    """An empty value is missing, whatever its kind would say of it."""
    if value != "":
        return problems
    return [Problem("missing", problem.where) for problem in problems]
