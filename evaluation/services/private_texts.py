"""Words about somebody in what members and the application wrote about a study, blacked out where they stand."""

from collections.abc import Collection, Iterable
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import QuerySet

from evaluation.extension import extensions
from evaluation.models import Exclusion, Job, Note, Study
from evaluation.private_words import PrivateWords, possible_ids
from evaluation.services.seals import seal_changed


def private_words(study: Study) -> PrivateWords:
    """Ids that platforms have for its people, keys and addresses, as every app knows of them."""
    return PrivateWords(word for each in extensions() for word in each.private_words(study))


def private_words_in(study: Study, texts: Iterable[str]) -> PrivateWords:
    """Those of them that may stand in these texts: what is read does not grow with the crowd."""
    found = possible_ids(texts)
    return PrivateWords(word for each in extensions() for word in each.private_words_among(study, found))


def black_out_texts(study: Study, private: PrivateWords) -> None:
    """Black them out in the study's history, in what its jobs say, in notes and in reasons of exclusions, whose seals
    are renewed."""
    lines = LogEntry.objects.filter(
        content_type=ContentType.objects.get_for_model(Study), object_id=str(study.pk)
    )
    black_out(lines, ("change_message",), private)
    black_out(Job.objects.filter(study=study), ("message",), private)
    black_out(Note.objects.filter(study=study), ("text",), private)
    for job in Job.objects.filter(study=study).exclude(problems=[]):
        Job.objects.filter(pk=job.pk).update(problems=private.blacked_out_json(job.problems))
    exclusions = Exclusion.objects.filter(study=study).select_related("judgment")
    if changed := black_out(exclusions, ("reason", "undone_reason"), private):
        seal_changed(study, list(exclusions.filter(pk__in=changed)))


def black_out(rows: QuerySet[Any], names: Collection[str], private: PrivateWords) -> list[Any]:
    """Black out the words in these fields; the keys of the rows that had one."""
    changed = []
    for pk, *texts in rows.order_by("pk").values_list("pk", *names):
        clean = [private.blacked_out(text) for text in texts]
        if clean != texts:
            rows.model._default_manager.filter(pk=pk).update(**dict(zip(names, clean, strict=True)))
            changed.append(pk)
    return changed
