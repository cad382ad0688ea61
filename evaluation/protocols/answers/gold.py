"""Gold: the values that an item's answers should have, where somebody has said so.

{question: value} or {question: {part: value}}; a list of values accepts each of them. "note" is the explanation that
training shows.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.protocols.answers.parts import parts_of
from evaluation.protocols.base import (
    AnswerValue,
    Comparison,
    Data,
    GoldResult,
    Kind,
    Over,
    Problem,
    QuestionSpec,
    Stimulus,
    option_key,
)
from evaluation.protocols.kinds import KINDS

NOTE = "note"
GRADE = re.compile(r"-?\d+(\.\d+)?")


def accepted_values(gold: Data) -> dict[tuple[str, str], tuple[str, ...]]:
    """The accepted values as options name them, by question and part."""
    found = {}
    for key, wanted in gold.items():
        if key == NOTE:
            continue
        by_part = wanted if isinstance(wanted, Mapping) else {"": wanted}
        for part, value in by_part.items():
            found[(key, part)] = tuple(option_key(each) for each in _as_list(value))
    return found


def compare_all(gold: Data, answers: Sequence[AnswerValue]) -> GoldResult:
    """Each gold value beside what was given; passed where all are right."""
    given = {(answer.question, answer.part): answer for answer in answers}
    comparisons = tuple(
        Comparison(question, part, accepted, given_value(given.get((question, part)), accepted))
        for (question, part), accepted in accepted_values(gold).items()
    )
    return GoldResult(comparisons, all(each.correct for each in comparisons), str(gold.get(NOTE, "")))


def given_value(answer: AnswerValue | None, accepted: Sequence[str]) -> str | None:
    """The answer as options name it: a graded preference by its grade where the gold names one, else by its label."""
    if answer is None:
        return None
    if answer.number is None or (answer.label is not None and not _names_grade(answer.label, accepted)):
        return answer.label
    return option_key(answer.number)


def _names_grade(label: str, accepted: Sequence[str]) -> bool:
    return label not in accepted and any(GRADE.fullmatch(each) for each in accepted)


def find_gold_problems(questions: Sequence[QuestionSpec], stimulus: Stimulus, gold: Data) -> list[Problem]:
    """Problems that keep gold from being compared with answers to these questions."""
    by_key = {question.key: question for question in questions}
    problems = [
        Problem("unknown_question", f"gold.{key}") for key in gold if key not in by_key and key != NOTE
    ]
    known = {key: wanted for key, wanted in gold.items() if key in by_key}
    for key, wanted in known.items():
        problems += _question_problems(by_key[key], stimulus, wanted)
    if not known and not problems:
        problems.append(Problem("gold_empty", "gold"))
    return problems


def _question_problems(question: QuestionSpec, stimulus: Stimulus, wanted: Any) -> list[Problem]:
    where = f"gold.{question.key}"
    kind = KINDS[question.kind]
    if not kind.has_gold:
        return [Problem("gold_unanswerable", where, {"question": question.prompt})]
    if question.over == Over.ITEM:
        problems = kind.find_gold_problems(question, stimulus, {"": _as_list(wanted)})
        return [Problem(problem.code, where, problem.params) for problem in problems]
    if not isinstance(wanted, Mapping):
        return [Problem("not_a_mapping", where)]
    parts = parts_of(question, stimulus)
    unknown = [Problem("unknown_part", where, {"part": part}) for part in wanted if part not in parts]
    known = {part: _as_list(value) for part, value in wanted.items() if part in parts}
    problems = (
        []
        if unknown and question.kind == Kind.RANKING
        else kind.find_gold_problems(question, stimulus, known)
    )
    return unknown + [Problem(each.code, f"gold.{each.where}", each.params) for each in problems]


def _as_list(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
