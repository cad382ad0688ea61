"""The part of `verify` that holds a study against its seals.

People may be judging meanwhile: what looks changed is looked at again, under the lock that every write of it ends with.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from evaluation.counting import counted
from evaluation.models import AnswerText, Exclusion, Item, Judgment, Rater, Seal, Study
from evaluation.seals import SealKey, is_public, open_seal_key
from evaluation.services.seals import (
    JUDGMENT_FIELDS,
    Written,
    item_contents,
    judgment_content,
    mark_of,
    row_content,
    written_texts,
)

RATER = JUDGMENT_FIELDS.index("rater_id")


def check_key(study: Study) -> Iterator[str]:
    """Sentences on what its key says of its seals."""
    if not study.seal_key:
        yield (
            "It has no seals, so what was changed past the application is not found: "
            f"`manage.py seal {study.slug}` seals it as it is."
        )
    elif open_seal_key(study.seal_key) is None:
        yield (
            "Its seals can't be checked: their key is encrypted under a secret that ASSAY_SEAL_SECRETS does not name."
        )
    elif settings.ASSAY_SEAL_SECRETS and is_public(study.seal_key):
        yield (
            "The key of its seals is encrypted under the built-in secret, which is public: `manage.py seal --rotate` "
            "takes it over."
        )


class RecordedJudgments:
    """A study's judgments, held against their seals one after the other (`see`), and against what was recorded of each
    rater at the end (`problems`)."""

    def __init__(self, study: Study, key: SealKey) -> None:
        self._study = study
        self._key = key
        self._found: dict[int, tuple[int, int]] = {}
        self._suspects: dict[int, list[int]] = defaultdict(list)

    def see(self, pk: int, seal: int | None, values: Sequence[Any], texts: Iterable[Written]) -> None:
        """`values` are the judgment's `JUDGMENT_FIELDS`."""
        rater: int = values[RATER]
        if seal is None or seal != self._key.seal(judgment_content(values, texts)):
            self._suspects[rater].append(pk)
        if seal is not None:
            count, digest = self._found.get(rater, (0, 0))
            self._found[rater] = count + 1, digest ^ self._key.mark(seal)

    def problems(self) -> Iterator[str]:
        recorded = self._study.raters.order_by("pk").values_list("pk", "recorded_count", "recorded_digest")
        theirs = set()
        for pk, *expected in recorded.iterator():
            theirs.add(pk)
            if pk in self._suspects or self._found.get(pk, (0, 0)) != tuple(expected):
                yield from self._look_again(pk)
        for pk in sorted(self._suspects.keys() - theirs):
            yield from (f"Judgment {each}: is of a rater of another study." for each in self._suspects[pk])

    def _look_again(self, pk: int) -> Iterator[str]:
        sentences = []
        with transaction.atomic():
            rater = Rater.objects.select_for_update(no_key=True).get(pk=pk)
            for judgment in self._suspects.get(pk, ()):
                row = Judgment.objects.filter(pk=judgment).values_list("seal", *JUDGMENT_FIELDS).first()
                if row is None:
                    continue
                seal, *values = row
                texts = written_texts(AnswerText.objects.filter(judgment=judgment)).get(judgment, [])
                if seal is None:
                    sentences.append(
                        f"Judgment {judgment}: has no seal, so it was not recorded by the application."
                    )
                elif seal != self._key.seal(judgment_content(values, texts)):
                    sentences.append(f"Judgment {judgment}: is not what was recorded.")
            count = digest = 0
            sealed = Judgment.objects.filter(rater=rater, seal__isnull=False)
            for seal in sealed.values_list("seal", flat=True).iterator():
                count, digest = count + 1, digest ^ self._key.mark(seal or 0)
        named = f"Rater {pk} ({rater.pseudonym})"
        if count != rater.recorded_count:
            sentences.append(
                f"{named}: {counted(rater.recorded_count, 'judgment was', 'judgments were')} recorded, and "
                f"{count:,} {'is' if count == 1 else 'are'} there."
            )
        elif digest != rater.recorded_digest:
            sentences.append(f"{named}: the judgments that are there are not those that were recorded.")
        yield from sentences


def check_surroundings(study: Study, key: SealKey) -> Iterator[str]:
    """Hold items, raters, exclusions and the study's hash against their seals."""
    stored = _Seals(study, key)
    suspects: dict[str, list[int]] = {}
    for kind in Seal.Kind.values:
        there = set()
        suspects[kind] = []
        for pk, content in _contents(study, kind):
            there.add(pk)
            if not stored.holds(kind, pk, content):
                suspects[kind].append(pk)
        suspects[kind] += sorted(stored.rows(kind) - there)
    if not any(suspects.values()) and stored.is_whole(study):
        return
    sentences = []
    with transaction.atomic():
        locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        stored = _Seals(locked, key)
        for kind, pks in suspects.items():
            again = dict(_contents(locked, kind, pks))
            names = _names(locked, kind, pks)
            for pk in pks:
                if pk not in again:
                    if pk in stored.rows(kind):
                        sentences.append(f"{kind.capitalize()} {pk}: was deleted past the application.")
                elif pk not in stored.rows(kind):
                    sentences.append(f"{names[pk]}: has no seal, so the application has not made it.")
                elif not stored.holds(kind, pk, again[pk]):
                    sentences.append(f"{names[pk]}: was changed past the application.")
        if not stored.is_whole(locked):
            sentences.append(
                "The seals of items, raters and exclusions are not those that were made: "
                f"{locked.sealed_count:,} were, and {stored.count:,} are there."
            )
    yield from sentences


class _Seals:
    """The stored seals of what stands around a study's judgments."""

    def __init__(self, study: Study, key: SealKey) -> None:
        self._key = key
        self._by_kind: dict[str, dict[int, int]] = defaultdict(dict)
        self.count = self._digest = 0
        for kind, row, value in study.seals.values_list("kind", "row", "value").iterator():
            self._by_kind[kind][row] = value
            self.count += 1
            self._digest ^= mark_of(key, kind, row, value)

    def rows(self, kind: str) -> set[int]:
        return set(self._by_kind[kind])

    def holds(self, kind: str, row: int, content: bytes) -> bool:
        return self._by_kind[kind].get(row) == self._key.seal(content)

    def is_whole(self, study: Study) -> bool:
        made = Study.objects.values_list("sealed_count", "sealed_digest").get(pk=study.pk)
        return (self.count, self._digest) == made


def _rows(study: Study, kind: str) -> QuerySet[Any]:
    rows: dict[str, QuerySet[Any]] = {
        Seal.Kind.STUDY: Study.objects.filter(pk=study.pk),
        Seal.Kind.ITEM: Item.objects.filter(study=study).exclude(stimulus_hash=""),
        Seal.Kind.RATER: study.raters.all(),
        Seal.Kind.EXCLUSION: Exclusion.objects.filter(study=study).select_related("judgment"),
        Seal.Kind.ERASURE: study.erasures.all(),
    }
    return rows[kind]


def _contents(study: Study, kind: str, only: Collection[int] | None = None) -> Iterator[tuple[int, bytes]]:
    """By primary key, the content of rows as they are now: of all of a kind, or only of these."""
    rows = _rows(study, kind) if only is None else _rows(study, kind).filter(pk__in=only)
    if kind != Seal.Kind.ITEM:
        yield from ((row.pk, row_content(row)) for row in rows.order_by("pk").iterator())
        return
    pks = rows.order_by("pk").values_list("pk", flat=True).iterator()
    while batch := list(islice(pks, settings.ASSAY_BATCH_SIZE)):
        yield from item_contents(batch).items()


def _names(study: Study, kind: str, pks: Collection[int]) -> dict[int, str]:
    rows = _rows(study, kind).filter(pk__in=pks)
    if kind == Seal.Kind.ITEM:
        return {
            pk: f"Item {key} with its query, context, arm, responses and systems"
            for pk, key in rows.values_list("pk", "key")
        }
    if kind == Seal.Kind.RATER:
        return {pk: f"Rater {pk} ({name})" for pk, name in rows.values_list("pk", "pseudonym")}
    return {
        row.pk: "The study hash" if kind == Seal.Kind.STUDY else f"{kind.capitalize()} {row.pk}"
        for row in rows
    }
