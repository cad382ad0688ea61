"""Names that platforms have for a study, its participants and their visits, and the keys that let participants in."""

from collections.abc import Iterator

from django.db.models import Model, QuerySet

from annotator.models import LinkedStudy, Panel, PanelRecord, Participant, PersonalLink, Submission
from evaluation.models import Study


def private_words(study: Study) -> Iterator[str]:
    kept: tuple[tuple[QuerySet[Model], tuple[str, ...]], ...] = (
        (Participant.objects.filter(study=study), ("external_id", "token")),
        (Submission.objects.filter(participant__study=study), ("external_id", "external_study_id")),
        (Panel.objects.filter(study=study), ("external_id",)),
        (LinkedStudy.objects.filter(panel__study=study), ("external_id",)),
        (PanelRecord.objects.filter(panel__study=study), ("external_id", "participant_id")),
        (PersonalLink.objects.filter(study=study), ("label", "key")),
    )
    for rows, names in kept:
        for values in rows.values_list(*names).iterator():
            yield from filter(None, values)
