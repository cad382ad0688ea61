"""The one write door: every judgment, of people, judges and imports, enters here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F

from evaluation.database.compiled_queries import CompiledInsert
from evaluation.models import AnswerText, Judgment, Outcome, Study
from evaluation.protocols import AnswerValue
from evaluation.seals import open_seal_key
from evaluation.services.answers import add_layouts, load_answers, save_texts, set_answers, text_rows
from evaluation.services.seals import Written, count_judgments, seal_judgment
from evaluation.services.tallies import mark_items

# In a judgment's trace: the answers that were given first, and how often they were revised.
FIRST, REVISED = "first_answers", "revised"
INSERT_JUDGMENT = CompiledInsert(Judgment, with_keys=True)
INSERT_TEXTS = CompiledInsert(AnswerText)


@dataclass(frozen=True, kw_only=True)
class JudgmentInput:
    """One judgment, cleaned by its protocol."""

    rater_id: int
    item_id: int
    revision_id: int
    replicate: int = 0
    outcome: str = Outcome.OK
    answers: Sequence[AnswerValue] = ()
    shown: str = ""
    surplus: bool = False
    duration_ms: int | None = None
    visible_ms: int | None = None
    judged_at: datetime | None = None
    trace: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if bool(self.answers) != (self.outcome == Outcome.OK):
            raise ValueError(
                f"outcome {self.outcome} with {len(self.answers)} answers: answers exist only for ok"
            )

    @property
    def key(self) -> tuple[int, int, int]:
        return self.rater_id, self.item_id, self.replicate


def record_judgments(
    *, study: Study, batch: Sequence[JudgmentInput], known_new: bool = False
) -> list[Judgment]:
    """Write a batch, all or nothing, and return its judgments in order.

    A judgment that exists already stays, except that any other outcome is replaced by ok (never the reverse), so that
    the same batch may be written twice. `known_new` says that the caller has proof that none of them exists.
    """
    if known_new:
        # No savepoint, which spares two statements: nothing is caught in here.
        with transaction.atomic(savepoint=False):
            return _write(study, batch, _insert)
    try:
        with transaction.atomic():
            return _write(study, batch, _insert)
    except IntegrityError:
        with transaction.atomic():
            return _write(study, batch, _merge)


def _write(
    study: Study,
    batch: Sequence[JudgmentInput],
    write: Callable[[Study, Sequence[JudgmentInput]], list[Judgment]],
) -> list[Judgment]:
    written = write(study, batch)
    mark_items(study, [each.item_id for each in batch])
    return written


def _insert(study: Study, batch: Sequence[JudgmentInput]) -> list[Judgment]:
    judgments = [_row(study, each) for each in batch]
    layouts = [set_answers(judgment, each.answers) for judgment, each in zip(judgments, batch, strict=True)]
    add_layouts(layout for layout in layouts if layout)
    recorded = []
    # Before they are inserted: the seal is a column of the judgment, and covers all others. A study whose secret is not
    # at hand records without; `manage.py verify` says so.
    if key := open_seal_key(study.seal_key):
        for judgment, each in zip(judgments, batch, strict=True):
            recorded.append((judgment.rater_id, 1, seal_judgment(key, judgment, _written(each.answers))))
    if len(judgments) == 1:
        # A participant's submit, by statements that are compiled once.
        [judgment], [each] = judgments, batch
        INSERT_JUDGMENT.run(judgment)
        if texts := text_rows(judgment, each.answers):
            INSERT_TEXTS.run(*texts)
    else:
        Judgment.objects.bulk_create(judgments)
        rows = (text_rows(judgment, each.answers) for judgment, each in zip(judgments, batch, strict=True))
        AnswerText.objects.bulk_create(chain.from_iterable(rows))
    count_judgments(recorded)
    return judgments


def _written(answers: Sequence[AnswerValue]) -> list[Written]:
    return [(each.question, each.part, each.text) for each in answers if each.text is not None]


def _row(study: Study, each: JudgmentInput) -> Judgment:
    return Judgment(
        study_id=study.pk,
        rater_id=each.rater_id,
        item_id=each.item_id,
        revision_id=each.revision_id,
        replicate=each.replicate,
        outcome=each.outcome,
        shown=each.shown,
        surplus=each.surplus,
        duration_ms=each.duration_ms,
        visible_ms=_within(each.visible_ms, each.duration_ms),
        judged_at=each.judged_at,
        trace=each.trace,
    )


def _within(visible: int | None, duration: int | None) -> int | None:
    """A browser can't have shown a page for longer than the server waited for it."""
    if visible is None or duration is None:
        return visible
    return max(0, min(visible, duration))


def _merge(study: Study, batch: Sequence[JudgmentInput]) -> list[Judgment]:
    raters = {each.rater_id for each in batch}
    items = {each.item_id for each in batch}
    rows = Judgment.objects.select_for_update().filter(rater__in=raters, item__in=items)
    existing = {(row.rater_id, row.item_id, row.replicate): row for row in rows}
    merged: list[Judgment] = []
    for each in batch:
        row = existing.get(each.key)
        if row is None:
            row = existing[each.key] = _insert(study, [each])[0]
        elif row.outcome != Outcome.OK and each.outcome == Outcome.OK:
            row = existing[each.key] = _replace(study, row, each)
        merged.append(row)
    return merged


def revise_judgment(*, study: Study, judgment: Judgment, answers: Sequence[AnswerValue]) -> bool:
    """Replace a person's answers; False if they don't differ. The trace keeps those given first and how
    often they were revised; time on task, order and everything else stay those of the first."""
    with transaction.atomic():
        locked = Judgment.objects.select_for_update(no_key=True).get(pk=judgment.pk)
        if locked.outcome != Outcome.OK or not answers:
            raise ValueError(f"judgment {judgment.pk}: only answers can be revised, and by answers")
        before = load_answers(locked)
        if set(before) == set(answers):
            return False
        first = locked.trace.get(FIRST) or [_answer_record(each) for each in before]
        locked.trace = {**locked.trace, FIRST: first, REVISED: locked.trace.get(REVISED, 0) + 1}
        _write_over(study, locked, answers, fields=("answer_layout", "answer_values", "trace", "seal"))
        # Neither the number of judgments nor the highest id tells that figures changed.
        Study.objects.filter(pk=study.pk).update(corrections=F("corrections") + 1)
        mark_items(study, [locked.item_id])
        return True


def _answer_record(answer: AnswerValue) -> dict[str, Any]:
    given = {"number": answer.number, "label": answer.label, "text": answer.text}
    return {
        "question": answer.question,
        "part": answer.part,
        **{name: value for name, value in given.items() if value is not None},
    }


def _replace(study: Study, row: Judgment, each: JudgmentInput) -> Judgment:
    new = _row(study, each)
    new.pk, new.seal = row.pk, row.seal
    _write_over(study, new, each.answers)
    # Neither the number of judgments nor the highest id tells that figures changed.
    Study.objects.filter(pk=study.pk).update(corrections=F("corrections") + 1)
    return new


def _write_over(
    study: Study, judgment: Judgment, answers: Sequence[AnswerValue], fields: Sequence[str] | None = None
) -> None:
    """Save a judgment that exists with these answers in place of its own; its seal is still that of what it was."""
    layout = set_answers(judgment, answers)
    add_layouts([layout] if layout else [])
    before, key = judgment.seal, open_seal_key(study.seal_key)
    marks = 0
    if key is not None:
        marks = seal_judgment(key, judgment, _written(answers))
        marks ^= 0 if before is None else key.mark(before)
    judgment.save(force_update=True, update_fields=fields)
    save_texts(judgment, answers)
    if key is not None:
        # One that was recorded without a key counts from now on.
        count_judgments([(judgment.rater_id, int(before is None), marks)])
