"""Entry rules: who is let in, by the studies that they took part in and how they fared there."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from annotator.models import EntryRule, Participant, ParticipantOutcome
from annotator.recruiters import recruiters
from annotator.selectors.admission import steps_in_force
from annotator.selectors.visits import has_qualified
from annotator.visit import Visit
from evaluation.counting import counted
from evaluation.extension import Advice
from evaluation.models import Exclusion, Status, Study
from evaluation.permissions import studies_for
from evaluation.refusals import FieldsRefused
from evaluation.services.history import log_action, server_account

Participation = EntryRule.Participation
ENTRY_RULES_URL_NAME = "admin:evaluation_study_entry_rules"
# How a phrase about a list begins, by its kind.
PEOPLE = {EntryRule.Kind.NOT: "Nobody", EntryRule.Kind.ONLY: "Only people"}
# What a list does, as scripts name it.
KINDS: dict[str, str] = {"exclude": EntryRule.Kind.NOT, "admit_only": EntryRule.Kind.ONLY}
# What a list does with people who are not known, by its kind.
STRANGERS = {
    EntryRule.Kind.NOT: "People who can't be recognised are let in.",
    EntryRule.Kind.ONLY: "People who can't be recognised are not let in.",
}
# How each way of having taken part is told of somebody who did.
PARTICIPATION_TESTS: dict[str, Callable[[Participant], bool]] = {
    Participation.ANY: lambda person: True,
    Participation.PASSED: has_qualified,
    Participation.FAILED: lambda person: (
        person.outcome in (ParticipantOutcome.FAILED_QUALIFICATION, ParticipantOutcome.FAILED_ATTENTION)
    ),
    Participation.COMPLETED: lambda person: (
        person.outcome == ParticipantOutcome.COMPLETED or person.visit_number > 1
    ),
    Participation.EXCLUDED: lambda person: Exclusion.objects.filter(
        rater=person.rater_id, undone_at=None
    ).exists(),
}


def is_admitted(study: Study, visit: Visit) -> bool:
    """True where the study's lists let this person in.

    Somebody is known across studies by the panel and their id on it. Who comes without an id is known nowhere: no list
    keeps them out, and none names them.
    """
    rules = list(EntryRule.objects.filter(study=study))
    if not rules:
        return True
    known = Participant.objects.filter(
        study__in=[rule.other_id for rule in rules], platform=visit.platform, external_id=visit.external_id
    ).exclude(external_id="")
    been = {person.study_id: person for person in known.select_related("revision")}
    met = {
        rule.pk
        for rule in rules
        if rule.other_id in been and PARTICIPATION_TESTS[rule.took](been[rule.other_id])
    }
    barred = {rule.pk for rule in rules if rule.kind == EntryRule.Kind.NOT}
    invited = {rule.pk for rule in rules if rule.kind == EntryRule.Kind.ONLY}
    return not met & barred and (not invited or bool(met & invited))


def set_entry_rules(study: Study, *, barred: Mapping[Study, str], invited: Mapping[Study, str]) -> None:
    """Replace the study's lists, each of studies with how people took part in them (`EntryRule.Participation`).

    It binds who comes from now on; who is in stays in.
    """
    if contradictions := [other for other in barred if contradicts(barred[other], invited.get(other, ""))]:
        raise ValueError(f"{contradictions[0]} can't be both excluded and required.")
    if study in barred or study in invited:
        raise ValueError("A study can't be on its own list: its participants come back by their link.")
    lists = ((EntryRule.Kind.NOT, barred), (EntryRule.Kind.ONLY, invited))
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        EntryRule.objects.filter(study=study).delete()
        EntryRule.objects.bulk_create(
            EntryRule(study=study, other=other, kind=kind, took=took)
            for kind, studies in lists
            for other, took in studies.items()
        )


@dataclass(frozen=True)
class WantedRule:
    """A rule on people of the other study: `kind` and `took` as an EntryRule has them."""

    kind: str
    other: Study
    took: str


def nameable_studies(study: Study, by: Any) -> QuerySet[Study]:
    """The studies that a rule of this one can name; `by` is a member, who learns of no others, None whoever runs the
    server."""
    known = Study.objects.visible() if by is None else studies_for(by)
    return known.filter(rehearsal_of=None).exclude(pk=study.pk)


def change_entry_rules(study: Study, wanted: Collection[WantedRule], *, by: Any, reason: str = "") -> str:
    """Put these in place of the rules that `by` knows of, and return who may take part now. Rules on studies that they
    do not know stay.

    FieldsRefused names the rules that contradict each other, by their place.
    """
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        known = set(nameable_studies(study, by).values_list("pk", flat=True))
        lists: dict[str, dict[Study, str]] = {kind: {} for kind in EntryRule.Kind.values}
        faults: dict[str, list[str]] = {}
        for place, rule in enumerate(wanted):
            if rule.other in lists[rule.kind]:
                faults[f"rules.{place}"] = [f"{rule.other} is in this list already, with one outcome."]
            lists[rule.kind][rule.other] = rule.took
            barred, invited = (
                lists[kind].get(rule.other, "") for kind in (EntryRule.Kind.NOT, EntryRule.Kind.ONLY)
            )
            if contradicts(barred, invited):
                faults[f"rules.{place}"] = [f"{rule.other} would be excluded and required at the same time."]
        if faults:
            raise FieldsRefused(faults)
        for hidden in EntryRule.objects.filter(study=study).exclude(other__in=known).select_related("other"):
            lists[hidden.kind][hidden.other] = hidden.took
        set_entry_rules(study, barred=lists[EntryRule.Kind.NOT], invited=lists[EntryRule.Kind.ONLY])
        done = f"Who may take part: {entry_rules_text(study, known)}"
        log_action(study=study, by=by or server_account(), message=done, reason=reason)
    return done


def rules_of(study: Study) -> QuerySet[EntryRule]:
    rules = EntryRule.objects.filter(study=study).select_related("other")
    return rules.order_by("kind", "took", "other__title", "other")


def rules_for_scripts(study: Study, by: Any) -> dict[str, Any]:
    """The rules on studies that `by` knows of, how many there are on others, and all of them in words."""
    known = set(nameable_studies(study, by).values_list("pk", flat=True))
    names = {kind: name for name, kind in KINDS.items()}
    rules = list(rules_of(study))
    return {
        "rules": [
            {"kind": names[rule.kind], "study": rule.other.slug, "outcome": rule.took}
            for rule in rules
            if rule.other_id in known
        ],
        "on_other_studies": sum(rule.other_id not in known for rule in rules),
        "who": entry_rules_text(study, known),
        "warnings": rule_warnings(study, known),
    }


def entry_rules_text(study: Study, known: Collection[int]) -> str:
    """The lists; studies that the reader is no member of have no name."""
    lists: dict[tuple[str, str], list[str]] = {}
    for rule in rules_of(study):
        name = str(rule.other) if rule.other_id in known else "another study"
        lists.setdefault((rule.kind, rule.took), []).append(name)
    phrases = [rule_phrase(kind, took, names) for (kind, took), names in lists.items()]
    parts = [phrase[0].lower() + phrase[1:] for phrase in phrases]
    return f"{'; '.join(parts) or 'everybody'}."


def needed_by_others(study: Study) -> Iterator[str]:
    """A sentence where other studies that are not closed admit people by how they fared in this one."""
    n = EntryRule.objects.filter(other=study).exclude(study__status=Status.CLOSED).count()
    if n:
        others = counted(n, "entry rule of another study names", "entry rules of other studies name")
        yield f"{others} this one: remove them there, or close those studies, first."


def drop_rules_about(study: Study, by: Any) -> None:
    """Drop the rules of closed studies that name a study which is being deleted."""
    rules = EntryRule.objects.filter(other=study).select_related("study")
    for each in {rule.study for rule in rules}:
        log_action(study=each, by=by, message=f"{study.title} was deleted, and the entry rules that name it.")
    rules.delete()


def contradicts(barred: str, invited: str) -> bool:
    """True of two rules that together let nobody in."""
    return bool(barred and invited) and barred in (Participation.ANY, invited)


def unknown_reason(study: Study, other: Study) -> str:
    """The reason for which people of the other study are unknown in this one, whatever a list says; empty where they
    are known."""
    return recruiters().unknown_reason(study, other)


def rule_warnings(study: Study, may_name: Iterable[int] | None = None) -> list[str]:
    """A sentence for each list that does not do what it says, or more than it seems to, with the studies concerned.

    `may_name`: the studies whose names the reader may learn; None for all.
    """
    found: dict[tuple[str, str, str], list[str]] = {}
    known = None if may_name is None else set(may_name)
    rules = EntryRule.objects.filter(study=study).select_related("other__panel").order_by("other__title")
    for rule in rules:
        name = str(rule.other) if known is None or rule.other_id in known else "another study"
        for why in _reasons(study, rule):
            found.setdefault((rule.kind, rule.took, why), []).append(name)
    return [f"{rule_phrase(kind, took, names)}: {why}" for (kind, took, why), names in found.items()]


def _reasons(study: Study, rule: EntryRule) -> Iterator[str]:
    if why := unknown_reason(study, rule.other):
        yield f"{why}. {STRANGERS[EntryRule.Kind(rule.kind)]}"
    qualifies = bool(steps_in_force(rule.other).get("qualification"))
    if rule.took == Participation.PASSED and not qualifies:
        yield "it has no qualification, so nobody has passed it."
    if rule.kind == EntryRule.Kind.ONLY and rule.took == Participation.ANY and qualifies:
        yield "that also lets in people who failed its qualification; “Passed the qualification” does not."


def rule_phrase(kind: str, took: str, names: Iterable[str]) -> str:
    """A rule as a phrase, beginning with a capital."""
    return f"{PEOPLE[EntryRule.Kind(kind)]} who {Participation(took).label} {', '.join(names)}"


def entry_fact(study: Study) -> Advice:
    """The number of lists across studies, with the page on which they are set."""
    n = EntryRule.objects.filter(study=study).count()
    said = f"Who took part in {counted(n, 'other study', 'other studies')} decides who is let in."
    said = said if n else "No other study keeps anybody out."
    return Advice(said, "Who may take part", ENTRY_RULES_URL_NAME)


def launch_advice(study: Study, by: Any) -> Iterator[Advice]:
    """The lists that do not do what they say. `by` is who reads it, None whoever runs the server."""
    if not EntryRule.objects.filter(study=study).exists():
        return
    mine = None
    if by is not None and not by.is_superuser:
        mine = studies_for(by).values_list("pk", flat=True)
    for sentence in rule_warnings(study, mine):
        yield Advice(sentence, "Who may take part", ENTRY_RULES_URL_NAME)
