"""A study's raters, counting judgments and their answers, as they stand in the database."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from django.db.models import Expression, Q, Value
from django.db.models.fields.json import KeyTextTransform, KeyTransform

from analytics.frames.arrays import RESPONSE, StudyItems
from analytics.frames.items import read_items
from analytics.statistics.core import tidy
from analytics.statistics.core.tidy import MISSING, Bools, Floats, Ints, ascending_order, distinct
from analytics.statistics.preferences.best_picks import NO_PICK
from evaluation.database.columns import ColumnType, read_columns
from evaluation.filters import EVERYTHING, Filters
from evaluation.forms.input.screen_record import SCREEN_TRACE
from evaluation.models import Judgment, Rater, Study
from evaluation.protocols import Kind, QuestionSpec
from evaluation.protocols.answers.layout import AnswerColumns, AnswerPlace
from evaluation.protocols.answers.measures import Measure, declared_measures, gives_only_measures
from evaluation.protocols.base import BOTH_BAD, TIE
from evaluation.protocols.kinds import KINDS
from evaluation.selectors import countable_of_q, countable_q
from evaluation.services.answers import read_answer_columns

if TYPE_CHECKING:
    import pandas as pd

# What a preference between two responses is counted as.
VOTES = {"r1": tidy.FIRST, "r2": tidy.SECOND, TIE: tidy.TIE, BOTH_BAD: tidy.BOTH_BAD}
# Key and kind of the group of all judges, whose members are groups of their own too.
JUDGES = "judges"
# Kind of the group of a jury's members, each a rater; the jury as one rater is a judge among judges.
JURY = "jury"
# How replicates are reduced where a rater's `about` does not say.
DEFAULT_RULE = "majority"
# A judge that is asked in both orders has the two of a sample in replicates 2k and 2k + 1.
ORDERS_PER_SAMPLE = 2
# So many primary keys for each judgment of a study: at most half of them are other studies'.
CLOSE_TOGETHER = 2
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
        return self.take(np.flatnonzero(mask))

    def take(self, rows: Ints) -> "Asked":
        number = None if self.number is None else self.number[rows]
        return replace(
            self, judgment=self.judgment[rows], part=self.part[rows], value=self.value[rows], number=number
        )


@dataclass(frozen=True)
class KnownRater:
    """A rater as frames know it."""

    pseudonym: str
    label: str
    kind: str
    rule: str
    heuristic: bool = False
    measures: tuple[Measure, ...] = ()
    # False of one that gives measures and nothing else.
    answers: bool = True
    # True of one that is made of other raters' judgments.
    derived: bool = False
    # The group of people that it belongs to.
    group: str = ""
    # The jury that it is a member of, and the rule by which that becomes one rater.
    jury: str = ""
    combination: str = DEFAULT_RULE
    # The system whose responses it compares with, in place of the human-written references.
    reference_from: str = ""
    # True of a judge that reads every sample in both orders.
    both_orders: bool = False


@dataclass(frozen=True)
class Membership:
    """Raters who are read together. `combined` are those who count as one, {member: the first member of its jury};
    `within` is the key of the group that this one is a part of, as experts are of people."""

    key: str
    label: str
    kind: str
    members: list[int]
    combined: Mapping[int, int] = field(default_factory=dict)
    within: str = ""

    @property
    def is_one(self) -> bool:
        """True of a jury as one rater."""
        return len(self.combined) == len(self.members) and len(set(self.combined.values())) == 1

    def name_of(self, rater: int, raters: Mapping[int, KnownRater]) -> str:
        """The pseudonym of a rater; a jury that counts as one goes by its key."""
        known = raters[rater]
        return jury_key(known.jury) if rater in self.combined else known.pseudonym


def jury_key(jury: str) -> str:
    return f"jury-{jury}"


@dataclass(frozen=True, eq=False)
class StudyRows:
    """The counting judgments of a study's main items that are not withdrawn, and who gave them; without those of raters
    that answer no question and only give measures.

    `judgments` has a row per judgment, by its primary key: its `item`, a row of `items`, its `rater`, its `replicate`,
    `shown`, the code of the order in which responses were shown, `layout`, the code of how they were arranged on
    the screen, `moment`, when it was made (NO_MOMENT if that is not recorded), and `active` and `visible`, the seconds
    from opening to submitting and those with the page in view (nan if they are not). `item_pks` and `judgment_pks`
    ascend.
    """

    study: Study
    items: StudyItems
    item_pks: Ints
    raters: Mapping[int, KnownRater]
    judgments: "pd.DataFrame"
    judgment_pks: Ints
    shown: tuple[str, ...]
    # "" where it is not recorded.
    layouts: tuple[str, ...]
    # Of these raters alone, whether they are in figures or not; None: of those that are.
    only: tuple[int, ...] | None = None
    filters: Filters = EVERYTHING

    def memberships(self, present: set[int]) -> Iterator[Membership]:
        """The groups of the raters that are `present`, with all judges together if the view asks for it."""
        return memberships(self.raters, present, together=bool(self.filters.judges))

    @cached_property
    def rater_codes(self) -> tuple[Ints, Ints]:
        """The primary keys of the raters that judged, ascending, and of each judgment the place of its rater's there.

        There may be many times as many answers as judgments, so that to look up each one's rater takes long.
        """
        known, _, codes = distinct(self.judgments["rater"].to_numpy())
        return known, codes.astype(np.int32)

    def counting(self, path: str = "") -> Q:
        """The judgments that are read; `path` leads from the rows that are filtered to their judgment."""
        return _counting(self.study, self.only, self.filters, path)

    @cached_property
    def answers(self) -> tuple[AnswerColumns, ...]:
        """The answers in the judgments that are read, but for texts; their keys are rows of `judgments`, ascending."""
        return tuple(
            self._in_order(block) for block in read_answer_columns(Judgment.objects.filter(self.counting()))
        )

    def _in_order(self, block: AnswerColumns) -> AnswerColumns:
        """Those of the judgments that are read; the database gives them in any order."""
        row, known = places(self.judgment_pks, block.key)
        kept = np.flatnonzero(known)
        kept = kept[ascending_order(row[kept])]
        return block.take(kept, row[kept])


def read_rows(study: Study, only: Sequence[int] | None = None, filters: Filters = EVERYTHING) -> StudyRows:
    """The judgments of raters that are in figures, or `only` those of these raters, wherever they are; of either what
    the filters leave."""
    import pandas as pd

    items, item_pks = read_items(study, filters)
    types = dict.fromkeys(("pk", "item_id", "rater_id", "replicate"), ColumnType.WHOLE) | {
        "shown": ColumnType.CODED,
        "arranged": ColumnType.CODED,
        "judged_at": ColumnType.MOMENT,
        "duration_ms": ColumnType.NUMBER,
        "visible_ms": ColumnType.NUMBER,
    }
    raters = {
        pk: rater
        for pk, rater in _raters(study).items()
        if filters.admits(rater.pseudonym, None if rater.kind == Rater.Kind.JUDGE else rater.group)
    }
    if only is not None:
        raters = {pk: raters[pk] for pk in only if pk in raters}
    counting = _counting(study, only, filters)
    # Those of other items have no place among the items: to join millions of judgments with theirs takes longer.
    found = Judgment.objects.filter(counting)
    if measuring := [pk for pk, rater in raters.items() if not rater.answers]:
        found = found.exclude(rater__in=measuring)
    table = read_columns(found.annotate(arranged=_layout(study)).order_by("pk"), types)
    row, known = places(item_pks, table.array("item_id"))
    shown, layout = table.coded("shown"), table.coded("arranged")
    judgments = pd.DataFrame(
        {
            "item": row,
            "rater": table.array("rater_id"),
            "replicate": table.array("replicate"),
            "shown": shown.codes,
            "layout": layout.codes,
            "moment": table.array("judged_at"),
            "active": table.array("duration_ms") / 1000,
            "visible": table.array("visible_ms") / 1000,
        }
    )[known].reset_index(drop=True)
    kept = None if only is None else tuple(only)
    pks = table.array("pk")[known]
    return StudyRows(
        study, items, item_pks, raters, judgments, pks, shown.values, layout.values, kept, filters
    )


def _counting(study: Study, only: Sequence[int] | None, filters: Filters, path: str = "") -> Q:
    counting = countable_q(study, path) if only is None else countable_of_q(study, only, path)
    return counting & filters.judgments(study, path)


def _layout(study: Study) -> Expression:
    """Layout of the responses on a person's screen, from the trace; nothing where no two are compared."""
    if not study.protocol_object.compares_pairs:
        return Value("")
    return KeyTextTransform("layout", KeyTransform(SCREEN_TRACE, "trace"))


def _raters(study: Study) -> dict[int, KnownRater]:
    rows = study.raters.order_by("pk").values_list("pk", "pseudonym", "label", "kind", "group", "about")
    return {
        pk: KnownRater(
            pseudonym,
            label or pseudonym,
            kind,
            about.get("reduction") or DEFAULT_RULE,
            bool(about.get("heuristic")),
            declared_measures(about),
            not gives_only_measures(about),
            bool(about.get("derived")),
            group,
            *jury_of(about),
            reference_from=about.get("reference_from") or "",
            both_orders=is_asked_both_ways(about),
        )
        for pk, pseudonym, label, kind, group, about in rows
    }


def is_asked_both_ways(judge: Mapping[str, Any]) -> bool:
    """True if a judge, as it is described in a report or in a rater's `about`, reads every sample in both orders."""
    return judge.get("orders") == "both" or judge.get("reduction") == "both_ways"


def jury_of(about: Mapping[str, Any]) -> tuple[str, str]:
    """The name of the jury that a judge is a member of, and the rule by which that becomes one rater."""
    jury = about.get("jury") or {}
    return str(jury.get("name", "")), str(jury.get("combination") or DEFAULT_RULE)


def memberships(
    raters: Mapping[int, KnownRater], present: set[int], *, together: bool = False
) -> Iterator[Membership]:
    """People together, simulated raters together and apart from people, and each judge alone. Where people are not all
    of one group, each of their groups is one, too. Several judges are also a group `together` or where nobody else is
    present.

    Members of a jury are a group of their own; beside others, and so against people, their jury is one rater.

    It has the judges that are `present` in the figures: of preferences, one that was only asked for checklists adds
    none. A heuristic is no judge, and what is derived from judges would count them twice.
    """
    for kind, label in ((Rater.Kind.PERSON, "People"), (Rater.Kind.SIMULATED, "Simulated raters")):
        members = [pk for pk, rater in raters.items() if rater.kind == kind]
        if members:
            yield Membership(str(kind), label, str(kind), members)
            yield from _groups_within(
                str(kind), label, {pk: raters[pk].group for pk in members if pk in present}
            )
    judges = {pk: rater for pk, rater in raters.items() if rater.kind == Rater.Kind.JUDGE}
    own = [pk for pk, rater in judges.items() if pk in present and not rater.heuristic and not rater.derived]
    juries = _juries(judges, own)
    combined = {pk: members[0] for members in juries.values() for pk in members}
    alone = present <= judges.keys()
    if (together or alone) and len({combined.get(pk, pk) for pk in own}) > 1:
        yield Membership(JUDGES, "Judges together", JUDGES, own, combined)
    for name, members in juries.items():
        key, label = jury_key(name), f"Jury {name}"
        yield Membership(f"{key}-members", f"{label}, its members", JURY, members)
        yield Membership(key, label, str(Rater.Kind.JUDGE), members, dict.fromkeys(members, members[0]))
    for pk, rater in judges.items():
        if pk not in combined:
            yield Membership(rater.pseudonym, rater.label, rater.kind, [pk])


def _groups_within(kind: str, label: str, groups: Mapping[int, str]) -> Iterator[Membership]:
    """The groups of people with a name, unless all are of one: of that everything was said already."""
    found = set(groups.values())
    for name in sorted(found - {""}) if len(found) > 1 else ():
        members = [pk for pk, group in groups.items() if group == name]
        yield Membership(f"{kind}-{name}", f"{label}, {name}", kind, members, within=kind)


def _juries(judges: Mapping[int, KnownRater], own: Sequence[int]) -> dict[str, list[int]]:
    """The members of each jury of whom more than one is there: one alone stands for itself."""
    found: dict[str, list[int]] = {}
    for pk in own:
        if name := judges[pk].jury:
            found.setdefault(name, []).append(pk)
    return {name: members for name, members in found.items() if len(members) > 1}


def places(
    ascending: npt.NDArray[Any], wanted: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The place of each wanted value, and a mask of those that are there."""
    if not len(ascending):
        return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=bool)
    low, span = int(ascending[0]), int(ascending[-1]) - int(ascending[0]) + 1
    if span > CLOSE_TOGETHER * len(ascending):
        place = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
        return place, ascending[place] == wanted
    table = np.full(span, -1, dtype=np.int64)
    table[ascending - low] = np.arange(len(ascending))
    inside = (wanted >= low) & (wanted < low + span)
    place = table[np.where(inside, wanted - low, 0)]
    known = inside & (place >= 0)
    return np.where(known, place, 0), known


def read_answers(
    rows: StudyRows, questions: Sequence[QuestionSpec], *, pairs: bool = False
) -> dict[str, Asked]:
    """The answers to each question. Of `pairs` the value of a preference is one of VOTES."""
    counted = [question for question in questions if KINDS[question.kind].rule is not None]
    if not counted:
        return {}
    kinds = {question.kind for question in counted}
    # The answers of a layout, and those of them that are the question's.
    found: dict[str, list[tuple[AnswerColumns, list[AnswerPlace]]]] = {
        question.key: [] for question in counted
    }
    for block in rows.answers:
        of_question: dict[str, list[AnswerPlace]] = {}
        for place in block.layout.places:
            if place.kind in kinds and place.question in found:
                of_question.setdefault(place.question, []).append(place)
        for key, mine in of_question.items():
            found[key].append((block, mine))
    return {each.key: _asked(each, found[each.key], pairs=pairs) for each in counted}


def _asked(
    question: QuestionSpec, given: Sequence[tuple[AnswerColumns, Sequence[AnswerPlace]]], *, pairs: bool
) -> Asked:
    has_labels = KINDS[question.kind].storage == "label"
    # An earlier revision may have asked the same in another form.
    usable = (
        (block, [place for place in mine if (place.label is not None) == has_labels and not place.is_text])
        for block, mine in given
    )
    used = [(block, mine) for block, mine in usable if mine and len(block.key)]
    names = {place.part for _, mine in used for place in mine}
    # By name first: parts that go by one number would else stand in any order.
    parts = sorted(sorted(names), key=_part_order(question))
    asked = [_of_block(question, parts, block, mine, pairs=pairs) for block, mine in used]
    if len(asked) == 1:
        return asked[0]
    judgment, part = (
        np.concatenate([np.zeros(0, np.int32), *(getattr(each, name) for each in asked)])
        for name in ("judgment", "part")
    )
    value = np.concatenate([np.zeros(0), *(each.value for each in asked)])
    number = np.concatenate([np.zeros(0), *(each.number for each in asked)]) if has_labels else None
    order = ascending_order(judgment.astype(np.int64) * max(len(parts), 1) + part)
    return Asked(question, tuple(parts), judgment, part, value, number).take(order)


def _of_block(
    question: QuestionSpec,
    parts: Sequence[str],
    block: AnswerColumns,
    mine: Sequence[AnswerPlace],
    *,
    pairs: bool,
) -> Asked:
    """By judgment and then by part, as all answers to a question are: sums depend on the order in their last digit."""
    code = {part: at for at, part in enumerate(parts)}
    mine = sorted(mine, key=lambda place: code[place.part])
    number = block.numbers(mine).ravel()
    value = number
    if has_labels := KINDS[question.kind].storage == "label":
        meanings = np.array(
            [_label_code(question, label, pairs=pairs) for label in block.labels], dtype=np.float64
        )
        value = meanings[block.codes(mine)].ravel()
    codes = np.array([code[place.part] for place in mine], dtype=np.int32)
    return Asked(
        question,
        tuple(parts),
        np.repeat(block.key.astype(np.int32), len(mine)),
        np.tile(codes, len(block.key)),
        value,
        number if has_labels else None,
    )


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
        return VOTES.get(label, MISSING)
    return NO_PICK if label == TIE or not RESPONSE.search(label) else int(label[1:]) - 1
