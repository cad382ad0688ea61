"""Names that platforms have for a study, its participants and their visits, and the keys that let participants in."""

from collections.abc import Collection, Iterator
from functools import reduce
from operator import or_

from django.db.models import Model, Q, QuerySet

from annotator.models import LinkedStudy, Panel, PanelRecord, Participant, PersonalLink, Submission
from evaluation.models import Study

# A word with such a letter, as a space is, is not found among those of a text.
NOT_IN_IDS = r"[^A-Za-z0-9_.@+-]"
# Columns with words of our own making, which are single tokens: what others wrote is read through for such a letter.
MADE_HERE = ("token", "key")
# So many values a query asks for: databases limit them.
ASKED = 5_000


def private_words(study: Study) -> Iterator[str]:
    for rows, names in _kept(study):
        for values in rows.values_list(*names).iterator():
            yield from filter(None, values)


def private_words_among(study: Study, found: Collection[str]) -> Iterator[str]:
    """Those `found`, those that are no single token, and what stands in a row with one."""
    wanted = sorted(found)
    for rows, names in _kept(study):
        asked = [Q(**{f"{name}__regex": NOT_IN_IDS}) for name in names if name not in MADE_HERE]
        for start in range(0, len(wanted), ASKED):
            asked += [Q(**{f"{name}__in": wanted[start : start + ASKED]}) for name in names]
        for values in rows.filter(reduce(or_, asked)).values_list(*names).iterator():
            yield from filter(None, values)


def _kept(study: Study) -> tuple[tuple[QuerySet[Model], tuple[str, ...]], ...]:
    return (
        (Participant.objects.filter(study=study), ("external_id", "token")),
        (Submission.objects.filter(participant__study=study), ("external_id", "external_study_id")),
        (Panel.objects.filter(study=study), ("external_id",)),
        (LinkedStudy.objects.filter(panel__study=study), ("external_id",)),
        (PanelRecord.objects.filter(panel__study=study), ("external_id", "participant_id")),
        (PersonalLink.objects.filter(study=study), ("label", "key")),
    )
