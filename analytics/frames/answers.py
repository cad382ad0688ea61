"""From rows to arrays for every kind of question: what each group of raters answered, question by question."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from analytics.frames.arrays import NO_ORDER, AnswerGroup, Answers, AnswersFrame, response_places
from analytics.frames.directions import Directed, by_direction, directed_questions
from analytics.frames.entries import count_sets, measure_distances, pair_sets, read_sets, sets_by_item
from analytics.frames.items import read_attributes
from analytics.frames.rows import ORDERS_PER_SAMPLE, Asked, Membership, StudyRows, read_answers
from analytics.statistics.core.reduce_values import reduce_values
from analytics.statistics.core.tidy import Bools, Ints
from analytics.statistics.judges.order_consistency import OrderReadings
from analytics.statistics.rankings.ranks import UNKNOWN_PLACE, mid_ranks
from evaluation.models import Rater, Study
from evaluation.protocols import Kind, Over
from evaluation.protocols.kinds import KINDS


def countable_questions(study: Study) -> list[Directed]:
    """Those of the latest revision whose answers can be counted, in the order of the form."""
    return [
        each
        for each in directed_questions(list(study.revisions.order_by("number")))
        if KINDS[each.question.kind].rule is not None or each.question.kind == Kind.ENTRIES
    ]


def answers_frame(rows: StudyRows, directed: Sequence[Directed]) -> AnswersFrame:
    """The answers of each group of raters to these questions.

    A scale that an earlier revision asks in another direction is a question of its own there. Of a set of entries the
    decisions about drafted ones are counted, and beside them what sets are made of (see `analytics.frames.entries`);
    they are compared with their drafts and with each other once a figure asks for it.
    """
    import pandas as pd

    questions = tuple(each.question for each in directed)
    own = {each.key: replace(each.question, key=each.key) for each in reversed(directed)}
    answers = by_direction(rows, directed, read_answers(rows, list(own.values())))
    sets = {each.key: read_sets(rows, each) for each in questions if each.kind == Kind.ENTRIES}
    for each in sets.values():
        answers |= count_sets(each)
    by_item = {key: sets_by_item(rows, each) for key, each in sets.items()}
    distances = cache(lambda key: measure_distances(sets[key]))
    raters: Ints = rows.judgments["rater"].to_numpy()
    present = set(pd.unique(raters).tolist())
    groups = [
        replace(
            _group(group, np.isin(raters, group.members), rows, answers, distances),
            heuristic=all(rows.raters[pk].heuristic for pk in group.members),
            is_jury=group.is_one,
            within=group.within,
        )
        for group in rows.memberships(present)
    ]
    by_value = any(question.over == Over.VALUE for question in questions)
    attributes = read_attributes(rows.study, rows.filters) if by_value else None
    return AnswersFrame(
        rows.items,
        questions,
        tuple(group for group in groups if group.n_judgments),
        attributes,
        by_item,
        cache(lambda key: pair_sets(by_item[key])),
    )


def _group(
    group: Membership,
    mine: Bools,
    rows: StudyRows,
    answers: Mapping[str, Asked],
    distances: Callable[[str], Asked],
) -> AnswerGroup:
    judgments = rows.judgments[mine]
    once = judgments.drop_duplicates(["rater", "item"])["rater"].to_numpy()
    if group.combined:
        counted = judgments.assign(rater=_first_members(judgments["rater"].to_numpy(), group.combined))
        once = counted.drop_duplicates(["rater", "item"])["rater"].to_numpy()
    used, per_rater = np.unique(once, return_counts=True)
    return AnswerGroup(
        key=group.key,
        label=group.label,
        kind=group.kind,
        raters=tuple(group.name_of(pk, rows.raters) for pk in used.tolist()),
        per_rater=tuple(per_rater.tolist()),
        n_judgments=len(judgments),
        n_items=int(judgments["item"].nunique()),
        answers={name: _answers(asked, mine, used, rows, group) for name, asked in answers.items()},
        distances=cache(lambda key: _answers(distances(key), mine, used, rows, group)),
        readings={name: _readings(asked, mine, rows) for name, asked in answers.items()}
        if any(rows.raters[pk].both_orders for pk in group.members) and not group.combined
        else {},
    )


def _first_members(raters: Ints, combined: Mapping[int, int]) -> Ints:
    """The rater that counts for each: of a jury that counts as one, its first member."""
    return np.array([combined.get(pk, pk) for pk in raters.tolist()], dtype=np.int64)


def _readings(asked: Asked, mine: Bools, rows: StudyRows) -> OrderReadings:
    """A judge's answers as they came; see ORDERS_PER_SAMPLE for how its replicates are numbered."""
    kept = np.flatnonzero(mine[asked.judgment])
    item, replicate = _of_judgments(rows, asked.judgment[kept], "item", "replicate")
    return OrderReadings(
        item=item,
        query=rows.items.query[item],
        sample=replicate // ORDERS_PER_SAMPLE,
        order=replicate % ORDERS_PER_SAMPLE,
        part=asked.part[kept],
        value=asked.value[kept],
    )


def _answers(asked: Asked, mine: Bools, raters: Ints, rows: StudyRows, group: Membership) -> Answers:
    """The group's answers, one per rater and part of an item: of a jury that counts as one, of all its members."""
    kept = np.flatnonzero(mine[asked.judgment])
    judgment: Ints = asked.judgment[kept]
    part, value = asked.part[kept], asked.value[kept]
    items = rows.items
    item, order = _of_judgments(rows, judgment, "item", "shown")
    known, codes = rows.rater_codes
    rater = codes[judgment]
    # What a rater said several times is one answer, and then what the members of a jury said.
    repeated = group.kind != Rater.Kind.PERSON and rows.judgments["replicate"].to_numpy()[mine].any()
    again: list[Mapping[int, int]] = [{}] if repeated else []
    for combined in [*again, group.combined] if group.combined else again:
        if combined:
            rater = np.searchsorted(known, _first_members(known, combined)).astype(np.int32)[rater]
        unit = item.astype(np.int64) * max(len(asked.parts), 1) + part
        # A ranking's mean ranks are ranked anew below.
        rule = KINDS[asked.question.kind].rule
        assert rule is not None
        reduced = reduce_values(rater, unit, value, rule)
        said = np.isfinite(reduced.value)
        row, value = reduced.row[said], reduced.value[said]
        part, item, rater = (each[row] for each in (part, item, rater))
        order = np.where(reduced.n[said] == 1, order[row], NO_ORDER)
        # What is left of several readings of an item is one judgment, whichever of them it began with.
        judgment = np.unique(rater.astype(np.int64) * len(items) + item, return_inverse=True)[1]
    rater = np.searchsorted(raters, known).astype(np.int32)[rater]
    if asked.question.kind == Kind.RANKING and len(value):
        value = mid_ranks(np.round(value, 9), judgment)
    orders = _shown_places(rows.shown, items.system.shape[1])
    return Answers(asked.question, items, asked.parts, judgment, item, rater, part, value, order, orders)


def _of_judgments(rows: StudyRows, judgment: Ints, *names: str) -> Iterator[Ints]:
    """These columns of the judgments (n,) of answers."""
    return (rows.judgments[name].to_numpy(dtype=np.int32)[judgment] for name in names)


def _shown_places(shown: Sequence[str], n_responses: int) -> Ints:
    """At which place each response (columns) stands in each order that was shown (rows)."""
    table = np.full((len(shown), max(n_responses, 1)), UNKNOWN_PLACE, dtype=np.int32)
    for row, order in enumerate(shown):
        for place, response in enumerate(response_places(order.split(","))):
            if 0 <= response < n_responses:
                table[row, response] = place
    return table
