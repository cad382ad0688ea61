"""From rows to the arrays that analytics take: one frame per study, one group of raters at a time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from django.db.models import QuerySet

from analytics.frames.pair_items import pair_items
from analytics.statistics.core.replicates import Readings, reduce_readings
from analytics.statistics.core.tidy import MISSING, UNKNOWN_ORDER, Checks, Items, Judgments
from analytics.statistics.preferences.grades import Grades, as_grade, as_preference
from evaluation.database.columns import Columns, ColumnType, read_columns
from evaluation.models import Answer, Judgment, Rater, Study
from evaluation.protocols import Kind, Over, QuestionSpec, Shown
from evaluation.selectors import countable_q

LABELS = {"r1": 0, "r2": 1, "tie": 2}
ORDERS = {"r1,r2": 0, "r2,r1": 1}
# Key and kind of the group of all judges, whose members are groups of their own too.
JUDGES = "judges"
# How replicates are reduced where a rater's `about` does not say.
DEFAULT_RULE = "majority"
# A judge that is asked in both orders has the two of a sample in replicates 2k and 2k + 1.
ORDERS_PER_SAMPLE = 2


@dataclass(frozen=True)
class KnownRater:
    """A rater as frames know it."""

    pseudonym: str
    label: str
    kind: str
    rule: str
    heuristic: bool = False


@dataclass(frozen=True)
class PairGroup:
    """Raters who are read together: all people, all simulated raters, all judges, or one judge.

    A `heuristic` reads nothing (it draws, or counts characters): it is a mark beside judges, and never one of them.

    `readings` are its judgments before replicates are reduced: what position bias and inconsistency are computed on;
    `read` are their primary keys. Where the preference is graded, `grades` has one per judgment, `graded_readings` one
    per reading.
    """

    key: str
    label: str
    kind: str
    judgments: Judgments
    readings: Readings
    read: npt.NDArray[np.int64]
    checks: Checks | None
    grades: Grades | None = None
    graded_readings: Grades | None = None
    heuristic: bool = False


@dataclass(frozen=True)
class PairFrame:
    """A pairwise study as arrays; `preference` is the question whose answers they are (None: it asks for none)."""

    items: Items
    groups: tuple[PairGroup, ...]
    preference: QuestionSpec | None


def pair_frames(study: Study) -> list[PairFrame]:
    """The study's main items that are not withdrawn, and the counting judgments of each group of raters.

    A frame for each preference that anybody has answered, in the order of the form; at least one.
    """
    asked = _questions(study)
    preferences = [question for question in asked if question.kind == Kind.PREFERENCE]
    checks = _checks(study, asked)
    if len(preferences) < 2 or asked_in_turns(preferences):
        return _frames(study, [""], asked, checks)
    frames = _frames(study, [question.key for question in preferences], asked, checks)
    answered = [frame for frame in frames if any(_has_labels(group) for group in frame.groups)]
    return answered or frames[:1]


def asked_in_turns(preferences: Sequence[QuestionSpec]) -> bool:
    """True if they are one preference in the words of two kinds of arm: with the context, and without it."""
    shown = sorted(str(question.shown) for question in preferences)
    same_form = len({question.grades for question in preferences}) == 1
    return same_form and shown == sorted([Shown.WITH_CONTEXT, Shown.WITHOUT_CONTEXT])


def _has_labels(group: PairGroup) -> bool:
    return bool((group.judgments.label != MISSING).any())


def _questions(study: Study) -> list[QuestionSpec]:
    """Those of the latest revision."""
    revision = study.revisions.order_by("-number").first()
    return [QuestionSpec.from_json(question) for question in revision.spec["questions"]] if revision else []


def _frames(
    study: Study, questions: Sequence[str], asked: Sequence[QuestionSpec], checks: Columns | None
) -> list[PairFrame]:
    items, pks = pair_items(study)
    raters = read_raters(study)
    return [_frame(study, items, pks, raters, _asked(asked, key), key, checks) for key in questions]


def _frame(
    study: Study,
    items: Items,
    pks: npt.NDArray[np.int64],
    raters: Mapping[int, KnownRater],
    preference: QuestionSpec | None,
    question: str,
    checks: Columns | None,
) -> PairFrame:
    farthest = preference.grades[-1] if preference and preference.grades else 0
    rows = _preferences(study, pks, question, farthest)
    preferring = set(pd.unique(rows["rater"]).tolist())
    if checks is not None:
        rows = _with_checklists_only(study, pks, raters, preferring, rows)
    groups = [
        replace(
            _group(
                key, label, kind, rows[np.isin(rows["rater"].to_numpy(), members)], raters, checks, farthest
            ),
            heuristic=all(raters[pk].heuristic for pk in members),
        )
        for key, label, kind, members in memberships(raters, preferring)
    ]
    return PairFrame(items, tuple(group for group in groups if len(group.judgments)), preference)


def _asked(questions: Sequence[QuestionSpec], key: str) -> QuestionSpec | None:
    """The question of that key or, without one, the first preference that the study asks for."""
    found = (each for each in questions if each.kind == Kind.PREFERENCE and key in ("", each.key))
    return next(found, None)


def read_raters(study: Study) -> dict[int, KnownRater]:
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
    raters: Mapping[int, KnownRater], preferring: set[int]
) -> Iterator[tuple[str, str, str, list[int]]]:
    """People together, simulated raters together and apart from people, judges together and each alone.

    Together are the judges that have preferences in the figures: one that was only asked for checklists adds none, and
    a heuristic is no judge.
    """
    for kind, label in ((Rater.Kind.PERSON, "People"), (Rater.Kind.SIMULATED, "Simulated raters")):
        members = [pk for pk, rater in raters.items() if rater.kind == kind]
        if members:
            yield str(kind), label, str(kind), members
    judges = {pk: rater for pk, rater in raters.items() if rater.kind == Rater.Kind.JUDGE}
    together = [pk for pk, rater in judges.items() if pk in preferring and not rater.heuristic]
    if len(together) > 1:
        yield JUDGES, "Judges together", JUDGES, together
    for pk, rater in judges.items():
        yield rater.pseudonym, rater.label, rater.kind, [pk]


def _answers(study: Study, kind: Kind) -> QuerySet[Answer]:
    """Answers in judgments that count, as far as it is not for their item to say."""
    return Answer.objects.filter(countable_q(study, "judgment__"), kind=kind)


def _preferences(study: Study, pks: npt.NDArray[np.int64], question: str, farthest: int) -> pd.DataFrame:
    """One row per preference on one of the items with these primary keys; `item` is the item's row.

    `number` is from 0 to 1: a probability or, of grades up to `farthest`, the preference that one stands for.
    """
    whole = ("judgment_id", "judgment__item_id", "judgment__rater_id", "judgment__replicate")
    types = dict.fromkeys(whole, ColumnType.WHOLE) | dict.fromkeys(
        ("label", "judgment__shown"), ColumnType.CODED
    )
    answers = _answers(study, Kind.PREFERENCE)
    if question:
        answers = answers.filter(question=question)
    table = read_columns(answers, types | {"number": ColumnType.NUMBER})
    row, known = places(pks, table.array("judgment__item_id"))
    number = table.array("number")
    if farthest:
        number = as_preference(number, farthest)
    return pd.DataFrame(
        {
            "judgment": table.array("judgment_id"),
            "item": row.astype(np.int32),
            "rater": table.array("judgment__rater_id"),
            "replicate": table.array("judgment__replicate").astype(np.int16),
            "label": table.coded("label").translated(LABELS, MISSING),
            "number": number,
            "first": table.coded("judgment__shown").translated(ORDERS, UNKNOWN_ORDER),
        }
    )[known]


def _with_checklists_only(
    study: Study,
    pks: npt.NDArray[np.int64],
    raters: Mapping[int, KnownRater],
    preferring: set[int],
    rows: pd.DataFrame,
) -> pd.DataFrame:
    """The rows, and those of judges that are not asked for a preference: they have a checklist, but no label."""
    others = [pk for pk, rater in raters.items() if rater.kind == Rater.Kind.JUDGE and pk not in preferring]
    if not others:
        return rows
    checked = Judgment.objects.filter(countable_q(study), rater__in=others).order_by("pk")
    types = dict.fromkeys(("pk", "item_id", "rater_id", "replicate"), ColumnType.WHOLE)
    table = read_columns(checked, types | {"shown": ColumnType.CODED})
    row, known = places(pks, table.array("item_id"))
    found = pd.DataFrame(
        {
            "judgment": table.array("pk"),
            "item": row.astype(np.int32),
            "rater": table.array("rater_id"),
            "replicate": table.array("replicate").astype(np.int16),
            "label": np.full(len(row), MISSING, dtype=np.int8),
            "number": np.full(len(row), np.nan),
            "first": table.coded("shown").translated(ORDERS, UNKNOWN_ORDER),
        }
    )[known]
    return pd.concat([rows, found], ignore_index=True) if len(found) else rows


def places(
    ascending: npt.NDArray[Any], wanted: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The place of each wanted value, and a mask of those that are there."""
    if not len(ascending):
        return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=bool)
    place = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    return place, ascending[place] == wanted


def _checks(study: Study, asked: Sequence[QuestionSpec]) -> Columns | None:
    """The checklist of follow-ups of all judgments that may count; None without any.

    There may be others, about the whole item say, which the figures of follow-ups are not of.
    """
    keys = [
        each.key for each in asked if each.kind == Kind.CHECKLIST and each.over == Over.FOLLOW_UP_RESPONSE
    ]
    if not keys:
        return None
    types = {"judgment_id": ColumnType.WHOLE, "part": ColumnType.CODED, "number": ColumnType.NUMBER}
    answers = _answers(study, Kind.CHECKLIST).filter(question=keys[0])
    table = read_columns(answers, types)
    return table if len(table.array("judgment_id")) else None


def _group(
    key: str,
    label: str,
    kind: str,
    rows: pd.DataFrame,
    raters: Mapping[int, KnownRater],
    checks: Columns | None,
    farthest: int,
) -> PairGroup:
    reduced = reduce_replicates(rows, {pk: rater.rule for pk, rater in raters.items()})
    codes, used = pd.factorize(reduced["rater"], sort=True)
    number = reduced["number"].to_numpy(dtype=np.float64)
    judgments = Judgments(
        item=reduced["item"].to_numpy(dtype=np.int32),
        rater=codes.astype(np.int32),
        raters=tuple(raters[pk].pseudonym for pk in used),
        label=reduced["label"].to_numpy(dtype=np.int8),
        # A grade is no probability, and figures of those are none of grades.
        number=np.full(len(number), np.nan) if farthest else number,
        first=reduced["first"].to_numpy(dtype=np.int8),
    )
    own = _group_checks(reduced["judgment"].to_numpy(), checks)
    read = rows["judgment"].to_numpy(dtype=np.int64)
    if not farthest:
        return PairGroup(key, label, kind, judgments, _readings(rows), read, own)
    readings = _readings(rows.assign(number=np.nan))
    grades = _grades(reduced, codes, farthest), _grades(rows, pd.factorize(rows["rater"])[0], farthest)
    return PairGroup(key, label, kind, judgments, readings, read, own, *grades)


def _grades(rows: pd.DataFrame, rater: npt.NDArray[Any], farthest: int) -> Grades:
    """Those of the rows that have one; a label alone, such as a judge's that says no more, has none."""
    number = rows["number"].to_numpy(dtype=np.float64)
    graded = np.isfinite(number)
    return Grades(
        item=rows["item"].to_numpy(dtype=np.int64)[graded],
        rater=rater.astype(np.int64)[graded],
        grade=as_grade(number[graded], farthest),
        first=rows["first"].to_numpy(dtype=np.int64)[graded],
    )


def _readings(rows: pd.DataFrame) -> Readings:
    return Readings(
        rater=rows["rater"].to_numpy(),
        item=rows["item"].to_numpy(),
        sample=rows["replicate"].to_numpy() // ORDERS_PER_SAMPLE,
        label=rows["label"].to_numpy(),
        number=rows["number"].to_numpy(),
        first=rows["first"].to_numpy(),
    )


def _group_checks(judgments: npt.NDArray[np.int64], checks: Columns | None) -> Checks | None:
    """The checklists of these judgments; a reduced judge's stand under its first replicate."""
    if checks is None:
        return None
    order = np.argsort(judgments)
    place, here = places(judgments[order], checks.array("judgment_id"))
    if not here.any():
        return None
    part = checks.coded("part")
    # "f3.r2": the third follow-up, the second response.
    numbers = [tuple(int(each[1:]) - 1 for each in name.split(".")) for name in part.values]
    follow_up, response = np.array(numbers, dtype=np.int16).reshape(-1, 2)[part.codes[here]].T
    return Checks(
        judgment=order[place[here]].astype(np.int32),
        follow_up=follow_up,
        response=response.astype(np.int8),
        value=checks.array("number")[here].astype(np.int8),
    )


def reduce_replicates(rows: pd.DataFrame, rules: Mapping[int, str]) -> pd.DataFrame:
    """One row per (rater, item), by the rule of each rater (see `analytics.statistics.core.replicates`).

    A rater, an item and a replicate are there once, so nothing is to be done where every replicate is the first and
    every rater goes by the default rule, which leaves single readings as they are.
    """
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


def _reduced(rows: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Replicates in their order, so that a judgment goes by its first reading."""
    ordered = rows.sort_values("replicate", kind="stable")
    reduced = reduce_readings(_readings(ordered), rule)
    found = ordered.iloc[reduced.row]
    return found.assign(label=reduced.label, number=reduced.number, first=reduced.first)
