"""The questions that a table's votes answer: the protocol's, and those that a new study asks besides."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluation.dumps.tables.column_names import ColumnRole, compared_by_name, plain_name
from evaluation.dumps.tables.judgments.cells import response_names, whose_column
from evaluation.dumps.tables.judgments.votes import Vote
from evaluation.dumps.tables.sheet import Sheet
from evaluation.dumps.tables.table_map import PER_RESPONSE, ColumnUse, TableMap
from evaluation.protocols import Kind, Over, Protocol, QuestionSpec
from evaluation.protocols.base import BOTH_BAD, FORM, TIE
from evaluation.protocols.kinds.scale import MAX_POINTS
from evaluation.protocols.requirements.questions import RESERVED

STEPS = (1, 0.5, 0.25, 0.1, 0.05)


class JudgedQuestions:
    """The question that each column of votes answers; what it offers is decided by what was said, once all votes are
    read."""

    def __init__(self, sheet: Sheet, table_map: TableMap, protocol: Protocol) -> None:
        self.map = table_map
        self.by_key = {each.key: each for each in protocol.default_questions()}
        # By column the key of its question, and the response that it is of, as `plain_name` writes it.
        self.by_column: dict[str, str] = {}
        self.whose: dict[str, str] = {}
        self._ties: set[str] = set()
        self._both_bad = False
        self._numbers: dict[str, set[float]] = {}
        self._choices: dict[str, dict[str, str]] = {}
        names = response_names(sheet, table_map)
        for use in self.map.named(ColumnRole.SCORE, ColumnRole.RANK, ColumnRole.LABEL):
            family, self.whose[use.column] = whose_column(use, names)
            self.by_column[use.column] = self._asked_by(use, family)
        for use in self.map.named(ColumnRole.WINNER):
            self.by_column[use.column] = self._preference(use.column)
        for use in self.map.named(ColumnRole.REASON):
            self.by_column[use.column] = self._reason(use.column)

    def _asked_by(self, use: ColumnUse, family: str) -> str:
        """The question that the column answers: the protocol's, or one that the new study asks besides."""
        if use.role == ColumnRole.RANK:
            own = [each.key for each in self.by_key.values() if each.kind == Kind.RANKING]
            return own[0] if own else self._new("ranking", Kind.RANKING, "Put the responses in order.", {})
        is_score = use.role == ColumnRole.SCORE
        kind = Kind.SCALE if is_score else Kind.CHOICE
        of_response = is_score or bool(self.whose[use.column]) or self.map.per == PER_RESPONSE
        over = Over.RESPONSE if of_response else Over.ITEM
        key = _slug(family)
        known = self.by_key.get(key)
        if known is not None and (known.kind, known.over) == (kind, over):
            return key
        prompt = family[:1].upper() + family[1:] if self.whose[use.column] else use.column
        return self._new(key, kind, prompt, {"over": str(over)})

    def _preference(self, column: str) -> str:
        """The question of which response is better: the one that the column names, or that of the whole; of a further
        column that names none, a question of its own."""
        own = [
            each.key
            for each in self.by_key.values()
            if each.kind == Kind.PREFERENCE and each.over == Over.ITEM
        ]
        taken = {*self.by_column.values()}
        aspect = compared_by_name(column)
        for key in (
            _slug(plain_name(column)),
            _slug(aspect),
            *(["overall", *own] if aspect in ("", "overall") else []),
        ):
            if key in own and key not in taken:
                return key
        if aspect or (taken & {*own}):
            return self._new(_slug(aspect or plain_name(column)), Kind.PREFERENCE, column, {"ties": False})
        return self._new("preference", Kind.PREFERENCE, "Which response is better overall?", {"ties": False})

    def _reason(self, column: str) -> str:
        if self.map.per == PER_RESPONSE:
            return self._new(_slug(plain_name(column)), Kind.TEXT, column[:300], {"over": str(Over.RESPONSE)})
        own = [each.key for each in self.by_key.values() if each.kind == Kind.TEXT and each.over == Over.ITEM]
        return own[0] if own else self._new("justification", Kind.TEXT, "Why?", {})

    def _new(self, key: str, kind: Kind, prompt: str, form: Mapping[str, Any]) -> str:
        wanted, number = key, 1
        while key in self.by_key or key in RESERVED:
            number += 1
            key = f"{wanted}_{number}"
        required = kind != Kind.TEXT
        self.by_key[key] = QuestionSpec(key, kind, prompt[:300], required=required, options={FORM: {**form}})
        return key

    def as_json(self, given: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The new study's questions, those that it is given first, by what the votes were that have been read: ties and
        “both bad” where somebody said them, a scale from the least score to the greatest, a choice of all labels."""
        known = {each["key"]: QuestionSpec.from_json(each) for each in given}
        return [self._complete(known.get(key, each)).as_json() for key, each in self.by_key.items()]

    def _complete(self, question: QuestionSpec) -> QuestionSpec:
        form, options = dict(question.form), dict(question.options)
        if question.kind == Kind.PREFERENCE and self._both_bad:
            form["both_bad"] = True
        if question.key in self._ties and not question.ties:
            form["ties"] = True
            options.setdefault(TIE, "Tie")
        if question.key in self._numbers:
            form |= _scale(self._numbers[question.key])
        if question.key in self._choices:
            choices = self._choices[question.key]
            form["choices"] = list(choices.values())
            options |= {value: text for text, value in choices.items()}
        return replace(question, options={**options, FORM: form} if form else options)

    # --- what the votes say -------------------------------------------------------------------------------------------
    def tie(self, key: str, tie: str) -> str:
        """Offer the tie, and return it."""
        self._ties.add(key)
        self._both_bad = self._both_bad or tie == BOTH_BAD
        return tie

    def number(self, key: str, value: float) -> None:
        self._numbers.setdefault(key, set()).add(value)

    def choice(self, key: str, text: str) -> str:
        """The value of a label: itself where it can be one."""
        choices = self._choices.setdefault(key, {})
        if text not in choices:
            value = re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-")[:28] or "label"
            taken, number = {*choices.values()}, 1
            while value in taken:
                number += 1
                value = f"{value.rsplit('-', 1)[0] if number > 2 else value}-{number}"
            choices[text] = value
        return choices[text]

    def finish(self, vote: Vote) -> None:
        """Take from a vote whose rows are all read what the study has to offer."""
        for key, value in vote.answers.items():
            if self.by_key[key].kind == Kind.RANKING and len({*value.values()}) < len(value):
                self._ties.add(key)


def _scale(values: set[float]) -> dict[str, Any]:
    """A scale that holds the values, on the coarsest points that they lie on, or else on as many as there can be."""
    low, high = math.floor(min(values)), math.ceil(max(values))
    high += low == high
    for step in STEPS:
        on_points = all(abs((value - low) / step - round((value - low) / step)) < 1e-6 for value in values)
        if on_points and (high - low) / step < MAX_POINTS:
            return {"low": low, "high": high, "step": step, "direction": "higher"}
    for step in (*reversed(STEPS), *(number * 10**power for power in range(10) for number in (2, 5, 10))):
        ends = [math.floor(low / step) * step, math.ceil(high / step) * step] if step > 1 else [low, high]
        if (ends[1] - ends[0]) / step < MAX_POINTS:
            break
    return {"low": ends[0], "high": ends[1], "step": step, "direction": "higher"}


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text).strip("_")[:50] or "answer"
