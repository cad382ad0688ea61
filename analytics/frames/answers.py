"""From rows to arrays for every kind of question: what each group of raters answered, question by question."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from analytics.frames.answer_items import read_attributes, read_items
from analytics.frames.answer_rows import Asked, read_answers, read_judgments
from analytics.frames.arrays import (
    AnswerGroup,
    AnswerItems,
    Answers,
    AnswersFrame,
    Attributes,
    response_places,
    values_of,
)
from analytics.frames.directions import Directed, by_direction, directed_questions
from analytics.frames.entries import read_entries
from analytics.frames.pairs import ORDERS_PER_SAMPLE, KnownRater, memberships, read_raters
from analytics.statistics.core.reduce_values import reduce_values
from analytics.statistics.core.tidy import Bools, Ints
from analytics.statistics.judges.order_consistency import OrderReadings
from analytics.statistics.rankings.ranks import UNKNOWN_PLACE, mid_ranks
from evaluation.database.columns import CodedColumn
from evaluation.models import Rater, Study
from evaluation.protocols import Kind, Over, QuestionSpec
from evaluation.protocols.kinds import KINDS

__all__ = [
    "AnswerGroup",
    "AnswerItems",
    "Answers",
    "AnswersFrame",
    "Attributes",
    "answers_frame",
    "values_of",
]


@dataclass(frozen=True, eq=False)
class Read:
    """The rows of all groups together: judgments, the orders that they showed, and answers by question."""

    judgments: pd.DataFrame
    shown: CodedColumn
    answers: Mapping[str, Asked]


def countable_questions(study: Study) -> tuple[QuestionSpec, ...]:
    """Those of the latest revision whose answers can be counted, in the order of the form."""
    return tuple(each.question for each in _directed(study))


def _directed(study: Study) -> list[Directed]:
    return [
        each
        for each in directed_questions(list(study.revisions.order_by("number")))
        if KINDS[each.question.kind].rule is not None or each.question.kind == Kind.ENTRIES
    ]


def answers_frame(study: Study, wanted: Collection[str] | None = None) -> AnswersFrame:
    """The study's main items that are not withdrawn, and what each group of raters answered in counting judgments.

    Questions are those of the latest revision that can be counted; texts are not among them. A scale that an earlier
    revision asks in another direction is a question of its own there. Of a set of entries the
    decisions about drafted ones are counted, and beside them what sets are made of (`answers_frame.entries`).
    With `wanted`, the questions of those keys alone.
    """
    directed = [each for each in _directed(study) if wanted is None or each.question.key in wanted]
    questions = tuple(each.question for each in directed)
    items, pks = read_items(study)
    raters = read_raters(study)
    judgments, judgment_pks, shown = read_judgments(study, pks)
    sets = [question for question in questions if question.kind == Kind.ENTRIES]
    entries = read_entries(study, sets, judgments["item"].to_numpy(), pks, judgment_pks)
    own = {each.key: replace(each.question, key=each.key) for each in reversed(directed)}
    answers = by_direction(
        study, directed, read_answers(study, list(own.values()), judgment_pks), judgment_pks
    )
    read = Read(judgments, shown, {**answers, **entries})
    present = set(pd.unique(judgments["rater"]).tolist())
    groups = [
        replace(
            _group(key, label, kind, np.isin(judgments["rater"].to_numpy(), members), read, raters, items),
            heuristic=all(raters[pk].heuristic for pk in members),
        )
        for key, label, kind, members in memberships(raters, present)
    ]
    by_value = any(question.over == Over.VALUE for question in questions)
    attributes = read_attributes(study) if by_value else None
    return AnswersFrame(items, questions, tuple(group for group in groups if group.n_judgments), attributes)


def _group(
    key: str,
    label: str,
    kind: str,
    mine: Bools,
    read: Read,
    raters: Mapping[int, KnownRater],
    items: AnswerItems,
) -> AnswerGroup:
    judgments = read.judgments[mine]
    used, per_rater = np.unique(
        judgments.drop_duplicates(["rater", "item"])["rater"].to_numpy(), return_counts=True
    )
    return AnswerGroup(
        key=key,
        label=label,
        kind=kind,
        raters=tuple(raters[pk].pseudonym for pk in used),
        per_rater=tuple(per_rater.tolist()),
        n_judgments=len(judgments),
        n_items=int(judgments["item"].nunique()),
        answers={
            name: _answers(asked, mine, used, read, items, several=kind != Rater.Kind.PERSON)
            for name, asked in read.answers.items()
        },
        readings={name: _readings(asked, mine, read, items) for name, asked in read.answers.items()}
        if kind == Rater.Kind.JUDGE
        else {},
    )


def _readings(asked: Asked, mine: Bools, read: Read, items: AnswerItems) -> OrderReadings:
    """A judge's answers as they came; see `analytics.frames.pairs` for how its replicates are numbered."""
    kept = np.flatnonzero(mine[asked.judgment])
    rows = read.judgments.iloc[asked.judgment[kept]]
    item, replicate = rows["item"].to_numpy(), rows["replicate"].to_numpy()
    return OrderReadings(
        item=item,
        query=items.query[item],
        sample=replicate // ORDERS_PER_SAMPLE,
        order=replicate % ORDERS_PER_SAMPLE,
        part=asked.part[kept],
        value=asked.value[kept],
    )


def _answers(
    asked: Asked, mine: Bools, raters: Ints, read: Read, items: AnswerItems, *, several: bool
) -> Answers:
    """The group's answers, one per rater and part of an item; `several` says that there may be more of them."""
    kept = np.flatnonzero(mine[asked.judgment])
    if several:
        # In an order that the database can't change, so that sums are the same to their last bit.
        kept = kept[np.lexsort((asked.part[kept], asked.judgment[kept]))]
    judgment: Ints = asked.judgment[kept]
    part, value = asked.part[kept], asked.value[kept]
    rows = read.judgments.iloc[judgment]
    item, replicate, order = (rows[name].to_numpy() for name in ("item", "replicate", "shown"))
    rater: Ints = np.searchsorted(raters, rows["rater"].to_numpy())
    once = np.ones(len(value), dtype=bool)
    if several and replicate.any():
        unit = item.astype(np.int64) * max(len(asked.parts), 1) + part
        # A ranking's mean ranks are ranked anew below.
        rule = KINDS[asked.question.kind].rule
        assert rule is not None
        reduced = reduce_values(rater, unit, value, rule)
        said = np.isfinite(reduced.value)
        row, value, once = reduced.row[said], reduced.value[said], reduced.n[said] == 1
        part, item, rater, order = (each[row] for each in (part, item, rater, order))
        # What is left of several readings of an item is one judgment, whichever of them it began with.
        judgment = np.unique(rater.astype(np.int64) * len(items) + item, return_inverse=True)[1]
    shown: Ints = np.full(len(value), UNKNOWN_PLACE)
    if asked.question.kind == Kind.RANKING and len(value):
        value = mid_ranks(np.round(value, 9), judgment)
        table = _shown_places(read.shown, items.system.shape[1])
        shown = np.where(once, table[order, response_places(asked.parts)[part]], UNKNOWN_PLACE)
    return Answers(asked.question, items, asked.parts, judgment, item, rater, part, value, shown)


def _shown_places(shown: CodedColumn, n_responses: int) -> Ints:
    """At which place each response (columns) stands in each order that was shown (rows)."""
    table = np.full((len(shown.values), max(n_responses, 1)), UNKNOWN_PLACE)
    for row, order in enumerate(shown.values):
        for place, response in enumerate(response_places(order.split(","))):
            if 0 <= response < n_responses:
                table[row, response] = place
    return table
