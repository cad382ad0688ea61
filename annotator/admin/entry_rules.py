"""Entry rules: lists of people across studies."""

from collections.abc import Collection, Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse

from annotator.models import EntryRule
from annotator.services.admission.entry_rules import (
    contradicts,
    rule_phrase,
    rule_warnings,
    set_entry_rules,
    unknown_reason,
)
from evaluation.admin.pages import ConfirmedAction, ReasonForm, confirmation_page, workbench_url
from evaluation.admin.rights import FORM, my_studies, study_page
from evaluation.models import Study

Kind, Participation = EntryRule.Kind, EntryRule.Participation
PEOPLE = {
    Participation.ANY: "everyone who took part",
    Participation.PASSED: "who passed its qualification",
    Participation.FAILED: "who failed its qualification or attention checks",
    Participation.COMPLETED: "who completed it",
    Participation.EXCLUDED: "who was excluded from it",
}
# By a rule's kind: the part of a field's name, what its label says, and the choice of no rule.
FIELDS = {Kind.NOT: ("barred", "exclude", "nobody"), Kind.ONLY: ("invited", "admit only", "no restriction")}


def rules_form(request: HttpRequest, study: Study) -> type[ReasonForm]:
    """Two choices for each study that the user is a member of: nobody learns of others."""
    others = list(
        my_studies(request)
        .filter(rehearsal_of=None)
        .exclude(pk=study.pk)
        .select_related("panel")
        .order_by("title")
    )

    class RulesForm(ReasonForm):
        field_order = [*(field_name(kind, other) for other in others for kind in FIELDS), "reason"]

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            for other in others:
                why = unknown_reason(study, other)
                for kind, (_, does, none) in FIELDS.items():
                    self.fields[field_name(kind, other)] = forms.ChoiceField(
                        choices=[("", none), *PEOPLE.items()],
                        required=False,
                        label=f"{other}: {does}",
                        help_text=f"Unknown in this study: {why}." if why else "",
                    )
            self.order_fields(self.field_order)

        def clean(self) -> dict[str, Any]:
            data: dict[str, Any] = super().clean() or {}
            data |= {kind: chosen(kind, data) for kind in FIELDS}
            both = [
                str(each)
                for each, took in data[Kind.NOT].items()
                if contradicts(took, data[Kind.ONLY].get(each, ""))
            ]
            if both:
                raise forms.ValidationError(f"Excluded and required at the same time: {', '.join(both)}.")
            return data

    def chosen(kind: str, data: dict[str, Any]) -> dict[Study, str]:
        return {other: took for other in others if (took := data.get(field_name(kind, other), ""))}

    return RulesForm


def field_name(kind: str, other: Study) -> str:
    return f"{FIELDS[Kind(kind)][0]}_{other.pk}"


@study_page("write", methods=FORM)
def entry_rules(request: HttpRequest, study: Study) -> HttpResponse:
    """Lists across studies. Rules on studies that this user does not know stay as they are."""
    known = set(my_studies(request).filter(rehearsal_of=None).values_list("pk", flat=True))
    rules = list(EntryRule.objects.filter(study=study).select_related("other"))
    hidden = [rule for rule in rules if rule.other_id not in known]

    def do(data: dict[str, Any]) -> str:
        lists = {kind: dict(data[kind]) for kind in FIELDS}
        for rule in hidden:
            lists[Kind(rule.kind)][rule.other] = rule.took
        set_entry_rules(study, barred=lists[Kind.NOT], invited=lists[Kind.ONLY])
        for sentence in rule_warnings(study, known):
            messages.warning(request, sentence)
        return f"Who may take part: {entry_rules_text(study, known)}"

    act = ConfirmedAction(
        title="Who may take part",
        text="People are recognised across studies by their panel and their id there. Rules apply to "
        "new arrivals only. People without an id can't be recognised: no rule excludes them, and "
        "none admits them. Where several studies are required, one of them is enough.",
        button="Save",
        form=rules_form(request, study),
        initial={field_name(rule.kind, rule.other): rule.took for rule in rules if rule.other_id in known},
        do=do,
        back=workbench_url(study),
    )
    return confirmation_page(request, study, act, tab="workbench")


def entry_rules_text(study: Study, known: Collection[int]) -> str:
    """The lists; studies that the reader is no member of have no name."""
    lists: dict[tuple[str, str], list[str]] = {}
    for rule in _rules(study):
        name = str(rule.other) if rule.other_id in known else "another study"
        lists.setdefault((rule.kind, rule.took), []).append(name)
    phrases = [rule_phrase(kind, took, names) for (kind, took), names in lists.items()]
    parts = [phrase[0].lower() + phrase[1:] for phrase in phrases]
    return f"{'; '.join(parts) or 'everybody'}."


def _rules(study: Study) -> Iterable[EntryRule]:
    rules = EntryRule.objects.filter(study=study).select_related("other")
    return rules.order_by("kind", "took", "other__title")


def entry_rules_of(request: HttpRequest, study: Study) -> str:
    if not EntryRule.objects.filter(study=study).exists():
        return ""
    return entry_rules_text(study, set(my_studies(request).values_list("pk", flat=True)))
