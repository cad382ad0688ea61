"""Who may take part, by what they took part in: lists across studies."""

from collections.abc import Iterable

from django.db import transaction

from annotator.models import EntryRule, Participant
from annotator.platforms import Visit
from evaluation.models import Study


def is_admitted(study: Study, visit: Visit) -> bool:
    """Whether the study's lists let this person in.

    Somebody is known across studies by the panel and their id on it. Who comes without an id is known nowhere: no list
    keeps them out, and none names them.
    """
    rules = list(EntryRule.objects.filter(study=study).values_list("kind", "other"))
    if not rules:
        return True
    been = set(
        Participant.objects.filter(
            study__in=[other for _, other in rules], platform=visit.platform, external_id=visit.external_id
        )
        .exclude(external_id="")
        .values_list("study", flat=True)
    )
    barred = {other for kind, other in rules if kind == EntryRule.Kind.NOT}
    invited = {other for kind, other in rules if kind == EntryRule.Kind.ONLY}
    return not been & barred and (not invited or bool(been & invited))


def set_entry_rules(study: Study, *, barred: Iterable[Study], invited: Iterable[Study]) -> None:
    """Replaces the study's lists. It binds who comes from now on; who is in stays in."""
    kinds = {other.pk: EntryRule.Kind.NOT for other in barred}
    for other in invited:
        if other.pk in kinds:
            raise ValueError(f"{other} can't both be kept out and be the only one let in.")
        kinds[other.pk] = EntryRule.Kind.ONLY
    if study.pk in kinds:
        raise ValueError("A study's own participants come back by their link; it can't be on its own list.")
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        EntryRule.objects.filter(study=study).delete()
        EntryRule.objects.bulk_create(
            EntryRule(study=study, other_id=other, kind=kind) for other, kind in kinds.items()
        )
