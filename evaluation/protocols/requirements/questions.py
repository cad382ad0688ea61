"""Checks that a question, as a researcher or a dump describes it, can be asked at all."""

from collections.abc import Iterator

from evaluation.protocols.base import DIRECTIONS, FORM, Kind, Problem, QuestionSpec
from evaluation.protocols.kinds import KINDS
from evaluation.protocols.kinds.choice import VALUE
from evaluation.protocols.kinds.preference import GRADED
from evaluation.protocols.kinds.scale import NUMBERS

# A required text of fewer characters is too short to say anything.
SHORT_TEXT = 15
# What a form sends beside its answers (`evaluation.forms.input`): a question of that key could never be answered.
RESERVED = frozenset({"visible_ms", "problem_note", "trace", "round"})
KNOWN = {*NUMBERS, "direction", "over", "choices", "groups", "ties", "flag", "points"}


def find_question_problems(question: QuestionSpec) -> list[Problem]:
    """All problems of how the question is to be answered."""
    where = f"questions.{question.key}"
    if question.key in RESERVED:
        return [Problem("key_reserved", where, {"key": question.key})]
    form = question.options.get(FORM, {})
    if not isinstance(form, dict):
        return [Problem("form_no_object", where)]
    return [Problem(problem.code, where, problem.params) for problem in _problems(question)]


def _problems(question: QuestionSpec) -> Iterator[Problem]:
    form, kind = question.form, KINDS[question.kind]
    for name in form.keys() - KNOWN - kind.own_settings:
        yield Problem("form_unknown", "", {"name": name})
    over = form.get("over", question.over if "over" not in form else None)
    if over not in [str(each) for each in kind.overs]:
        choices = ", ".join(sorted(kind.overs))
        yield Problem("form_over", "", {"over": over, "kind": question.kind, "choices": choices})
        return
    if "points" in form and (question.kind != Kind.PREFERENCE or not _is_graded(form["points"])):
        yield Problem("preference_points", "")
    if "direction" in form and not _has_direction(question):
        yield Problem("scale_direction", "")
    yield from kind.find_problems(question)
    if "groups" in form and not _are_groups(form["groups"], form.get("choices")):
        yield Problem("choice_groups", "")


def _is_graded(points: object) -> bool:
    return isinstance(points, int) and points in GRADED


def _has_direction(question: QuestionSpec) -> bool:
    return question.kind == Kind.SCALE and question.form["direction"] in DIRECTIONS and question.ideal is None


def _are_groups(groups: object, choices: object) -> bool:
    """True for an object from choices to groups; not every choice needs one."""
    return isinstance(groups, dict) and all(
        isinstance(choices, list) and key in choices and isinstance(name, str) and VALUE.fullmatch(name)
        for key, name in groups.items()
    )
