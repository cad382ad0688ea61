"""Shares with chosen values in the denominator, which a study names for its report.

Such as precision: of the claims whose answer to one question is that they are relevant, those whose answer to another
is that they are correct; or, of a single question, “supported” among “supported” and “contradicted”.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.protocols.base import Kind, Over, Problem, QuestionSpec, Shown, option_key
from evaluation.protocols.kinds import KINDS

MAX_SHARES = 20
MAX_LABEL = 80
KEY = re.compile(r"[-a-zA-Z0-9_]{1,60}")
PARTS = frozenset({"key", "label", "of", "among"})
SIDES = ("of", "among")
# The answers of a list that asks yes or no, by name.
CHECKS = ("no", "yes")


@dataclass(frozen=True)
class ChosenValues:
    """A question's key, and the values of its answers that are meant, as options name them ("supported", "4")."""

    question: str
    values: tuple[str, ...]

    def numbers(self, question: QuestionSpec) -> frozenset[float]:
        """The values as figures count with them: points of a scale, the places of labels."""
        named = zip(value_names(question), KINDS[question.kind].points(question), strict=True)
        return frozenset(number for name, number in named if name in self.values)


@dataclass(frozen=True)
class NamedShare:
    """The share of what has a value of `of` in what has a value of `among`: of every rater's answers about the same."""

    key: str
    label: str
    of: ChosenValues
    among: ChosenValues


def read_shares(given: Iterable[Mapping[str, Any]]) -> tuple[NamedShare, ...]:
    """The shares in a spec or a study, which have no problems."""
    return tuple(
        NamedShare(each["key"], each["label"], *(_chosen(each[side]) for side in SIDES)) for each in given
    )


def value_names(question: QuestionSpec) -> list[str]:
    """The values that a question offers, as a share names them."""
    offered = KINDS[question.kind].offers(question)
    if question.kind == Kind.CHECKLIST:
        return [CHECKS[each] for each in offered]
    # Points are low + k * step, so that the third tenth is not quite 0.3.
    return [option_key(round(each, 9) if isinstance(each, float) else each) for each in offered]


def find_share_problems(
    given: Any, questions: Sequence[QuestionSpec], *, compares_pairs: bool
) -> Iterator[Problem]:
    """The problems of a study's shares. `compares_pairs` is true where all of its items have two responses, whose
    satisfied follow-ups are counted with the preference."""
    if not isinstance(given, list) or not all(isinstance(each, Mapping) for each in given):
        yield Problem("shares_list", "shares")
        return
    if len(given) > MAX_SHARES:
        yield Problem("shares_number", "shares", {"limit": MAX_SHARES, "found": len(given)})
    known = {question.key: question for question in questions}
    seen: set[str] = set()
    for number, each in enumerate(given, 1):
        key = each.get("key")
        if not isinstance(key, str) or not KEY.fullmatch(key):
            yield Problem("share_key", f"shares.{number}")
            continue
        where = f"shares.{key}"
        if key in seen:
            yield Problem("share_twice", where)
        seen.add(key)
        wrong = list(_shape_problems(each))
        yield from (Problem(problem.code, where, problem.params) for problem in wrong)
        if not wrong:
            (share,) = read_shares([each])
            found = _problems(share, known, compares_pairs=compares_pairs)
            yield from (Problem(problem.code, where, problem.params) for problem in found)


def _chosen(given: Mapping[str, Any]) -> ChosenValues:
    return ChosenValues(given["question"], tuple(option_key(value) for value in given["values"]))


def _shape_problems(given: Mapping[str, Any]) -> Iterator[Problem]:
    for name in given.keys() - PARTS:
        yield Problem("share_unknown", "", {"name": name})
    label = given.get("label")
    # The design form has one share per line, with bars between its parts: what it can't show it would change.
    if not isinstance(label, str) or not is_share_label(label):
        yield Problem("share_label", "", {"limit": MAX_LABEL})
    yield from (Problem("share_side", "", {"side": side}) for side in SIDES if not _is_side(given.get(side)))


def _is_side(chosen: object) -> bool:
    return (
        isinstance(chosen, Mapping)
        and chosen.keys() == {"question", "values"}
        and isinstance(chosen["question"], str)
        and _are_values(chosen["values"])
    )


def is_share_label(label: str) -> bool:
    return bool(0 < len(label) <= MAX_LABEL and label.splitlines() == [label.strip()] and "|" not in label)


def _are_values(values: object) -> bool:
    return (
        isinstance(values, list)
        and bool(values)
        and all(isinstance(each, str | int | float) and not isinstance(each, bool) for each in values)
    )


def _problems(
    share: NamedShare, known: Mapping[str, QuestionSpec], *, compares_pairs: bool
) -> Iterator[Problem]:
    missing = [each.question for each in (share.of, share.among) if each.question not in known]
    for key in dict.fromkeys(missing):
        names = ", ".join(known) or "none"
        yield Problem("share_question", "", {"question": key, "known": names})
    if missing:
        return
    of, among = known[share.of.question], known[share.among.question]
    wrong = [
        problem
        for chosen in dict.fromkeys([share.of, share.among])
        for problem in _side_problems(chosen, known[chosen.question], compares_pairs=compares_pairs)
    ]
    yield from wrong
    if wrong:
        return
    if of.over != among.over:
        yield Problem("share_parts", "", {"of": of.key, "among": among.key})
    if {of.shown, among.shown} == {Shown.WITH_CONTEXT, Shown.WITHOUT_CONTEXT}:
        yield Problem("share_arms", "", {"of": of.key, "among": among.key})
    if of.key == among.key:
        outside = [value for value in share.of.values if value not in share.among.values]
        for value in outside:
            yield Problem("share_outside", "", {"value": value})
        if not outside and set(share.among.values) <= set(share.of.values):
            yield Problem("share_always", "")


def _side_problems(
    chosen: ChosenValues, question: QuestionSpec, *, compares_pairs: bool
) -> Iterator[Problem]:
    if question.kind not in (Kind.CHOICE, Kind.SCALE, Kind.CHECKLIST):
        yield Problem("share_kind", "", {"question": question.key, "kind": question.kind})
    elif question.over == Over.CHOICE:
        yield Problem("share_tags", "", {"question": question.key})
    elif compares_pairs and question.kind == Kind.CHECKLIST and question.over == Over.FOLLOW_UP_RESPONSE:
        yield Problem("share_satisfied", "", {"question": question.key})
    else:
        offered = value_names(question)
        for value in chosen.values:
            if value not in offered:
                params = {"value": value, "question": question.key, "choices": ", ".join(offered)}
                yield Problem("share_value", "", params)
