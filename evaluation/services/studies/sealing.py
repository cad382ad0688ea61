"""Sealing anew what stands in the database, and the rotation of the secret under which studies' keys are encrypted."""

from itertools import islice
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from evaluation.models import AnswerText, Exclusion, InstallationKey, Item, Judgment, Rater, Study
from evaluation.refusals import Refused
from evaluation.seals import SealKey, encrypted_anew, new_seal_key, open_seal_key
from evaluation.services.history import log_action
from evaluation.services.seals import (
    JUDGMENT_FIELDS,
    judgment_content,
    seal_new,
    seal_new_items,
    written_texts,
)


def seal_study(study: Study, *, by: Any = None, new_key: bool = False) -> int:
    """Seal a study as it is found, and return the number of judgments whose seals are new.

    For what was judged before there were seals, what was changed on purpose, and where the secret is lost. People may
    go on judging: one rater's judgments are sealed at a time.
    """
    with transaction.atomic():
        locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if not locked.is_frozen or locked.launching_since is not None:
            raise Refused("A draft has no seals; launching it makes them.")
        if new_key or open_seal_key(locked.seal_key) is None:
            locked.seal_key = new_seal_key()
            locked.save(update_fields=["seal_key"])
        _seal_around(locked)
        # With the first seals and not the last: once they are new, what was changed before shows no more.
        said = "Sealed as it was found, under another key." if new_key else "Sealed as it was found."
        log_action(study=locked, by=by, message=said)
    key = open_seal_key(locked.seal_key)
    assert key is not None  # just made or opened
    new = sum(_seal_rater(key, rater) for rater in study.raters.order_by("pk").values_list("pk", flat=True))
    study.refresh_from_db()
    return new


def _seal_around(study: Study) -> None:
    """All but the judgments. Counted anew, as seals may be among them that nobody made."""
    study.seals.all().delete()
    study.sealed_count = study.sealed_digest = 0
    study.save(update_fields=["sealed_count", "sealed_digest"])
    seal_new(study, [study])
    items = Item.objects.filter(study=study).exclude(stimulus_hash="").order_by("pk")
    pks = items.values_list("pk", flat=True).iterator()
    while batch := list(islice(pks, settings.ASSAY_BATCH_SIZE)):
        seal_new_items(study, batch)
    exclusions = Exclusion.objects.filter(study=study).select_related("judgment")
    around: tuple[QuerySet[Any], ...] = (study.raters.all(), exclusions, study.erasures.all())
    for rows in around:
        stored = rows.order_by("pk").iterator()
        while some := list(islice(stored, settings.ASSAY_BATCH_SIZE)):
            seal_new(study, some)


def _seal_rater(key: SealKey, pk: int) -> int:
    with transaction.atomic():
        # Whoever records of this rater meanwhile counts after this.
        rater = Rater.objects.select_for_update(no_key=True).get(pk=pk)
        changed: list[Judgment] = []
        count = digest = new = 0
        stored = Judgment.objects.filter(rater=rater).order_by("pk")
        rows = stored.values_list("pk", "seal", *JUDGMENT_FIELDS).iterator()
        while batch := list(islice(rows, settings.ASSAY_BATCH_SIZE)):
            texts = written_texts(AnswerText.objects.filter(judgment__in=[row[0] for row in batch]))
            for judgment, before, *values in batch:
                seal = key.seal(judgment_content(values, texts.get(judgment, ())))
                count, digest = count + 1, digest ^ key.mark(seal)
                if seal != before:
                    changed.append(Judgment(pk=judgment, seal=seal))
            Judgment.objects.bulk_update(changed, ["seal"])
            new += len(changed)
            changed.clear()
        rater.recorded_count, rater.recorded_digest = count, digest
        rater.save(update_fields=["recorded_count", "recorded_digest"])
    return new


def rotate_secret() -> tuple[int, list[str]]:
    """Encrypt every study's key, and the installation's own, under the first secret; return how many were, and the
    slugs and names of those that no secret at hand opens."""
    done, closed = 0, []
    for own in InstallationKey.objects.order_by("name"):
        try:
            own.key = encrypted_anew(own.key)
        except ValueError:
            closed.append(own.name)
            continue
        own.save(update_fields=["key"])
        done += 1
    for pk in Study.objects.exclude(seal_key="").order_by("pk").values_list("pk", flat=True):
        with transaction.atomic():
            study = Study.objects.select_for_update(no_key=True).get(pk=pk)
            try:
                study.seal_key = encrypted_anew(study.seal_key)
            except ValueError:
                closed.append(study.slug)
                continue
            study.save(update_fields=["seal_key"])
            done += 1
    return done, closed
