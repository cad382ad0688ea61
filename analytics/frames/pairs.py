"""Preferences between two responses as arrays: a frame per preference, one group of raters at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from analytics.frames.rows import (
    DEFAULT_RULE,
    ORDERS_PER_SAMPLE,
    Asked,
    Membership,
    StudyRows,
    read_answers,
)
from analytics.statistics.core.reduce_values import reduce_values
from analytics.statistics.core.replicates import Readings, reduce_readings
from analytics.statistics.core.tidy import MISSING, UNKNOWN_ORDER, Checks, Items, Judgments
from analytics.statistics.preferences.grades import Grades, as_grade, as_preference
from evaluation.forms.input.screen_record import LAYOUTS
from evaluation.models import Rater
from evaluation.protocols import Kind, Over, QuestionSpec, Shown

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN_LAYOUT = -1
ORDERS = {"r1,r2": 0, "r2,r1": 1}
# What the parts of a preference are called.
PART_NAMES = {Over.TURN: "turn", Over.FOLLOW_UP: "follow-up question"}


@dataclass(frozen=True)
class PairGroup:
    """Raters who are read together: all people, all simulated raters, all judges, or one judge.

    A `heuristic` reads nothing (it draws, or counts characters): it is a mark beside judges, and never one of them.

    `readings` are its judgments before replicates are reduced: what position bias and inconsistency are computed on;
    `read` are their rows among the study's, `layout` how the responses stood on the screen of each, a code of LAYOUTS.
    Where the preference is graded, `grades` has one per judgment, `graded_readings` one per reading.
    """

    key: str
    label: str
    kind: str
    judgments: Judgments
    readings: Readings
    read: npt.NDArray[np.int64]
    layout: npt.NDArray[np.int8]
    checks: Checks | None
    grades: Grades | None = None
    graded_readings: Grades | None = None
    heuristic: bool = False
    # True of a jury as one rater.
    is_jury: bool = False
    # The key of the group that this one is a part of.
    within: str = ""


@dataclass(frozen=True)
class PairFrame:
    """A pairwise study as arrays; `preference` is the question whose answers they are (None: it asks for none)."""

    items: Items
    groups: tuple[PairGroup, ...]
    preference: QuestionSpec | None


def pair_frames(rows: StudyRows, questions: Sequence[QuestionSpec]) -> list[PairFrame]:
    """A frame for each preference among the `questions` that anybody has answered, in their order; at least one."""
    preferences = [question for question in questions if question.kind == Kind.PREFERENCE]
    checklists = [
        each for each in questions if each.kind == Kind.CHECKLIST and each.over == Over.FOLLOW_UP_RESPONSE
    ]
    asked = read_answers(rows, [*preferences, *checklists[:1]], pairs=True)
    checks = asked[checklists[0].key] if checklists else None
    checks = checks if checks is not None and len(checks.judgment) else None
    items = rows.items.as_pairs()
    of_parts = any(each.over != Over.ITEM for each in preferences)
    if not of_parts and (len(preferences) < 2 or asked_in_turns(preferences)):
        answers = [asked[each.key] for each in preferences]
        return [_frame(rows, items, answers, preferences[0] if preferences else None, checks)]
    answered = [part for each in preferences for part in by_part(asked[each.key])]
    frames = [_frame(rows, items, [part], part.question, checks) for part in answered]
    return [frame for frame in frames if any(_has_labels(group) for group in frame.groups)] or frames[:1]


def by_part(asked: Asked) -> list[Asked]:
    """The answers to a preference that is asked of several parts, such as the turns of a conversation, as preferences
    of their own, each under the name of its part."""
    if asked.question.over == Over.ITEM:
        return [asked]
    return [
        replace(asked.where(asked.part == code), question=_of_part(asked.question, part))
        for code, part in enumerate(asked.parts)
    ] or [asked]


def _of_part(question: QuestionSpec, part: str) -> QuestionSpec:
    """Under a name that says which part it is; no key of a question has a dot."""
    name, number = PART_NAMES[question.over], part[1:]
    return replace(question, key=f"{question.key}.{part}", prompt=f"{question.prompt} ({name} {number})")


def asked_in_turns(preferences: Sequence[QuestionSpec]) -> bool:
    """True if they are one preference in the words of two kinds of arm: with the context, and without it."""
    shown = sorted(str(question.shown) for question in preferences)
    same_form = len({(question.grades, question.tells_both_bad) for question in preferences}) == 1
    return same_form and shown == sorted([Shown.WITH_CONTEXT, Shown.WITHOUT_CONTEXT])


def _has_labels(group: PairGroup) -> bool:
    return bool((group.judgments.vote != MISSING).any())


def _frame(
    rows: StudyRows,
    items: Items,
    answers: Sequence[Asked],
    preference: QuestionSpec | None,
    checks: Asked | None,
) -> PairFrame:
    import pandas as pd

    farthest = preference.grades[-1] if preference and preference.grades else 0
    preferred = pd.concat([_preferences(rows, each, farthest) for each in answers] or [_preferences(rows)])
    preferring = set(pd.unique(preferred["rater"]).tolist())
    if checks is not None:
        preferred = _with_checklists_only(rows, preferring, preferred)
    groups = [
        replace(
            _group(
                group,
                preferred[np.isin(preferred["rater"].to_numpy(), group.members)],
                rows,
                checks,
                farthest,
            ),
            heuristic=all(rows.raters[pk].heuristic for pk in group.members),
            is_jury=group.is_one,
            within=group.within,
        )
        for group in rows.memberships(preferring)
    ]
    return PairFrame(items, tuple(group for group in groups if len(group.judgments)), preference)


def _preferences(rows: StudyRows, asked: Asked | None = None, farthest: int = 0) -> "pd.DataFrame":
    """One row per answer to a preference; without one, none.

    `judgment` is the row of the judgment. `number` is from 0 to 1: a probability or, of grades up to `farthest`, the
    preference that one stands for.
    """
    judgment = asked.judgment if asked else np.zeros(0, dtype=np.int64)
    vote = asked.value if asked else np.zeros(0)
    number = asked.number if asked and asked.number is not None else np.full(len(judgment), np.nan)
    return _table(rows, judgment, vote, as_preference(number, farthest) if farthest else number)


def _table(
    rows: StudyRows, judgment: npt.NDArray[Any], vote: npt.NDArray[Any], number: npt.NDArray[Any]
) -> "pd.DataFrame":
    import pandas as pd

    of = {name: rows.judgments[name].to_numpy()[judgment] for name in ("item", "rater", "replicate", "shown")}
    orders = np.array([ORDERS.get(shown, UNKNOWN_ORDER) for shown in rows.shown], dtype=np.int8)
    return pd.DataFrame(
        {
            "judgment": judgment,
            "item": of["item"].astype(np.int32),
            "rater": of["rater"],
            "replicate": of["replicate"].astype(np.int16),
            "vote": vote.astype(np.int8),
            "number": number,
            "first": orders[of["shown"]],
        }
    )


def _with_checklists_only(rows: StudyRows, preferring: set[int], preferred: "pd.DataFrame") -> "pd.DataFrame":
    """The rows, and those of judges that are not asked for a preference: they have a checklist, but no label."""
    import pandas as pd

    others = [
        pk for pk, rater in rows.raters.items() if rater.kind == Rater.Kind.JUDGE and pk not in preferring
    ]
    judgment = np.flatnonzero(np.isin(rows.judgments["rater"].to_numpy(), others))
    if not len(judgment):
        return preferred
    unlabelled = _table(rows, judgment, np.full(len(judgment), MISSING), np.full(len(judgment), np.nan))
    return pd.concat([preferred, unlabelled], ignore_index=True)


def _group(
    group: Membership,
    rows: "pd.DataFrame",
    study: StudyRows,
    checks: Asked | None,
    farthest: int,
) -> PairGroup:
    import pandas as pd

    reduced = reduce_replicates(rows, {pk: rater.rule for pk, rater in study.raters.items()})
    of_members = reduced
    if group.combined:
        rules = {first: study.raters[first].combination for first in group.combined.values()}
        reduced = combine_members(reduced, group.combined, rules)
    codes, used = pd.factorize(reduced["rater"], sort=True)
    number = reduced["number"].to_numpy(dtype=np.float64)
    judgments = Judgments(
        item=reduced["item"].to_numpy(dtype=np.int32),
        rater=codes.astype(np.int32),
        raters=tuple(group.name_of(pk, study.raters) for pk in used),
        vote=reduced["vote"].to_numpy(dtype=np.int8),
        # A grade is no probability, and figures of those are none of grades.
        number=np.full(len(number), np.nan) if farthest else number,
        first=reduced["first"].to_numpy(dtype=np.int8),
    )
    own = _group_checks(reduced["judgment"].to_numpy(), checks)
    if group.combined and own is not None and checks is not None:
        own = _combined_checks(reduced, of_members, group.combined, checks)
    named = group.key, group.label, group.kind
    read = rows["judgment"].to_numpy(dtype=np.int64)
    layout = _layouts(study, read)
    if not farthest:
        return PairGroup(*named, judgments, _readings(rows), read, layout, own)
    readings = _readings(rows.assign(number=np.nan))
    grades = _grades(reduced, codes, farthest), _grades(rows, pd.factorize(rows["rater"])[0], farthest)
    return PairGroup(*named, judgments, readings, read, layout, own, *grades)


def _layouts(study: StudyRows, read: npt.NDArray[np.int64]) -> npt.NDArray[np.int8]:
    known = {layout: code for code, layout in enumerate(LAYOUTS)}
    codes = np.array([known.get(layout, UNKNOWN_LAYOUT) for layout in study.layouts], dtype=np.int8)
    return codes[study.judgments["layout"].to_numpy()[read]] if len(codes) else codes


def _grades(rows: "pd.DataFrame", rater: npt.NDArray[Any], farthest: int) -> Grades:
    """Those of the rows that have one; a label alone, such as a judge's that says no more, has none."""
    number = rows["number"].to_numpy(dtype=np.float64)
    graded = np.isfinite(number)
    return Grades(
        item=rows["item"].to_numpy(dtype=np.int64)[graded],
        rater=rater.astype(np.int64)[graded],
        grade=as_grade(number[graded], farthest),
        first=rows["first"].to_numpy(dtype=np.int64)[graded],
    )


def _readings(rows: "pd.DataFrame") -> Readings:
    return Readings(
        rater=rows["rater"].to_numpy(),
        item=rows["item"].to_numpy(),
        sample=rows["replicate"].to_numpy() // ORDERS_PER_SAMPLE,
        vote=rows["vote"].to_numpy(),
        number=rows["number"].to_numpy(),
        first=rows["first"].to_numpy(),
    )


def _group_checks(judgments: npt.NDArray[np.int64], checks: Asked | None) -> Checks | None:
    """The checklists of these judgments; a reduced judge's stand under its first replicate."""
    if checks is None:
        return None
    # There may be twenty times as many answers as judgments.
    place = np.full(max(judgments.max(initial=-1), checks.judgment.max(initial=-1)) + 1, -1, dtype=np.int32)
    place[judgments] = np.arange(len(judgments))
    judgment = place[checks.judgment]
    here = judgment >= 0
    if not here.any():
        return None
    # "f3.r2": the third follow-up, the second response.
    numbers = [tuple(int(each[1:]) - 1 for each in name.split(".")) for name in checks.parts]
    follow_up, response = np.array(numbers, dtype=np.int16).reshape(-1, 2)[checks.part[here]].T
    return Checks(
        judgment=judgment[here],
        follow_up=follow_up,
        response=response.astype(np.int8),
        value=checks.value[here].astype(np.int8),
    )


def combine_members(
    rows: "pd.DataFrame", combined: Mapping[int, int], rules: Mapping[int, str]
) -> "pd.DataFrame":
    """One row per jury and item in place of one per member, by the rule of each jury; other raters' rows stay."""
    import pandas as pd

    rater = rows["rater"].to_numpy()
    first = np.array([combined.get(pk, pk) for pk in rater.tolist()], dtype=rater.dtype)
    parts = [rows[~np.isin(rater, list(combined))]]
    for jury, rule in rules.items():
        mine = (first == jury) & np.isin(rater, list(combined))
        parts.append(_reduced(rows[mine].assign(rater=jury), rule))
    return pd.concat([part for part in parts if len(part)] or [rows], ignore_index=True)


def _combined_checks(
    reduced: "pd.DataFrame", of_members: "pd.DataFrame", combined: Mapping[int, int], checks: Asked
) -> Checks | None:
    """The checklists of raters and, of each jury, what most of its members checked; nothing where they are even."""
    import pandas as pd

    own = _group_checks(of_members["judgment"].to_numpy(), checks)
    assert own is not None
    raters = pd.Series([combined.get(pk, pk) for pk in of_members["rater"]], dtype=np.int64)
    place = pd.MultiIndex.from_arrays([reduced["rater"], reduced["item"]])
    row = place.get_indexer(pd.MultiIndex.from_arrays([raters, of_members["item"]]))[own.judgment]
    most = int(own.response.max(initial=0)) + 1
    unit = own.follow_up.astype(np.int64) * most + own.response
    found = reduce_values(row.astype(np.int64), unit, own.value.astype(np.float64), "majority")
    said = np.isfinite(found.value)
    at = found.row[said]
    return Checks(
        judgment=row[at].astype(np.int32),
        follow_up=own.follow_up[at],
        response=own.response[at],
        value=found.value[said].astype(np.int8),
    )


def reduce_replicates(rows: "pd.DataFrame", rules: Mapping[int, str]) -> "pd.DataFrame":
    """One row per (rater, item), by the rule of each rater (see `analytics.statistics.core.replicates`).

    A rater, an item and a replicate are there once, so nothing is to be done where every replicate is the first and
    every rater goes by the default rule, which leaves single readings as they are.
    """
    import pandas as pd

    special = {pk: rule for pk, rule in rules.items() if rule != DEFAULT_RULE}
    own_rule = (
        np.isin(rows["rater"].to_numpy(), list(special)) if special else np.zeros(len(rows), dtype=bool)
    )
    if not own_rule.any() and not rows["replicate"].to_numpy().any():
        return rows
    parts = [_reduced(rows[~own_rule], DEFAULT_RULE)]
    for rule in sorted(set(special.values())):
        members = [pk for pk, each in special.items() if each == rule]
        parts.append(_reduced(rows[np.isin(rows["rater"].to_numpy(), members)], rule))
    return pd.concat([part for part in parts if len(part)] or [rows], ignore_index=True)


def _reduced(rows: "pd.DataFrame", rule: str) -> "pd.DataFrame":
    """Replicates in their order, so that a judgment goes by its first reading."""
    ordered = rows.sort_values("replicate", kind="stable")
    reduced = reduce_readings(_readings(ordered), rule)
    found = ordered.iloc[reduced.row]
    return found.assign(vote=reduced.vote, number=reduced.number, first=reduced.first)
