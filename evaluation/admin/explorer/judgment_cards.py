"""Judgments in words, each on a card: answers, texts, times, what was done on the way, and whether it counts."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Q
from django.utils.text import Truncator

from evaluation.admin.explorer.seen_screen import shown_names
from evaluation.extension import JudgeReply, extensions
from evaluation.forms.answers_in_words import AnswerInWords, ResponseNames, answers_in_words
from evaluation.models import Exclusion, Judgment, Note, Outcome, Rater, Role, Study
from evaluation.protocols import AnswerValue, QuestionSpec
from evaluation.selectors import standing_exclusions
from evaluation.services.answers import answers_of
from evaluation.services.settling import reason_of

# The kinds of raters in the order in which their judgments stand.
KINDS = {
    Rater.Kind.SETTLED: "settled",
    Rater.Kind.PERSON: "people",
    Rater.Kind.SIMULATED: "simulated",
    Rater.Kind.JUDGE: "judges",
}
LONGEST_PROMPT = 300
# The names of an item's responses on a card, by the item's stimulus and the judgment.
Naming = Callable[[Mapping[str, Any], Judgment], ResponseNames]


@dataclass(frozen=True)
class JudgmentCard:
    """A judgment as it is read; `exclusion` and `rater_exclusion` stand where it is left out."""

    judgment: Judgment
    answers: list[AnswerInWords]
    order: str
    moves: list[str]
    rationale: str
    signs: Sequence[str]
    replies: Sequence[JudgeReply]
    exclusion: Exclusion | None
    rater_exclusion: Exclusion | None
    notes: Sequence[Note]

    @property
    def anchor(self) -> str:
        """The id of its place on a page."""
        return f"j{self.judgment.pk}"

    @property
    def rater(self) -> Rater:
        return self.judgment.rater

    @property
    def reason(self) -> str:
        """Of a settled label, whether an answer says it or not."""
        return reason_of(self.judgment)

    @property
    def counts(self) -> bool:
        """True if the report would count it."""
        left_out = self.exclusion or self.rater_exclusion or self.judgment.surplus
        return not left_out and self.rater.in_figures and self.judgment.outcome == Outcome.OK

    @property
    def prompt(self) -> str:
        """The beginning of what was asked."""
        stimulus = self.judgment.item.stimulus or {}
        return Truncator(" ".join(stimulus.get("query", {}).get("text", "").split())).chars(LONGEST_PROMPT)

    @property
    def facts(self) -> list[str]:
        """In a few words, the rater and the time that it took."""
        rater, judgment = self.rater, self.judgment
        kind = f"imported {rater.kind}" if rater.source == Rater.Source.IMPORTED else rater.kind
        facts = [kind, rater.group, str(rater.about.get("model", "")), *_times(judgment), self.order]
        return [fact for fact in facts if fact and fact != str(rater)]

    @cached_property
    def marks(self) -> list[str]:
        """Whatever sets it apart from a judgment that counts."""
        judgment = self.judgment
        marks = [
            (judgment.item.role != Role.MAIN, judgment.item.get_role_display()),
            (judgment.outcome != Outcome.OK, judgment.get_outcome_display()),
            (judgment.surplus, "surplus"),
            (judgment.replicate > 0, f"replicate {judgment.replicate}"),
            (judgment.revision.number > 1, f"revision {judgment.revision.number}"),
            (not self.rater.in_figures and self.rater.kind != Rater.Kind.SETTLED, "not in the report"),
            (self.exclusion is not None, "excluded"),
            (self.rater_exclusion is not None, "rater excluded"),
        ]
        return [mark for applies, mark in marks if applies]


def judgment_cards(study: Study, judgments: Sequence[Judgment], naming: Naming) -> list[JudgmentCard]:
    """Cards of judgments that were read with their raters, items and revisions, in as many queries for many as for
    one."""
    stored = [
        (each.pk, each.answer_layout_id, each.answer_values)
        for each in judgments
        if each.answer_layout_id is not None
    ]
    answers = answers_of(stored)
    asked = _Asked(study)
    own, of_raters = _exclusions(study, judgments)
    notes = _notes(judgments)
    replies = _replies(judgments)
    signs = {pk: found for each in extensions() for pk, found in each.judgment_signs(judgments).items()}
    cards = []
    for each in judgments:
        stimulus = each.item.stimulus or {}
        names, questions = naming(stimulus, each), asked.questions(each)
        cards.append(
            JudgmentCard(
                each,
                answers_in_words(questions, stimulus, answers.get(each.pk, ()), names),
                _order(each, names),
                list(_moves(each.trace, names)),
                _rationale(each, answers.get(each.pk, ())),
                signs.get(each.pk, ()),
                replies.get(each.pk) or list(_kept_replies(each.trace)),
                own.get(each.pk),
                of_raters.get(each.rater_id),
                notes.get(each.pk, ()),
            )
        )
    return cards


def _rationale(judgment: Judgment, answers: Iterable[AnswerValue]) -> str:
    """The reason for the answers, unless one of them says it."""
    found = reason_of(judgment) or str(judgment.trace.get("rationale", ""))
    return "" if any((each.text or "").startswith(found) for each in answers) else found


@dataclass(frozen=True)
class AnswerCounts:
    """The answers to one question by raters of one kind, each with the number of times that it was given."""

    question: str
    kind: str
    counts: list[tuple[str, int]]


def count_answers(cards: Iterable[JudgmentCard]) -> list[AnswerCounts]:
    """Of the questions about the item as a whole that have a value, over the judgments that count."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for card in cards:
        for answer in card.answers if card.counts else ():
            values = [part for _, parts in answer.heads for part in parts]
            if not answer.is_text and len(values) == 1 and not values[0].who:
                counter = found.setdefault((answer.name, card.rater.kind), Counter())
                counter[values[0].text] += 1
    return [
        AnswerCounts(name, KINDS[Rater.Kind(kind)], each.most_common())
        for (name, kind), each in found.items()
    ]


def people_first(judgments: Iterable[Judgment]) -> list[Judgment]:
    kinds = list(KINDS)
    return sorted(judgments, key=lambda each: (kinds.index(Rater.Kind(each.rater.kind)), each.pk))


def name_as_seen(systems: Mapping[str, str] | None = None) -> Naming:
    """Responses as each rater saw them, or by the names of systems."""
    return lambda stimulus, judgment: shown_names(stimulus, judgment.shown, systems)


class _Asked:
    """The questions that items ask, read once for each item and revision."""

    def __init__(self, study: Study) -> None:
        self._protocol = study.protocol_object
        self._known: dict[tuple[int, int], list[QuestionSpec]] = {}

    def questions(self, judgment: Judgment) -> list[QuestionSpec]:
        key = (judgment.item_id, judgment.revision_id)
        if key not in self._known:
            self._known[key] = self._protocol.questions(judgment.revision.spec, judgment.item.stimulus or {})
        return self._known[key]


def _exclusions(
    study: Study, judgments: Iterable[Judgment]
) -> tuple[dict[int, Exclusion], dict[int, Exclusion]]:
    """The exclusions that stand, of judgments and of raters, by id."""
    mine = Q(judgment__in=[each.pk for each in judgments]) | Q(
        rater__in={each.rater_id for each in judgments}
    )
    own, of_raters = {}, {}
    for each in standing_exclusions(study).filter(mine).select_related("by"):
        if each.judgment_id is not None:
            own[each.judgment_id] = each
        elif each.rater_id is not None:
            of_raters[each.rater_id] = each
    return own, of_raters


def _notes(judgments: Iterable[Judgment]) -> dict[int | None, list[Note]]:
    found: dict[int | None, list[Note]] = {}
    written = Note.objects.filter(judgment__in=[each.pk for each in judgments]).select_related("by")
    for note in written.order_by("pk"):
        found.setdefault(note.judgment_id, []).append(note)
    return found


def _replies(judgments: Sequence[Judgment]) -> dict[int, Sequence[JudgeReply]]:
    by_judges = [each for each in judgments if each.rater.kind == Rater.Kind.JUDGE]
    if not by_judges:
        return {}
    return {pk: found for each in extensions() for pk, found in each.judge_replies(by_judges).items()}


def _kept_replies(trace: Mapping[str, Any]) -> Iterator[JudgeReply]:
    """Replies that could not be read, as a judgment keeps them beside its answers."""
    steps = trace.get("steps")
    for step, kept in steps.items() if isinstance(steps, dict) else [("", trace)]:
        if isinstance(kept, dict) and (kept.get("raw") or kept.get("error")):
            yield JudgeReply(step, str(kept.get("raw") or ""), "", str(kept.get("error") or ""), "")


def _order(judgment: Judgment, names: ResponseNames) -> str:
    """The order that the rater saw, where it is not that of the names."""
    shown = judgment.shown.split(",")
    if len(names) < 2 or shown == list(names):
        return ""
    if shown[0] not in names:
        return "order unknown"
    return "saw another order" if shown[0] == next(iter(names)) else f"saw {names[shown[0]]} first"


def _times(judgment: Judgment) -> Iterator[str]:
    if judgment.duration_ms is not None:
        yield _seconds(judgment.duration_ms)
    if judgment.visible_ms is not None and judgment.visible_ms != judgment.duration_ms:
        yield f"{_seconds(judgment.visible_ms)} in view"
    if judgment.judged_at:
        yield f"{judgment.judged_at:%Y-%m-%d}"


def _seconds(ms: int) -> str:
    return f"{ms / 1000:,.0f} s" if ms >= 10_000 else f"{ms / 1000:.1f} s"


def _moves(trace: Mapping[str, Any], names: ResponseNames) -> Iterator[str]:
    """The moves that a browser recorded, in order; an import's trace is kept as it came, so what is read is checked."""
    for moves in trace.values():
        for move in moves if isinstance(moves, list) else ():
            if isinstance(move, dict):
                yield from _move(move, names)


def _move(move: Mapping[str, Any], names: ResponseNames) -> Iterator[str]:
    at = f", {_seconds(move['ms'])}" if isinstance(move.get("ms"), int) else ""
    if "part" in move:
        who = names.get(str(move["part"]), str(move["part"]))
        tied = ", the same as the one above" if move.get("tied") else ""
        yield f"{who} from {move.get('from')} to {move.get('to')}{tied}, by {move.get('by')}{at}"
    elif "act" in move:
        yield f"{move['act']} {move.get('field', '')} {move.get('row', '')}".replace("  ", " ").strip() + at
    elif "pasted" in move:
        yield f"{move['pasted']} characters pasted"
    elif "dropped" in move:
        yield f"{move['dropped']} more moves were not kept"
