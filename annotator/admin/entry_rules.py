"""Entry rules: lists of people across studies."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from annotator.models import EntryRule
from annotator.services.admission.entry_rules import (
    WantedRule,
    change_entry_rules,
    contradicts,
    entry_rules_text,
    nameable_studies,
    rule_warnings,
    rules_of,
    unknown_reason,
)
from evaluation.admin.pages import ReasonForm, overview_url, page
from evaluation.admin.rights import FORM, my_studies, study_page
from evaluation.models import Study

Kind, Participation = EntryRule.Kind, EntryRule.Participation
KINDS = {Kind.NOT: "Exclude", Kind.ONLY: "Admit only"}
PEOPLE = {
    Participation.ANY: "who took part in",
    Participation.PASSED: "who passed the qualification of",
    Participation.FAILED: "who failed the qualification or attention checks of",
    Participation.COMPLETED: "who completed",
    Participation.EXCLUDED: "who were excluded from",
}
# More are refused: no request builds forms without end.
MAX_RULES = 200


class RuleForm(forms.Form):
    """A rule: one outcome in one other study."""

    kind = forms.ChoiceField(label="Exclude or admit", choices=list(KINDS.items()), initial=Kind.NOT)
    took = forms.ChoiceField(label="Outcome", choices=list(PEOPLE.items()), initial=Participation.ANY)
    other = forms.ModelChoiceField(Study.objects.none(), label="Study", empty_label="Choose a study")

    def __init__(self, *args: Any, studies: QuerySet[Study], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["other"].queryset = studies  # type: ignore[attr-defined]


class RuleFormSet(forms.BaseFormSet):
    """The rules of a study, in which a list names another study once."""

    def wanted(self) -> list[WantedRule]:
        return [WantedRule(row["kind"], row["other"], row["took"]) for row in self._kept()]

    def clean(self) -> None:
        rules = self.wanted()
        named = [(rule.kind, rule.other) for rule in rules]
        if twice := {str(other) for kind, other in named if named.count((kind, other)) > 1}:
            raise forms.ValidationError(
                f"Named twice in one list, which takes one outcome per study: {', '.join(sorted(twice))}."
            )
        invited = {rule.other: rule.took for rule in rules if rule.kind == Kind.ONLY}
        both = [
            str(rule.other)
            for rule in rules
            if rule.kind == Kind.NOT and contradicts(rule.took, invited.get(rule.other, ""))
        ]
        if both:
            raise forms.ValidationError(f"Excluded and required at the same time: {', '.join(both)}.")

    def _kept(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = [getattr(form, "cleaned_data", {}) for form in self.forms]
        return [row for row in rows if row.get("other") and not row.get("DELETE")]


ROWS: Any = forms.formset_factory(
    RuleForm, formset=RuleFormSet, extra=1, can_delete=True, max_num=MAX_RULES, absolute_max=MAX_RULES
)


@study_page("write", methods=FORM)
def entry_rules(request: HttpRequest, study: Study) -> HttpResponse:
    """Lists across studies, a row for each rule. Rules on studies that this user does not know stay as they are."""
    studies = nameable_studies(study, request.user).select_related("panel").order_by("title")
    known = {each.pk for each in studies}
    rules = list(rules_of(study))
    posted = request.method == "POST"
    # The button for one more row, with what was filled in and nothing saved.
    adding = "another" in request.POST
    rows: RuleFormSet = ROWS(
        _with_another(request) if adding else request.POST if posted else None,
        initial=[
            {"kind": rule.kind, "took": rule.took, "other": rule.other_id}
            for rule in rules
            if rule.other_id in known
        ],
        form_kwargs={"studies": studies},
    )
    reason = ReasonForm(request.POST if posted and not adding else None)
    if posted and not adding and rows.is_valid() and reason.is_valid():
        done = change_entry_rules(study, rows.wanted(), by=request.user, reason=reason.cleaned_data["reason"])
        for sentence in rule_warnings(study, known):
            messages.warning(request, sentence)
        messages.success(request, done)
        return HttpResponseRedirect(overview_url(study))
    context = {
        "title": "Who may take part",
        "rows": rows,
        "adding": adding,
        "form": reason,
        "hidden": sum(rule.other_id not in known for rule in rules),
        "unknown": _unknown(study, studies),
        "back": overview_url(study),
    }
    status = 422 if posted and not adding else 200
    template = "admin/annotator/entry_rules.html"
    return page(request, template, context, study=study, tab="participants", status=status)


def _with_another(request: HttpRequest) -> Any:
    data = request.POST.copy()
    total = data.get("form-TOTAL_FORMS", "")
    if total.isdecimal():
        data["form-TOTAL_FORMS"] = str(int(total) + 1)
    return data


def _unknown(study: Study, studies: Iterable[Study]) -> list[tuple[str, str]]:
    """Reasons why people of other studies can't be recognised here, each with the studies that it is true of."""
    found: dict[str, list[str]] = {}
    for other in studies:
        if why := unknown_reason(study, other):
            found.setdefault(why, []).append(str(other))
    return [(why, ", ".join(names)) for why, names in found.items()]


def entry_rules_of(request: HttpRequest, study: Study) -> str:
    if not EntryRule.objects.filter(study=study).exists():
        return ""
    return entry_rules_text(study, set(my_studies(request).values_list("pk", flat=True)))
