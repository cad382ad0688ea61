"""Writing what a dump brings: in short transactions, into a study that stays invisible until all of it is there.

Whoever calls has checked everything; here it only becomes rows. Judgments go through `record_judgments` like all
others.
"""

import pickle
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone

from evaluation.canonical import canonical_hash
from evaluation.models import (
    Arm,
    Context,
    Exclusion,
    Import,
    Item,
    ItemResponse,
    Judgment,
    Note,
    Query,
    Rater,
    Response,
    Revision,
    Status,
    Study,
    System,
)
from evaluation.protocols.attributes import attributes_of
from evaluation.services.judgments import JudgmentInput, record_judgments
from evaluation.services.seals import own_digest, seal_changed, seal_new
from evaluation.services.studies.compilation import SHOWN_WHERE_SET, compile_spec
from evaluation.services.studies.creation import create_study, write_attributes, write_questions_and_texts
from evaluation.services.studies.freeze import (
    assign_orders,
    compute_study_hash,
    hash_added_items,
    seal_items,
    set_stimulus,
)

# The spec's keys that are fields of the study.
SPEC_FIELDS = ("asker", "seed", "once_per", "render_as", "baseline", "show_references", "steps", "skips")
# Those that a spec names only where they are not the default.
OPTIONAL_FIELDS = (
    *("arm_per", "needs", "shares", "language", "texts_language", "epsilon", "stopping", "human_sample"),
    *SHOWN_WHERE_SET,
)


@dataclass(frozen=True, kw_only=True)
class StudyInput:
    """A study before it is rows: complete specs of its revisions, the first one first; rules; systems; and the queries
    that no item may be about, unsaved."""

    slug: str
    specs: Sequence[dict[str, Any]]
    rules: Mapping[str, Any]
    systems: Sequence[Mapping[str, Any]]
    queries: Sequence[Query] = ()
    # `Study.origin`
    origin: Mapping[str, Any] = field(default_factory=dict)
    # The number and the digest of its judgments that came with it.
    sealed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def spec(self) -> dict[str, Any]:
        """The latest revision's spec, from which rows are made and against which items are checked."""
        return self.specs[-1]

    def fields(self) -> dict[str, Any]:
        named = {name: self.spec[name] for name in OPTIONAL_FIELDS if name in self.spec}
        return {**{name: self.spec[name] for name in SPEC_FIELDS}, **named, **self.rules}

    def unsaved(self) -> Study:
        spec = self.spec
        return Study(slug=self.slug, title=spec["title"], protocol=spec["protocol"], **self.fields())


@dataclass(frozen=True)
class RaterInput:
    pseudonym: str
    kind: str
    label: str
    source: str
    group: str = ""


@dataclass(frozen=True)
class RaterFacts:
    """A rater's data on the study's line: `Rater.in_figures`, `Rater.group` and `Rater.about`."""

    in_figures: bool = True
    group: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ImportedNote:
    text: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class ImportedJudgment:
    """A judgment before it is a row. `values` are `JudgmentInput`'s, without the ids."""

    rater: RaterInput
    revision: int
    values: Mapping[str, Any]
    # Reasons of standing exclusions, empty where there is none.
    rater_excluded: str = ""
    excluded: str = ""
    # Its place among the judgments of the study, where the dump tells their order.
    place: int | None = None
    notes: Sequence[ImportedNote] = ()


@dataclass(frozen=True, kw_only=True)
class ImportedItem:
    """An item before it is rows; the rows in it are unsaved and lack their foreign keys to saved ones."""

    arm: str
    item: Item
    query: Query
    context: Context | None
    responses: Sequence[Response]
    # None leaves the item a draft.
    stimulus: dict[str, Any] | None
    judgments: Sequence[ImportedJudgment] = field(default_factory=list)
    notes: Sequence[ImportedNote] = ()


def begin_import(
    study_input: StudyInput, *, file_name: str, format: str, frozen: bool, owner: Any = None
) -> Study:
    """The study without items, under an import that hides it. Raises ValidationError for a slug that is taken."""
    spec = study_input.spec
    with transaction.atomic():
        dump = Import.objects.create(file_name=file_name[-255:], format=format, by=owner)
        study = create_study(
            slug=study_input.slug,
            title=spec["title"],
            protocol=spec["protocol"],
            owner=owner,
            created_by_import=dump,
            origin=dict(study_input.origin),
            sealed_before=dict(study_input.sealed),
            **study_input.fields(),
        )
        _write_spec_rows(study, spec)
        System.objects.bulk_create(System(study=study, **system) for system in study_input.systems)
        for query in study_input.queries:
            query.study, query.dump = study, dump
        Query.objects.bulk_create(study_input.queries, batch_size=settings.ASSAY_BATCH_SIZE)
        if frozen:
            Revision.objects.bulk_create(
                Revision(study=study, number=number, spec=each, spec_hash=canonical_hash(each))
                for number, each in enumerate(study_input.specs, 1)
            )
    return study


def _write_spec_rows(study: Study, spec: Mapping[str, Any]) -> None:
    Arm.objects.bulk_create(Arm(study=study, position=n, **arm) for n, arm in enumerate(spec["arms"]))
    write_questions_and_texts(study, spec)
    write_attributes(study, attributes_of(spec))
    if canonical_hash(compile_spec(study)) != canonical_hash(spec):
        raise RuntimeError("the rows of this study do not compile to the spec that they were made from")


class JudgmentSpool:
    """Judgments that wait in a file for their turn: sixteen bytes of memory for each."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed on leaving
        self._places = array("q")
        self._offsets = array("q")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._file.close()

    def add(self, place: int, item: int, judgment: ImportedJudgment) -> None:
        self._places.append(place)
        self._offsets.append(self._file.tell())
        pickle.dump((item, judgment), self._file)

    def batches(self, size: int) -> Iterator[list[tuple[int, ImportedJudgment]]]:
        """Items' primary keys and their judgments, by place."""
        order = sorted(range(len(self._places)), key=self._places.__getitem__)
        for at in range(0, len(order), size):
            yield [self._read(each) for each in order[at : at + size]]

    def _read(self, number: int) -> tuple[int, ImportedJudgment]:
        self._file.seek(self._offsets[number])
        read: tuple[int, ImportedJudgment] = pickle.load(self._file)  # noqa: S301 - written above, by this process
        return read


class ImportWriter:
    """A writer of batches of items with their judgments into a study that is being imported.

    With a `spool` the judgments wait in it until `write_spooled`, and are then written in their order, after their
    raters, who stand in that of `rater_facts`.
    """

    def __init__(
        self, study: Study, rater_facts: Mapping[str, RaterFacts], spool: JudgmentSpool | None = None
    ) -> None:
        self.study = study
        self.spool = spool
        self.rater_facts = rater_facts
        self.dump = study.created_by_import
        self.counts = {"items": 0, "judgments": 0, "raters": 0}
        self._arms = dict(study.arms.values_list("key", "pk"))
        self._systems = dict(study.systems.values_list("key", "pk"))
        self._revisions = dict(study.revisions.values_list("number", "pk"))
        self._raters: dict[str, int] = {}
        self._waiting: dict[str, RaterInput] = {}
        self._excluded_raters: set[int] = set()

    def write(self, batch: Sequence[ImportedItem]) -> None:
        """Write one batch in a short transaction."""
        with transaction.atomic():
            self._write_systems(batch)
            queries = self._write_queries(batch)
            contexts = self._write_contexts(batch, queries)
            responses = self._write_responses(batch, queries, contexts)
            self._write_items(batch, queries, contexts, responses)
            self._write_judgments(batch)

    def _write_systems(self, batch: Sequence[ImportedItem]) -> None:
        wanted = {response.system.key: response.system for each in batch for response in each.responses}
        new = [system for key, system in wanted.items() if key not in self._systems]
        for system in new:
            system.study = self.study
        for system in System.objects.bulk_create(new):
            self._systems[system.key] = system.pk

    def _write_queries(self, batch: Sequence[ImportedItem]) -> dict[str, int]:
        wanted = {each.query.key: each.query for each in batch}
        there = Query.objects.filter(study=self.study, key__in=list(wanted))
        ids = dict(there.values_list("key", "pk"))
        new = [query for key, query in wanted.items() if key not in ids]
        for query in new:
            query.study, query.dump = self.study, self.dump
        ids.update((query.key, query.pk) for query in Query.objects.bulk_create(new))
        return ids

    def _write_contexts(
        self, batch: Sequence[ImportedItem], queries: Mapping[str, int]
    ) -> dict[tuple[int, str], int]:
        wanted = {
            (queries[each.query.key], context.key): context
            for each in batch
            for context in (each.context, *(response.context for response in each.responses))
            if context is not None
        }
        return _find_or_create(Context, wanted)

    def _write_responses(
        self,
        batch: Sequence[ImportedItem],
        queries: Mapping[str, int],
        contexts: Mapping[tuple[int, str], int],
    ) -> dict[tuple[int, str], int]:
        wanted = {}
        for each in batch:
            query = queries[each.query.key]
            for response in each.responses:
                response.system_id = self._systems[response.system.key]
                if response.context is not None:
                    response.context_id = contexts[(query, response.context.key)]
                wanted[(query, response.key)] = response
        return _find_or_create(Response, wanted)

    def _write_items(
        self,
        batch: Sequence[ImportedItem],
        queries: Mapping[str, int],
        contexts: Mapping[tuple[int, str], int],
        responses: Mapping[tuple[int, str], int],
    ) -> None:
        for position, each in enumerate(batch, self.counts["items"]):
            item, query = each.item, queries[each.query.key]
            item.study, item.dump, item.position = self.study, self.dump, position
            item.arm_id, item.query_id = self._arms[each.arm], query
            item.context_id = contexts[(query, each.context.key)] if each.context else None
            if each.stimulus is not None:
                set_stimulus(item, each.stimulus)
        Item.objects.bulk_create([each.item for each in batch])
        ItemResponse.objects.bulk_create(
            ItemResponse(item_id=each.item.pk, response_id=responses[(each.item.query_id, response.key)])
            for each in batch
            for response in each.responses
        )
        self._write_notes((each.item.pk, None, note) for each in batch for note in each.notes)
        self.counts["items"] += len(batch)

    def _write_judgments(self, batch: Sequence[ImportedItem]) -> None:
        pairs = [(each.item.pk, judgment) for each in batch for judgment in each.judgments]
        if self.spool is None:
            self._write_pairs(pairs)
            return
        for item, judgment in pairs:
            assert judgment.place is not None  # the check has seen to it
            self.spool.add(judgment.place, item, judgment)
            self._waiting.setdefault(judgment.rater.pseudonym, judgment.rater)

    def write_spooled(self) -> None:
        """Write what waits, in short transactions."""
        if self.spool is None:
            return
        known = [self._waiting.pop(name) for name in self.rater_facts if name in self._waiting]
        with transaction.atomic():
            self._write_raters([*known, *self._waiting.values()])
        for pairs in self.spool.batches(settings.ASSAY_BATCH_SIZE):
            with transaction.atomic():
                self._write_pairs(pairs)

    def _write_pairs(self, pairs: Sequence[tuple[int, ImportedJudgment]]) -> None:
        if not pairs:
            return
        self._write_raters(judgment.rater for _, judgment in pairs)
        inputs = [
            JudgmentInput(
                rater_id=self._raters[judgment.rater.pseudonym],
                item_id=item,
                revision_id=self._revisions[judgment.revision],
                **judgment.values,
            )
            for item, judgment in pairs
        ]
        # Nobody else sees this study, and the caller has checked that no judgment appears twice.
        rows = record_judgments(study=self.study, batch=inputs, known_new=True)
        self._write_exclusions(rows, [judgment for _, judgment in pairs])
        self._write_notes(
            (row.item_id, row.pk, note)
            for row, (_, judgment) in zip(rows, pairs, strict=True)
            for note in judgment.notes
        )
        self.counts["judgments"] += len(rows)

    def _write_notes(self, notes: Iterable[tuple[int, int | None, ImportedNote]]) -> None:
        Note.objects.bulk_create(
            Note(study=self.study, item_id=item, judgment_id=judgment, text=note.text, at=note.at)
            for item, judgment, note in notes
        )

    def _write_raters(self, raters: Iterable[RaterInput]) -> None:
        new = {each.pseudonym: each for each in raters if each.pseudonym not in self._raters}
        rows = Rater.objects.bulk_create(self._unsaved_rater(each) for each in new.values())
        self._raters.update((row.pseudonym, row.pk) for row in rows)
        seal_new(self.study, rows)
        self.counts["raters"] += len(rows)
        if not self.study.simulated and any(row.kind == Rater.Kind.SIMULATED for row in rows):
            self.study.simulated = True

    def _unsaved_rater(self, each: RaterInput) -> Rater:
        facts = self.rater_facts.get(each.pseudonym, RaterFacts())
        return Rater(
            study=self.study,
            pseudonym=each.pseudonym,
            kind=each.kind,
            label=each.label,
            source=each.source,
            group=each.group or facts.group,
            in_figures=facts.in_figures and each.kind != Rater.Kind.SETTLED,
            about=dict(facts.about),
            dump=self.dump,
        )

    def _write_exclusions(self, rows: Sequence[Judgment], inputs: Sequence[ImportedJudgment]) -> None:
        new = []
        for row, each in zip(rows, inputs, strict=True):
            if each.excluded:
                new.append(Exclusion(study=self.study, judgment=row, reason=each.excluded))
            if each.rater_excluded and row.rater_id not in self._excluded_raters:
                self._excluded_raters.add(row.rater_id)
                new.append(Exclusion(study=self.study, rater_id=row.rater_id, reason=each.rater_excluded))
        seal_new(self.study, Exclusion.objects.bulk_create(new))


def _find_or_create(model: Any, wanted: Mapping[tuple[int, str], Any]) -> dict[tuple[int, str], int]:
    """Rows by (query, key): those that earlier batches wrote, and the rest written now."""
    there = model.objects.filter(query__in={query for query, _ in wanted}, key__in={key for _, key in wanted})
    ids = {(query, key): pk for query, key, pk in there.values_list("query_id", "key", "pk").iterator()}
    new = []
    for (query, key), row in wanted.items():
        if (query, key) not in ids:
            row.query_id = query
            new.append(row)
    ids.update(((row.query_id, row.key), row.pk) for row in model.objects.bulk_create(new))
    return ids


def finish_import(
    study: Study,
    *,
    notes: Mapping[str, Any],
    aside: bool,
    first: Callable[[], None],
    and_then: Callable[[Study], None],
) -> None:
    """Make the study visible unless it is only read aside, closed if it is frozen; `first` and `and_then` are part of
    it."""
    frozen = study.revisions.exists()
    if frozen:
        assign_orders(study)
    if frozen and not aside:
        seal_items(study)
    with transaction.atomic():
        first()
        for revision in study.revisions.filter(number__gt=1):
            revision.items_hash = hash_added_items(study, revision.number)
            revision.save(update_fields=["items_hash"])
        if frozen:
            study.study_hash = compute_study_hash(study)
            study.status, study.closed_at = Status.CLOSED, timezone.now()
        study.save(update_fields=["study_hash", "status", "simulated", "closed_at"])
        if frozen and not aside:
            seal_changed(study, [study])
            if study.sealed_before:
                study.sealed_before["here"] = own_digest(study)["digest"]
                study.save(update_fields=["sealed_before"])
        Import.objects.filter(created_study=study).update(
            state=Import.State.RUNNING if aside else Import.State.COMPLETE,
            finished_at=timezone.now(),
            notes=dict(notes),
        )
        and_then(study)


def discard_import(study: Study) -> None:
    """Delete everything that a broken import wrote, in short transactions; doing it twice changes nothing."""
    _delete_in_batches(Exclusion.objects.filter(study=study))
    _delete_in_batches(Judgment.objects.filter(study=study))
    _delete_in_batches(Item.objects.filter(study=study).order_by("pk"))
    _delete_in_batches(Response.objects.filter(query__study=study))
    _delete_in_batches(Query.objects.filter(study=study))
    _delete_in_batches(Rater.objects.filter(study=study))
    with transaction.atomic():
        dumps = list(Import.objects.filter(created_study=study))
        Study.objects.filter(pk=study.pk).delete()
        for dump in dumps:
            dump.delete()


def _delete_in_batches(rows: models.QuerySet[Any]) -> None:
    while pks := list(rows.order_by("pk").values_list("pk", flat=True)[: settings.ASSAY_BATCH_SIZE]):
        with transaction.atomic():
            rows.model._default_manager.filter(pk__in=pks).delete()


def give_up_import(study: Study) -> None:
    """Note that an import has ended though it is not complete: the next one of its slug deletes what it wrote."""
    Import.objects.filter(created_study=study).update(finished_at=timezone.now())


def unfinished_import(slug: str) -> Study | None:
    """The study of that slug whose import is running, was killed or was given up."""
    return Study.objects.filter(slug=slug, created_by_import__state=Import.State.RUNNING).first()
