"""Settings in which a study's systems answered without conditions, of whose sets there is no condition score."""

from django.db.models import Exists, OuterRef

from evaluation.models import Response, Study, System

# In the text of a set (`evaluation.protocols.entries.sets`): any entry, and one whose condition says something.
ENTRY, CONDITION = r"\{", r'"condition"\s*:\s*"\s*[^"\s]'


def systems_without_conditions(study: Study) -> frozenset[str]:
    """By their keys, those of the settings in which some set has an entry and none has a condition.

    Only settings tell: a system that stands by itself may have failed to find any.
    """
    of_setting = Response.objects.filter(
        system__study=study, system__setting=OuterRef("setting"), query__study=study
    )
    found = System.objects.filter(
        Exists(of_setting.filter(text__regex=ENTRY)),
        ~Exists(of_setting.filter(text__regex=CONDITION)),
        study=study,
    ).exclude(setting="")
    return frozenset(found.values_list("key", flat=True))
