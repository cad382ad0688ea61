"""A study's raters, counting judgments and their answers, as they stand in the database."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analytics.frames.arrays import RESPONSE, StudyItems
from analytics.frames.items import read_items
from analytics.statistics.core.tidy import MISSING, Bools, Floats, Ints
from analytics.statistics.preferences.best_picks import NO_PICK
from evaluation.database.columns import Columns, ColumnType, read_columns
from evaluation.models import Answer, Judgment, Rater, Role, Study
from evaluation.protocols import Kind, QuestionSpec
from evaluation.protocols.kinds import KINDS
from evaluation.selectors import countable_q

TIE = "tie"
# What a preference between two responses is counted as.
LABELS = {"r1": 0, "r2": 1, TIE: 2}
# Key and kind of the group of all judges, whose members are groups of their own too.
JUDGES = "judges"
# How replicates are reduced where a rater's `about` does not say.
DEFAULT_RULE = "majority"
# A judge that is asked in both orders has the two of a sample in replicates 2k and 2k + 1.
ORDERS_PER_SAMPLE = 2
DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, eq=False)
class Asked:
    """All answers to one question; `judgment` is the row of the judgment, `part` codes `parts`.

    `number` stands beside the labels of preferences: a probability or a grade, nan without one.
    """

    question: QuestionSpec
    parts: tuple[str, ...]
    judgment: Ints
    part: Ints
    value: Floats
    number: Floats | None = None

    def where(self, mask: Bools) -> "Asked":
        number = None if self.number is None else self.number[mask]
        return replace(
            self, judgment=self.judgment[mask], part=self.part[mask], value=self.value[mask], number=number
        )


@dataclass(frozen=True)
class KnownRater:
    """A rater as frames know it."""

    pseudonym: str
    label: str
    kind: str
    rule: str
    heuristic: bool = False


@dataclass(frozen=True, eq=False)
class StudyRows:
    """The counting judgments of a study's main items that are not withdrawn, and who gave them.

    `judgments` has a row per judgment, by its primary key: its `item`, a row of `items`, its `rater`, its `replicate`
    and `shown`, the code of the order in which responses were shown. `item_pks` and `judgment_pks` ascend.
    """

    study: Study
    items: StudyItems
    item_pks: Ints
    raters: Mapping[int, KnownRater]
    judgments: pd.DataFrame
    judgment_pks: Ints
    shown: tuple[str, ...]


def read_rows(study: Study) -> StudyRows:
    items, item_pks = read_items(study)
    types = dict.fromkeys(("pk", "item_id", "rater_id", "replicate"), ColumnType.WHOLE) | {
        "shown": ColumnType.CODED
    }
    found = Judgment.objects.filter(countable_q(study), item__role=Role.MAIN, item__withdrawn_at=None)
    table = read_columns(found.order_by("pk"), types)
    row, known = places(item_pks, table.array("item_id"))
    shown = table.coded("shown")
    judgments = pd.DataFrame(
        {
            "item": row,
            "rater": table.array("rater_id"),
            "replicate": table.array("replicate"),
            "shown": shown.codes,
        }
    )[known].reset_index(drop=True)
    return StudyRows(
        study, items, item_pks, _raters(study), judgments, table.array("pk")[known], shown.values
    )


def _raters(study: Study) -> dict[int, KnownRater]:
    rows = study.raters.order_by("pk").values_list("pk", "pseudonym", "label", "kind", "about")
    return {
        pk: KnownRater(
            pseudonym,
            label or pseudonym,
            kind,
            about.get("reduction") or DEFAULT_RULE,
            bool(about.get("heuristic")),
        )
        for pk, pseudonym, label, kind, about in rows
    }


def memberships(
    raters: Mapping[int, KnownRater], present: set[int]
) -> Iterator[tuple[str, str, str, list[int]]]:
    """People together, simulated raters together and apart from people, judges together and each alone.

    Together are the judges that are `present` in the figures: of preferences, one that was only asked for checklists
    adds none. A heuristic is no judge.
    """
    for kind, label in ((Rater.Kind.PERSON, "People"), (Rater.Kind.SIMULATED, "Simulated raters")):
        members = [pk for pk, rater in raters.items() if rater.kind == kind]
        if members:
            yield str(kind), label, str(kind), members
    judges = {pk: rater for pk, rater in raters.items() if rater.kind == Rater.Kind.JUDGE}
    together = [pk for pk, rater in judges.items() if pk in present and not rater.heuristic]
    if len(together) > 1:
        yield JUDGES, "Judges together", JUDGES, together
    for pk, rater in judges.items():
        yield rater.pseudonym, rater.label, rater.kind, [pk]


def places(
    ascending: npt.NDArray[Any], wanted: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The place of each wanted value, and a mask of those that are there."""
    if not len(ascending):
        return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=bool)
    place = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    return place, ascending[place] == wanted


def read_answers(
    rows: StudyRows, questions: Sequence[QuestionSpec], *, pairs: bool = False
) -> dict[str, Asked]:
    """The answers to each question. Of `pairs` the value of a preference is a code of LABELS."""
    found: dict[str, Asked] = {}
    counted = [question for question in questions if KINDS[question.kind].rule is not None]
    for field in ("number", "label"):
        wanted = [question for question in counted if KINDS[question.kind].storage == field]
        if not wanted:
            continue
        keys, kinds = [question.key for question in wanted], {question.kind for question in wanted}
        answers = Answer.objects.filter(
            countable_q(rows.study, "judgment__"), kind__in=kinds, question__in=keys
        )
        types = {
            "judgment_id": ColumnType.WHOLE,
            "question": ColumnType.CODED,
            "part": ColumnType.CODED,
            "number": ColumnType.NUMBER,
        }
        table = read_columns(answers, types | ({"label": ColumnType.CODED} if field == "label" else {}))
        row, known = places(rows.judgment_pks, table.array("judgment_id"))
        for question in wanted:
            found[question.key] = _asked(question, table, row, known, field, pairs=pairs)
    return found


def _asked(
    question: QuestionSpec, table: Columns, row: Ints, known: Bools, field: str, *, pairs: bool
) -> Asked:
    asked, part = table.coded("question"), table.coded("part")
    mine = known.copy()
    if question.key in asked.values:
        mine &= asked.codes == asked.values.index(question.key)
    else:
        mine[:] = False
    used = sorted({part.values[code] for code in np.unique(part.codes[mine])}, key=_part_order(question))
    place = {key: at for at, key in enumerate(used)}
    parts = np.array([place.get(key, 0) for key in part.values], dtype=np.int64)
    number = table.array("number")[mine]
    if field == "number":
        return Asked(question, tuple(used), row[mine], parts[part.codes[mine]], number)
    label = table.coded("label")
    meaning = np.array([_label_code(question, each, pairs=pairs) for each in label.values], dtype=np.float64)
    value = meaning[label.codes[mine]] if len(meaning) else np.zeros(0)
    return Asked(question, tuple(used), row[mine], parts[part.codes[mine]], value, number)


def _part_order(question: QuestionSpec) -> Any:
    """Tags as the form has them, other parts by their numbers."""
    choices = {choice: at for at, choice in enumerate(question.choices)}
    return lambda part: (
        choices.get(part, len(choices)),
        [(int(each), "") if each.isdigit() else (-1, each) for each in DIGITS.split(part)],
    )


def _label_code(question: QuestionSpec, label: str, *, pairs: bool) -> int:
    if question.kind != Kind.PREFERENCE:
        offered = KINDS[question.kind].offers(question)
        return offered.index(label) if label in offered else -1
    if pairs:
        return LABELS.get(label, MISSING)
    return NO_PICK if label == TIE or not RESPONSE.search(label) else int(label[1:]) - 1
