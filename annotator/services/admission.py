"""Who may take part, by what they took part in: lists across studies."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.db import transaction

from annotator.models import EntryRule, Participant
from annotator.platforms import Visit, get_platform
from annotator.services.panels import panel_of
from evaluation.hooks import Advice
from evaluation.models import Study, StudyMember

# What a list does with who is not known, by its kind.
LISTS = {
    EntryRule.Kind.NOT: ("Not who took part in", "Whoever is not known is let in all the same."),
    EntryRule.Kind.ONLY: ("Only who took part in", "Whoever is not known is not let in."),
}


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


def why_strangers(study: Study, other: Study) -> str:
    """Why people of the other study are not known in this one, whatever a list says; empty where they are."""
    there, here = panel_of(other), panel_of(study)
    set_to = {panel.platform if panel is not None else "" for panel in (there, here)}
    if "" in set_to and set_to <= {"", "prolific"}:
        return "where no platform is set, only who comes with Prolific's ids is known"
    for panel in (there, here):
        platform = get_platform(panel.platform if panel is not None else "link")
        if why := platform.why_strangers(panel.settings if panel is not None else {}):
            return why
    if len(set_to) == 1:
        return ""
    labels = [get_platform(panel.platform).label for panel in (there, here) if panel is not None]
    return f"its people come from {labels[0]} and this study's from {labels[1]}, which each have ids of their own"


def rule_warnings(study: Study, may_name: Iterable[int] | None = None) -> list[str]:
    """A sentence for each list that does not do what it says, with the studies whose people are not known here.

    `may_name`: the studies whose names the reader may learn; None for all.
    """
    found: dict[tuple[str, str], list[str]] = {}
    known = None if may_name is None else set(may_name)
    rules = EntryRule.objects.filter(study=study).select_related("other__panel").order_by("other__title")
    for rule in rules:
        if why := why_strangers(study, rule.other):
            named = known is None or rule.other_id in known
            found.setdefault((rule.kind, why), []).append(str(rule.other) if named else "another study")
    return [_warning(EntryRule.Kind(kind), names, why) for (kind, why), names in found.items()]


def _warning(kind: EntryRule.Kind, names: Iterable[str], why: str) -> str:
    lists, then = LISTS[kind]
    return f"{lists} {', '.join(names)}: {why}. {then}"


def launch_advice(study: Study, by: Any) -> Iterator[Advice]:
    """Hook: the lists that do not do what they say. `by` is who reads it, None whoever runs the server."""
    if not EntryRule.objects.filter(study=study).exists():
        return
    mine = None
    if by is not None and not by.is_superuser:
        mine = StudyMember.objects.filter(user=by).values_list("study", flat=True)
    for sentence in rule_warnings(study, mine):
        yield Advice(sentence, "Who may take part", "admin:annotator_slot_entry_rules")
