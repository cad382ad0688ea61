"""The judgments and answers of an answers frame, as they stand in the database."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analytics.frames.arrays import RESPONSE
from analytics.frames.pairs import places
from analytics.statistics.core.tidy import Bools, Floats, Ints
from analytics.statistics.preferences.best_picks import NO_PICK
from evaluation.database.columns import CodedColumn, Columns, ColumnType, read_columns
from evaluation.models import Answer, Judgment, Role, Study
from evaluation.protocols import Kind, QuestionSpec
from evaluation.protocols.kinds import KINDS
from evaluation.selectors import countable_q

TIE = "tie"
DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, eq=False)
class Asked:
    """All answers to one question; `judgment` is the row of the judgment, `part` codes `parts`."""

    question: QuestionSpec
    parts: tuple[str, ...]
    judgment: Ints
    part: Ints
    value: Floats


def read_judgments(study: Study, pks: npt.NDArray[np.int64]) -> tuple[pd.DataFrame, Ints, CodedColumn]:
    """One row per counting judgment of these items, their primary keys, ascending, and the orders shown."""
    types = dict.fromkeys(("pk", "item_id", "rater_id", "replicate"), ColumnType.WHOLE) | {
        "shown": ColumnType.CODED
    }
    found = Judgment.objects.filter(countable_q(study), item__role=Role.MAIN, item__withdrawn_at=None)
    table = read_columns(found.order_by("pk"), types)
    row, known = places(pks, table.array("item_id"))
    shown = table.coded("shown")
    frame = pd.DataFrame(
        {
            "item": row,
            "rater": table.array("rater_id"),
            "replicate": table.array("replicate"),
            "shown": shown.codes,
        }
    )[known].reset_index(drop=True)
    return frame, table.array("pk")[known], shown


def read_answers(study: Study, questions: Sequence[QuestionSpec], judgments: Ints) -> Mapping[str, Asked]:
    """The answers to each question; `judgment` is the row of theirs."""
    found: dict[str, Asked] = {}
    counted = [question for question in questions if KINDS[question.kind].rule is not None]
    for field, type_ in (("number", ColumnType.NUMBER), ("label", ColumnType.CODED)):
        wanted = [question for question in counted if KINDS[question.kind].storage == field]
        if not wanted:
            continue
        keys, kinds = [question.key for question in wanted], {question.kind for question in wanted}
        answers = Answer.objects.filter(countable_q(study, "judgment__"), kind__in=kinds, question__in=keys)
        types = {
            "judgment_id": ColumnType.WHOLE,
            "question": ColumnType.CODED,
            "part": ColumnType.CODED,
            field: type_,
        }
        table = read_columns(answers, types)
        row, known = places(judgments, table.array("judgment_id"))
        for question in wanted:
            found[question.key] = _asked(question, table, row, known, field)
    return found


def _asked(question: QuestionSpec, table: Columns, row: Ints, known: Bools, field: str) -> Asked:
    asked, part = table.coded("question"), table.coded("part")
    mine = known.copy()
    if question.key in asked.values:
        mine &= asked.codes == asked.values.index(question.key)
    else:
        mine[:] = False
    used = sorted({part.values[code] for code in np.unique(part.codes[mine])}, key=_part_order(question))
    place = {key: at for at, key in enumerate(used)}
    parts = np.array([place.get(key, 0) for key in part.values], dtype=np.int64)
    if field == "number":
        value = table.array("number")[mine]
    else:
        label = table.coded("label")
        meaning = np.array([_label_code(question, each) for each in label.values], dtype=np.float64)
        value = meaning[label.codes[mine]] if len(meaning) else np.zeros(0)
    return Asked(question, tuple(used), row[mine], parts[part.codes[mine]], value)


def _part_order(question: QuestionSpec) -> Any:
    """Tags as the form has them, other parts by their numbers."""
    choices = {choice: at for at, choice in enumerate(question.choices)}
    return lambda part: (
        choices.get(part, len(choices)),
        [(int(each), "") if each.isdigit() else (-1, each) for each in DIGITS.split(part)],
    )


def _label_code(question: QuestionSpec, label: str) -> int:
    if question.kind != Kind.PREFERENCE:
        offered = KINDS[question.kind].offers(question)
        return offered.index(label) if label in offered else -1
    return NO_PICK if label == TIE or not RESPONSE.search(label) else int(label[1:]) - 1
