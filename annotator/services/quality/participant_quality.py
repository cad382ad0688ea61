"""Signs of careless work, per participant. They are for a researcher to read: nothing excludes by itself."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import Q, QuerySet, TextField
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Cast

from analytics.statistics.raters import quality
from annotator.models import Assignment, AssignmentState, Participant
from evaluation.database.columns import CodedColumn, Columns, ColumnType, read_columns
from evaluation.forms.input.screen_record import SCREEN_TRACE, TABS
from evaluation.models import AnswerText, Item, Judgment, Outcome, Role, Study
from evaluation.protocols import Kind, Over, QuestionSpec
from evaluation.protocols.answers.gold import compare_all
from evaluation.protocols.answers.trace import count_pasted
from evaluation.selectors import standing_exclusions
from evaluation.services.answers import answers_by_judgment, read_answer_rows
from evaluation.services.settled_gold import settled_gold

# Each of these is a sign only with so many judgments behind it.
ENOUGH = 3
FAST_SHARE = 0.4
LINES_SHARE = 0.8
SIDE_P = 0.01
SHORT_SHARE = 0.5
# Of the judgments, or of the texts.
MOST = 0.5
FAR_FROM_OTHERS = -3.5
# Of people whose agreement is known, before one of them can be far from the others.
ENOUGH_PEOPLE = 5
ITEMS_AT_ONCE = 500
MOST_BROWSERS = 8


@dataclass(frozen=True)
class Share:
    """A count out of a total."""

    k: int = 0
    n: int = 0

    def __str__(self) -> str:
        return f"{self.k:,} of {self.n:,}" if self.n else ""


@dataclass
class ParticipantQuality:
    """The quality of one participant's work, with signs that a researcher should look at."""

    participant: Participant
    excluded: str
    judged: int = 0
    seconds: float | None = None
    relative_time: float | None = None
    # Judgments that took less time than anybody can read their texts in, of those of known time.
    unread: Share = field(default_factory=Share)
    # Of these, in words: the median time, and the median number of words.
    haste: str = ""
    # Judgments in which a response never came into view, of those in which the page's script told; so of tabs.
    unseen: Share = field(default_factory=Share)
    unopened: Share = field(default_factory=Share)
    lines: Share = field(default_factory=Share)
    first: Share = field(default_factory=Share)
    texts: quality.Texts = field(default_factory=quality.Texts)
    attention: Share = field(default_factory=Share)
    skipped_checks: int = 0
    gold: Share = field(default_factory=Share)
    agreement: float | None = None
    # The judgments that were made in one browser before another was gone on with, in their order.
    browsers: list[int] = field(default_factory=list)
    signs: list[str] = field(default_factory=list)

    @property
    def time_in_percent(self) -> str:
        return "" if self.relative_time is None else f"{self.relative_time:.0%}"

    @property
    def is_comparable(self) -> bool:
        """True once somebody else has judged one of the same items in a time that is known."""
        return self.relative_time is not None

    @property
    def agreement_in_percent(self) -> str:
        return "" if self.agreement is None else f"{self.agreement:.0%}"


def quality_of(study: Study) -> list[ParticipantQuality]:
    """A report per participant, those with most signs first."""
    excluded = dict(standing_exclusions(study).filter(rater__isnull=False).values_list("rater_id", "reason"))
    participants = Participant.objects.filter(study=study).select_related("rater").order_by("pk")
    reports = [ParticipantQuality(each, excluded.get(each.rater_id, "")) for each in participants]
    if not reports:
        return []
    work = _Work(study, [each.participant.rater_id for each in reports])
    _add_times(reports, work)
    _add_screens(reports, work)
    _add_answers(reports, work)
    _add_texts(reports, work)
    _add_gold(reports, study)
    for report in reports:
        report.signs += _signs(report)
    _add_far_from_others(reports)
    return sorted(reports, key=lambda report: -len(report.signs))


class _Work:
    """The participants' work on main items, as columns; raters by their place among the participants."""

    def __init__(self, study: Study, raters: Sequence[int]) -> None:
        self.study = study
        self.n = len(raters)
        self._raters = np.array(sorted(raters))
        self._places = np.argsort(np.argsort(np.array(raters)))
        self._back = np.argsort(np.array(raters))
        self.judgments = read_columns(
            self._main(Judgment.objects.all()).order_by("pk"),
            {
                "pk": ColumnType.WHOLE,
                "rater_id": ColumnType.WHOLE,
                "item_id": ColumnType.WHOLE,
                "duration_ms": ColumnType.NUMBER,
                "visible_ms": ColumnType.NUMBER,
            },
        )

    def _main(self, rows: QuerySet[Any], path: str = "") -> QuerySet[Any]:
        return rows.filter(
            **{
                f"{path}study": self.study,
                f"{path}outcome": Outcome.OK,
                f"{path}item__role": Role.MAIN,
                f"{path}rater__participant__isnull": False,
            }
        )

    def place(self, rater: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Each rater's place among the reports."""
        return np.asarray(self._back[np.searchsorted(self._raters, rater)])

    def screens(self) -> list[tuple[int, dict[str, Any], str]]:
        """Of each judgment that tells how its item was shown: rater, what it tells, and the responses in order."""
        rows = self._main(Judgment.objects.filter(trace__has_key=SCREEN_TRACE)).order_by("pk")
        told = rows.values_list("rater_id", KeyTransform(SCREEN_TRACE, "trace"), "shown")
        return [
            (rater, screen, shown) for rater, screen, shown in told.iterator() if isinstance(screen, dict)
        ]

    def answers(self) -> Columns:
        """Every answer but texts and entries."""
        fields = dict.fromkeys(("rater_id", "item_id"), ColumnType.WHOLE) | {"shown": ColumnType.CODED}
        return read_answer_rows(self._main(Judgment.objects.all()), fields)

    def texts(self) -> QuerySet[AnswerText]:
        asked = [key for key, question in _questions(self.study).items() if question.kind == Kind.TEXT]
        return self._main(AnswerText.objects.filter(question__in=asked), "judgment__")


def _add_times(reports: list[ParticipantQuality], work: _Work) -> None:
    columns = work.judgments
    rater = work.place(columns.array("rater_id"))
    item = np.unique(columns.array("item_id"), return_inverse=True)[1]
    seconds = columns.array("duration_ms") / 1000
    own, relative = quality.relative_times(rater, item, seconds, work.n)
    # The page may have been open for longer than it was in view.
    reading = np.fmin(seconds, columns.array("visible_ms") / 1000)
    words = _words(columns.array("item_id"))
    hurried, timed = quality.unread(rater, reading, words, work.n)
    order = np.argsort(rater, kind="stable")
    for at, (report, mine) in enumerate(
        zip(reports, np.split(order, np.searchsorted(rater[order], np.arange(1, work.n))), strict=True)
    ):
        report.judged, report.seconds, report.relative_time = len(mine), _known(own[at]), _known(relative[at])
        report.unread = Share(int(hurried[at]), int(timed[at]))
        if report.unread.k:
            report.haste = f"{np.nanmedian(reading[mine]):,.1f} s for {np.median(words[mine]):,.0f} words"


def _words(items: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """The number of words on the screen for each of these items."""
    distinct, place = np.unique(items, return_inverse=True)
    counts = [quality.count_words(text) for text in _sources(distinct.tolist())]
    return np.array(counts, dtype=np.float64)[place]


def _add_screens(reports: list[ParticipantQuality], work: _Work) -> None:
    """Add the judgments in which a response never came into view, and how many in a row came from the same browser,
    where the page's script told."""
    screens = work.screens()
    place = work.place(np.array([rater for rater, *_ in screens], dtype=np.int64))
    told: Counter[tuple[int, bool]] = Counter()
    missed: Counter[tuple[int, bool]] = Counter()
    codes: list[list[str]] = [[] for _ in reports]
    for at, (_, screen, shown) in zip(place.tolist(), screens, strict=True):
        in_view, in_tabs = screen.get("in_view"), screen.get("layout") == TABS
        if in_view and shown:
            told[at, in_tabs] += 1
            missed[at, in_tabs] += not set(shown.split(",")) <= set(in_view)
        if code := screen.get("browser"):
            codes[at].append(code)
    for at, report in enumerate(reports):
        report.unseen = Share(missed[at, False], told[at, False])
        report.unopened = Share(missed[at, True], told[at, True])
        report.browsers = [len(list(row)) for _, row in groupby(codes[at])]


def _add_answers(reports: list[ParticipantQuality], work: _Work) -> None:
    """Straight lines, sides and agreement, from every answer that is no text and no entry."""
    columns = work.answers()
    rater = work.place(columns.array("rater_id"))
    questions = _questions(work.study)
    _add_lines(reports, work, columns, rater, questions)
    _add_sides(reports, work, columns, rater)
    _add_agreement(reports, work, columns, rater, questions)


def _questions(study: Study) -> dict[str, QuestionSpec]:
    """By key, as the first revision asks them; kinds and scales are the same in all."""
    revision = study.revisions.first()
    asked = revision.spec["questions"] if revision else []
    return {data["key"]: QuestionSpec.from_json(data) for data in asked}


def _is(columns: Columns, name: str, wanted: Any) -> npt.NDArray[np.bool_]:
    """Mask of the rows that have one of these texts in that column."""
    coded = columns.coded(name)
    return np.isin(coded.codes, [at for at, value in enumerate(coded.values) if value in wanted])


def _add_lines(
    reports: list[ParticipantQuality],
    work: _Work,
    columns: Columns,
    rater: npt.NDArray[np.int64],
    questions: dict[str, QuestionSpec],
) -> None:
    """Add straight lines in questions that are asked of several parts; tags that are all left empty are none."""
    gridded = {
        key
        for key, question in questions.items()
        if question.kind in (Kind.SCALE, Kind.CHECKLIST) and question.over not in (Over.ITEM, Over.CHOICE)
    }
    rows = _is(columns, "question", gridded)
    judgment = np.unique(columns.array("judgment")[rows], return_inverse=True)[1]
    flat, long = quality.straight_lines(judgment, rater[rows], columns.array("number")[rows], work.n)
    for report, k, n in zip(reports, flat, long, strict=True):
        report.lines = Share(int(k), int(n))


def _add_sides(
    reports: list[ParticipantQuality], work: _Work, columns: Columns, rater: npt.NDArray[np.int64]
) -> None:
    """Add side bias in preferences between two responses whose order is known."""
    label, shown = columns.coded("label"), columns.coded("shown")
    pairs = _is(columns, "shown", {"r1,r2", "r2,r1"})
    rows = pairs & _is(columns, "kind", {str(Kind.PREFERENCE)}) & _is(columns, "label", {"r1", "r2"})
    firsts = np.array([value.partition(",")[0] for value in shown.values] or [""])
    labels = np.array(label.values or [""])
    first = firsts[shown.codes[rows]] == labels[label.codes[rows]]
    for report, side in zip(reports, quality.sides(rater[rows], first, work.n), strict=True):
        report.first = Share(side.first, side.n)
        if side.p is not None and side.p < SIDE_P:
            where = "first" if side.first * 2 > side.n else "second"
            report.signs.append(
                f"prefers what is shown {where} ({max(side.first, side.n - side.first)} of {side.n})"
            )


def _add_agreement(
    reports: list[ParticipantQuality],
    work: _Work,
    columns: Columns,
    rater: npt.NDArray[np.int64],
    questions: dict[str, QuestionSpec],
) -> None:
    """The mean over questions of the agreement with the others who judged the same."""
    found = []
    part = columns.coded("part").codes.astype(np.int64)
    item = columns.array("item_id")
    for key, question in questions.items():
        rows = _is(columns, "question", {key})
        if question.kind == Kind.TEXT or not rows.any():
            continue
        unit = np.unique(np.stack([item[rows], part[rows]]), axis=1, return_inverse=True)[1].ravel()
        labelled = question.kind in (Kind.PREFERENCE, Kind.CHOICE)
        value = (
            columns.coded("label").codes[rows].astype(np.float64)
            if labelled
            else columns.array("number")[rows]
        )
        span = _span(question, value)
        found.append(quality.agreement_with_others(unit, rater[rows], value, span, work.n))
    if not found:
        return
    table = np.stack(found)
    known = ~np.isnan(table)
    n = known.sum(axis=0)
    means = np.where(n > 0, np.where(known, table, 0).sum(axis=0) / np.maximum(n, 1), np.nan)
    for report, each in zip(reports, means, strict=True):
        report.agreement = _known(each)


def _span(question: QuestionSpec, value: npt.NDArray[Any]) -> float | None:
    """The width of a scale, or of the ranks that were given; None where values are labels."""
    if question.kind == Kind.SCALE:
        return float(question.points[-1] - question.points[0])
    if question.kind == Kind.RANKING:
        return max(1.0, float(value.max() - value.min()))
    return None


def _add_texts(reports: list[ParticipantQuality], work: _Work) -> None:
    written = work.texts().order_by("judgment__item_id", "pk")
    columns = read_columns(
        # As text: most traces are alike, and read once.
        written.annotate(trace=Cast("judgment__trace", TextField())),
        {
            "judgment__rater_id": ColumnType.WHOLE,
            "judgment__item_id": ColumnType.WHOLE,
            "text": ColumnType.TEXT,
        }
        | dict.fromkeys(("question", "trace"), ColumnType.CODED),
    )
    found = quality.odd_texts(
        work.place(columns.array("judgment__rater_id")).tolist(),
        columns.array("text").tolist(),
        _pasted(columns.coded("question"), columns.coded("trace")),
        _sources(columns.array("judgment__item_id").tolist()),
        work.n,
    )
    for report, texts in zip(reports, found, strict=True):
        report.texts = texts


def _pasted(question: CodedColumn, trace: CodedColumn) -> list[int | None]:
    """The number of pasted characters of each text, from what its judgment's trace says of its question."""
    traces = [json.loads(text or "{}") for text in trace.values]
    return [
        count_pasted(traces[of].get(question.values[asked]))
        for asked, of in zip(question.codes.tolist(), trace.codes.tolist(), strict=True)
    ]


def _sources(items: Sequence[int]) -> Iterator[str]:
    """The text on the screen for each of these items, which are in order: a few stimuli are open at a time."""
    distinct = list(dict.fromkeys(items))
    texts: dict[int, str] = {}
    at = 0
    for item in items:
        if item not in texts:
            batch = distinct[at : at + ITEMS_AT_ONCE]
            at += ITEMS_AT_ONCE
            rows = Item.objects.filter(pk__in=batch).values_list("pk", "stimulus")
            texts = {pk: shown_texts(stimulus or {}) for pk, stimulus in rows}
        yield texts.get(item, "")


def shown_texts(stimulus: dict[str, Any]) -> str:
    texts = [stimulus.get("query", {}).get("text", "")]
    texts += [response["text"] for response in stimulus.get("responses", [])]
    return "\n".join(texts)


def _add_gold(reports: list[ParticipantQuality], study: Study) -> None:
    """Attention checks, and every other item with gold but training, where mistakes are what it is for."""
    skipped = Q(state=AssignmentState.SKIPPED, item__role=Role.ATTENTION)
    rows = (
        Assignment.objects.filter(skipped | Q(passed__isnull=False), participant__study=study)
        .exclude(item__role=Role.TRAINING)
        .values_list("participant_id", "item__role", "passed")
    )
    counts: dict[tuple[int, bool], Counter[bool | None]] = defaultdict(Counter)
    for participant, role, passed in rows.iterator():
        counts[(participant, role == Role.ATTENTION)][passed] += 1
    for participant, passed in _against_settled(study):
        counts[(participant, False)][passed] += 1
    for report in reports:
        checks, gold = counts[(report.participant.pk, True)], counts[(report.participant.pk, False)]
        # What was skipped was neither passed nor failed.
        report.skipped_checks = checks.pop(None, 0)
        report.attention = Share(checks[True], checks.total())
        report.gold = Share(gold[True], gold.total())


def _against_settled(study: Study) -> Iterator[tuple[int, bool]]:
    """Participants' judgments of items whose settled label is gold, and whether they give it."""
    gold = settled_gold(study)
    if not gold:
        return
    theirs = Judgment.objects.filter(
        study=study, item__in=gold, outcome=Outcome.OK, rater__participant__isnull=False
    )
    rows = list(theirs.order_by("pk").values_list("pk", "item", "rater__participant"))
    answers = answers_by_judgment([pk for pk, *_ in rows])
    for pk, item, participant in rows:
        yield participant, compare_all(gold[item], answers.get(pk, ())).passed


def _signs(report: ParticipantQuality) -> list[str]:
    """Signs that a researcher should look at, each with the figures that say so."""
    signs = []
    if report.attention.k < report.attention.n:
        signs.append(f"passed {report.attention} attention checks")
    if report.skipped_checks:
        signs.append(f"skipped {_counted(report.skipped_checks)}")
    if len(report.browsers) > 1:
        signs.append(f"went on in another browser (judgments in each: {_in_a_row(report.browsers)})")
    if report.gold.n >= ENOUGH and report.gold.k * 2 < report.gold.n:
        signs.append(f"has {report.gold} gold items right")
    if report.judged >= ENOUGH and (report.relative_time or 1.0) < FAST_SHARE:
        signs.append(f"takes {report.relative_time:.0%} of the time others take for the same items")
    if report.unread.n >= ENOUGH and report.unread.k >= MOST * report.unread.n:
        signs.append(
            f"submitted {report.unread} judgments faster than anybody reads (medians: {report.haste})"
        )
    for share, what in (
        (report.unseen, "without having had every response in view"),
        (report.unopened, "without having opened every response's tab"),
    ):
        if share.n >= ENOUGH and share.k >= MOST * share.n:
            signs.append(f"submitted {share} judgments {what}")
    if report.lines.n >= ENOUGH and report.lines.k >= LINES_SHARE * report.lines.n:
        signs.append(f"gives the same answer throughout in {report.lines} judgments")
    return signs + _text_signs(report.texts)


def _in_a_row(browsers: Sequence[int]) -> str:
    more = f", and {len(browsers) - MOST_BROWSERS} more times" if len(browsers) > MOST_BROWSERS else ""
    return ", then ".join(map(str, browsers[:MOST_BROWSERS])) + more


def _counted(checks: int) -> str:
    return f"{checks} attention check{'' if checks == 1 else 's'}"


def _text_signs(texts: quality.Texts) -> list[str]:
    signs = []
    often = texts.n >= ENOUGH and texts.again >= MOST * texts.n
    if texts.n >= ENOUGH and texts.short >= SHORT_SHARE * texts.n:
        signs.append(f"{texts.short} of {texts.n} texts are very short")
    for n, what in (
        # Short ones are alike by chance, until most of them are.
        (texts.again if often else texts.repeated, "repeat an earlier one"),
        (texts.padded, "say the same word over and over"),
        (texts.like_others, "are identical to another participant's"),
        (texts.copied, "are copied from the screen"),
    ):
        if n:
            signs.append(f"{n} of {texts.n} texts {what}")
    if texts.pasted:
        signs.append(f"{texts.pasted} of {texts.watched} texts are mostly pasted")
    return signs


def _add_far_from_others(reports: list[ParticipantQuality]) -> None:
    known = np.array([np.nan if each.agreement is None else each.agreement for each in reports])
    is_known = ~np.isnan(known)
    if np.count_nonzero(is_known) < ENOUGH_PEOPLE:
        return
    # Where many are careless in other ways, anybody looks like the others.
    reference = is_known & np.array([not each.signs for each in reports])
    if np.count_nonzero(reference) < ENOUGH_PEOPLE:
        reference = is_known
    for report, z in zip(reports, quality.modified_z(known, reference), strict=True):
        if z < FAR_FROM_OTHERS and report.judged >= ENOUGH:
            signs = f"agrees with others far less than they agree with each other ({report.agreement:.0%})"
            report.signs.append(signs)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
