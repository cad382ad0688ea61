"""A study as it stands in the database, item by item with its judgments, in chunks of bounded size."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Count

from evaluation.dumps.item_parts import context_content
from evaluation.models import Context, Exclusion, Item, Judgment, Note, Rater, Study
from evaluation.protocols import AnswerValue
from evaluation.protocols.attributes import Attributes, attributes_of, fill_in
from evaluation.services.answers import answers_of
from evaluation.services.private_texts import private_words
from evaluation.services.studies.compilation import UNRENDERED, compile_spec, compile_stimulus
from evaluation.services.studies.freeze import select_parts

# Judgments held at once; an item with more of them is still read whole.
MAX_JUDGMENTS = 2_000


@dataclass(frozen=True, slots=True)
class StoredRater:
    # The reason of a standing exclusion, or empty.
    excluded: str
    pseudonym: str
    kind: str
    source: str
    label: str
    group: str
    in_figures: bool
    # What is known of a judge: its model and how it was asked.
    about: dict[str, Any]


@dataclass(slots=True)
class StoredNote:
    text: str
    at: datetime


@dataclass(slots=True)
class StoredJudgment:
    pk: int
    rater: StoredRater
    revision: int
    excluded: str
    answers: list[AnswerValue]
    replicate: int
    outcome: str
    shown: str
    surplus: bool
    duration_ms: int | None
    visible_ms: int | None
    judged_at: datetime | None
    trace: dict[str, Any]
    notes: list[StoredNote] = field(default_factory=list)


@dataclass(slots=True)
class StoredItem:
    pk: int
    key: str
    role: str
    gold: Any
    withdrawn: bool
    start_order: int | None
    # Of a draft: compiled now, without rendering, and without a hash.
    stimulus: dict[str, Any]
    stimulus_hash: str
    # Key and follow-up questions, as `StoredStudy.context` has them.
    context: dict[str, Any] | None
    # What asks the clarifying question; no part of the stimulus, as a context's source is none.
    clarifying_source: str = ""
    origin: dict[str, Any] = field(default_factory=dict)
    revision: int = 1
    judgments: list[StoredJudgment] = field(default_factory=list)
    # Those on the item itself.
    notes: list[StoredNote] = field(default_factory=list)


class StoredStudy:
    """A study's items, read in their order. Raters are kept once seen, everything else belongs to the chunk."""

    def __init__(self, study: Study) -> None:
        self.study = study
        # Eight bytes per item, so that the order needs no cursor held open beside the other queries.
        pks = Item.objects.filter(study=study).order_by("position", "pk").values_list("pk", flat=True)
        self.pks = array("q", pks.iterator())
        frozen = study.revisions.order_by("-number").values_list("spec", flat=True).first()
        self._frozen = frozen is not None
        self._attributes = attributes_of(frozen or compile_spec(study))
        self._raters: dict[int, StoredRater] = {}
        # What members wrote may name somebody by a platform's id, and viewers, who may not read these, get the files.
        self._private = private_words(study)
        self._revisions = dict(study.revisions.values_list("pk", "number"))
        excluded = Exclusion.objects.filter(study=study, undone_at=None, rater__isnull=False)
        self._excluded_raters = {
            pk: self._private.blacked_out(reason) for pk, reason in excluded.values_list("rater_id", "reason")
        }

    def chunks(self) -> Iterator[list[StoredItem]]:
        size = settings.ASSAY_BATCH_SIZE
        for at in range(0, len(self.pks), size):
            for pks in self._split(self.pks[at : at + size].tolist()):
                yield self._chunk(pks)

    def _split(self, pks: list[int]) -> Iterator[list[int]]:
        counts = dict(
            Judgment.objects.filter(item__in=pks).values_list("item").annotate(n=Count("pk")).order_by()
        )
        part: list[int] = []
        judgments = 0
        for pk in pks:
            if part and judgments + counts.get(pk, 0) > MAX_JUDGMENTS:
                yield part
                part, judgments = [], 0
            part.append(pk)
            judgments += counts.get(pk, 0)
        if part:
            yield part

    def _chunk(self, pks: list[int]) -> list[StoredItem]:
        rows = Item.objects.filter(pk__in=pks)
        frozen = rows.select_related("context").defer("context__follow_ups")
        by_pk = {row.pk: self._item(row) for row in (frozen if self._frozen else select_parts(rows))}
        self._add_judgments(by_pk)
        self._add_notes(by_pk)
        return [by_pk[pk] for pk in pks if pk in by_pk]

    def context(self, context: Context) -> dict[str, Any]:
        """Key, follow-up questions and source; those of a draft may name attributes, whose words a launch fills in."""
        follow_ups = fill_in(context.follow_ups, self._attributes) if self._frozen else context.follow_ups
        return {"key": context.key, **context_content(context, follow_ups)}

    def _item_context(self, row: Item, stimulus: dict[str, Any]) -> dict[str, Any] | None:
        """An item's context as it was frozen, with its source, which is no part of what is judged."""
        if row.context is None:
            return None
        if not row.stimulus:
            return self.context(row.context)
        return {"key": row.context.key, **context_content(row.context, stimulus["context"]["follow_ups"])}

    def _item(self, row: Item) -> StoredItem:
        stimulus = row.stimulus or _compiled(row, self._attributes)
        return StoredItem(
            pk=row.pk,
            key=row.key,
            role=row.role,
            gold=row.gold,
            withdrawn=row.withdrawn_at is not None,
            start_order=row.start_order,
            stimulus=stimulus,
            # What is left of an item after an erasure is not what its hash says.
            stimulus_hash="" if row.erased_hash else row.stimulus_hash,
            context=self._item_context(row, stimulus),
            clarifying_source=row.clarifying_source,
            origin=row.origin,
            revision=row.revision_number,
        )

    def _add_judgments(self, items: dict[int, StoredItem]) -> None:
        rows = list(
            Judgment.objects.filter(item__in=list(items))
            .order_by("pk")
            .values_list(
                "pk", "item_id", "rater_id", "revision_id", "replicate", "outcome", "shown", "surplus",
                "duration_ms", "visible_ms", "judged_at", "trace", "answer_layout_id", "answer_values",
            )
        )  # fmt: skip
        self._load_raters({row[2] for row in rows})
        excluded = self._excluded_judgments(rows)
        answers = answers_of([(row[0], *row[-2:]) for row in rows if row[-2] is not None])
        for pk, item, rater, revision, *values, _, _ in rows:
            judgment = StoredJudgment(
                pk,
                self._raters[rater],
                self._revisions[revision],
                excluded.get(pk, ""),
                answers.get(pk, []),
                *values,
            )
            if judgment.rater.kind == Rater.Kind.SETTLED:
                self._black_out(judgment)
            items[item].judgments.append(judgment)

    def _black_out(self, judgment: StoredJudgment) -> None:
        """Black out ids in a settled label, whose reason and texts a member wrote."""
        judgment.trace = self._private.blacked_out_json(judgment.trace)
        judgment.answers = [
            each if each.text is None else replace(each, text=self._private.blacked_out(each.text))
            for each in judgment.answers
        ]

    def _excluded_judgments(self, rows: Sequence[Any]) -> dict[int, str]:
        if not rows:
            return {}
        standing = Exclusion.objects.filter(
            study=self.study, undone_at=None, judgment__in=[row[0] for row in rows]
        )
        reasons = standing.values_list("judgment_id", "reason")
        return {pk: self._private.blacked_out(reason) for pk, reason in reasons if pk is not None}

    def _add_notes(self, items: dict[int, StoredItem]) -> None:
        rows = Note.objects.filter(item__in=list(items)).order_by("pk")
        for item, judgment, text, at in rows.values_list("item_id", "judgment_id", "text", "at"):
            owner: Any = items[item]
            if judgment is not None:
                owner = next(each for each in owner.judgments if each.pk == judgment)
            owner.notes.append(StoredNote(self._private.blacked_out(text), at))

    def _load_raters(self, pks: set[int]) -> None:
        new = [pk for pk in pks if pk not in self._raters]
        fields = ("pk", "pseudonym", "kind", "source", "label", "group", "in_figures", "about")
        rows = Rater.objects.filter(pk__in=new).values_list(*fields)
        for pk, *values in rows if new else ():
            self._raters[pk] = StoredRater(self._excluded_raters.get(pk, ""), *values)


def _compiled(row: Item, attributes: Attributes) -> dict[str, Any]:
    return compile_stimulus(
        arm=row.arm.key,
        query=row.query,
        context=row.context,
        clarifying_question=row.clarifying_question,
        responses=[link.response for link in row.item_responses.all()],
        attributes=attributes,
        render=UNRENDERED,
    )
