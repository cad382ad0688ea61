"""Queries, questions, raters, settings and systems that two studies share, and what has no partner.

Keys decide. Of judges, whose pseudonyms are drawn anew in every study, their names do; and where each side has one
setting, or one group of raters, these are compared with each other.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.figures.figure_input import points_of
from analytics.frames.arrays import StudyItems
from analytics.frames.rows import JUDGES
from analytics.frames.study import RaterGroup
from analytics.reports.comparison.document import NAMES, WithoutPartner
from analytics.reports.comparison.sides import Sides
from analytics.statistics.core.tidy import Ints
from evaluation.models import Query, Rater, Response, Study
from evaluation.protocols import QuestionSpec


@dataclass(frozen=True, eq=False)
class MatchedQueries:
    """`codes_a` and `codes_b` give, by each side's code of a query, one that both share, -1 where there is none.

    `other_text` counts queries of the same key whose texts differ, which are not matched.
    """

    codes_a: Ints
    codes_b: Ints
    matched: int
    only_a: int
    only_b: int
    other_text: int


@dataclass(frozen=True)
class GroupPair:
    """A group of raters of each side, by key, under one label."""

    a: str
    b: str
    label: str
    kind: str


def match_queries(sides: Sides, a: StudyItems, b: StudyItems) -> MatchedQueries:
    """Queries that items are of, by key and text."""
    in_b = set(b.queries)
    shared = [key for key in a.queries if key in in_b]
    other_text: set[str] = set()
    if not sides.same_study:
        texts = [_query_texts(each.study, set(shared)) for each in sides.both]
        other_text = {key for key in shared if texts[0].get(key) != texts[1].get(key)}
    place = {key: at for at, key in enumerate(key for key in shared if key not in other_text)}
    codes = [np.array([place.get(key, -1) for key in items.queries], dtype=np.int64) for items in (a, b)]
    return MatchedQueries(
        codes[0],
        codes[1],
        matched=len(place),
        only_a=len(a.queries) - len(shared),
        only_b=len(b.queries) - len(shared),
        other_text=len(other_text),
    )


def _query_texts(study: Study, keys: set[str]) -> dict[str, int]:
    """Hashes, so that no more than one text is held at a time."""
    rows = Query.objects.filter(study=study).values_list("key", "text", "document")
    return {
        key: hash((text.strip(), document.strip())) for key, text, document in rows.iterator() if key in keys
    }


def other_responses(sides: Sides, queries: Iterable[str], systems: Iterable[str]) -> tuple[int, int]:
    """Number of responses of these queries and systems that both studies show, and of those with other texts."""
    if sides.same_study:
        return 0, 0
    known = set(queries), set(systems)
    one, other = (_response_texts(each.study, *known) for each in sides.both)
    both = one.keys() & other.keys()
    return len(both), sum(one[cell] != other[cell] for cell in both)


def _response_texts(study: Study, queries: set[str], systems: set[str]) -> dict[tuple[str, str], set[int]]:
    found: dict[tuple[str, str], set[int]] = {}
    shown = Response.objects.filter(query__study=study, items__isnull=False).distinct()
    for query, system, text in shown.values_list("query__key", "system__key", "text").iterator():
        if query in queries and system in systems:
            found.setdefault((query, system), set()).add(hash(text.strip()))
    return found


def match_groups(
    a: Sequence[RaterGroup], b: Sequence[RaterGroup]
) -> tuple[list[GroupPair], list[RaterGroup], list[RaterGroup]]:
    """The groups of both sides that are compared, and those of either that are not."""
    by_key = {group.key: group for group in b}
    pairs = [(group, by_key[group.key]) for group in a if group.key in by_key]
    left = [[g for g in groups if g not in [pair[at] for pair in pairs]] for at, groups in enumerate((a, b))]
    named = [_judges_by_name(groups) for groups in left]
    pairs += [(group, named[1][label]) for label, group in named[0].items() if label in named[1]]
    # Parts of people stand beside the whole, and all judges beside each: neither is a group of raters by itself.
    alone = [[group for group in groups if not group.within and group.kind != JUDGES] for groups in (a, b)]
    if not pairs and len(alone[0]) == len(alone[1]) == 1:
        pairs = [(alone[0][0], alone[1][0])]
    found = [
        GroupPair(
            one.key,
            other.key,
            one.label if one.label == other.label else f"{one.label} / {other.label}",
            one.kind,
        )
        for one, other in pairs
    ]
    unmatched = [
        [group for group in groups if group.key not in {pair[at].key for pair in pairs}]
        for at, groups in enumerate((a, b))
    ]
    return found, unmatched[0], unmatched[1]


def _judges_by_name(groups: Iterable[RaterGroup]) -> dict[str, RaterGroup]:
    """Single judges whose name no other has."""
    judges = [group for group in groups if group.kind == Rater.Kind.JUDGE and not group.is_jury]
    times = Counter(group.label for group in judges)
    return {group.label: group for group in judges if times[group.label] == 1}


def why_unlike(a: QuestionSpec, b: QuestionSpec) -> str:
    """The reason for which questions of one key can't be compared; empty where they can."""
    if (a.kind, a.over) != (b.kind, b.over):
        return "The two studies ask it in different ways."
    if points_of(a) != points_of(b):
        return "Its scale or its choices differ."
    return ""


def arms_in(items: StudyItems) -> list[str]:
    return [items.arms[code] for code in np.unique(items.arm[items.arm >= 0])]


def alone(kind: str, a: Iterable[str], b: Iterable[str], reason: str) -> Iterator[WithoutPartner]:
    """The names that one side alone has, as the record lists them; `reason` names the other side as {side}."""
    a, b = list(dict.fromkeys(a)), list(dict.fromkeys(b))
    for side, own, others, other in zip(NAMES, (a, b), (b, a), "BA", strict=True):
        for name in own:
            if name not in others:
                yield {"kind": kind, "side": side, "name": name, "reason": reason.format(side=other)}
