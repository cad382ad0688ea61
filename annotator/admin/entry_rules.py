"""Who may take part: lists across studies."""

from collections.abc import Collection, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse

from annotator.models import EntryRule
from annotator.services.admission import rule_warnings, set_entry_rules, why_strangers
from evaluation.admin.pages import Act, ReasonForm, act_page, workbench_url
from evaluation.admin.rights import FORM, my_studies, study_page
from evaluation.models import Study


def rules_form(request: HttpRequest, study: Study) -> type[ReasonForm]:
    """The studies that the user is a member of, to choose from: nobody learns of others."""
    others = my_studies(request).exclude(pk=study.pk).select_related("panel").order_by("title")

    class StudiesField(forms.ModelMultipleChoiceField):
        """Each study with why its people are not known here, where they are not."""

        def label_from_instance(self, obj: Study) -> str:
            why = why_strangers(study, obj)
            return f"{obj} (not known here: {why})" if why else str(obj)

    class RulesForm(ReasonForm):
        barred = StudiesField(
            others, required=False, widget=forms.CheckboxSelectMultiple, label="Not who took part in"
        )
        invited = StudiesField(
            others,
            required=False,
            widget=forms.CheckboxSelectMultiple,
            label="Only who took part in (any of them)",
        )
        field_order = ("barred", "invited", "reason")

        def clean(self) -> dict[str, Any]:
            data: dict[str, Any] = super().clean() or {}
            if both := set(data.get("barred", ())) & set(data.get("invited", ())):
                names = ", ".join(sorted(str(each) for each in both))
                raise forms.ValidationError(f"Both kept out and the only ones let in: {names}.")
            return data

    return RulesForm


@study_page("write", methods=FORM)
def entry_rules(request: HttpRequest, study: Study) -> HttpResponse:
    """Lists across studies. Rules on studies that this user does not know stay as they are."""
    known = set(my_studies(request).values_list("pk", flat=True))
    rules = list(EntryRule.objects.filter(study=study).select_related("other"))
    hidden = [rule for rule in rules if rule.other_id not in known]
    before = {kind: [rule.other for rule in rules if rule.kind == kind] for kind in EntryRule.Kind.values}

    def do(data: dict[str, Any]) -> str:
        barred, invited = list(data["barred"]), list(data["invited"])
        for rule in hidden:
            (barred if rule.kind == EntryRule.Kind.NOT else invited).append(rule.other)
        set_entry_rules(study, barred=barred, invited=invited)
        for sentence in rule_warnings(study, known):
            messages.warning(request, sentence)
        return f"Who may take part: {rules_in_words(barred, invited, known)}"

    act = Act(
        title="Who may take part",
        text="People are known across studies by the panel and their id on it. It binds who comes from now on; who is "
        "in stays in. Somebody without an id is known nowhere: no list keeps them out, and none lets them in.",
        button="Save",
        form=rules_form(request, study),
        initial={"barred": before[EntryRule.Kind.NOT], "invited": before[EntryRule.Kind.ONLY]},
        do=do,
        back=workbench_url(study),
    )
    return act_page(request, study, act, tab="workbench")


def rules_in_words(barred: Sequence[Study], invited: Sequence[Study], known: Collection[int]) -> str:
    """The lists; studies that the reader is no member of have no name."""
    parts = [
        f"{what} {', '.join(str(each) if each.pk in known else 'another study' for each in studies)}"
        for what, studies in (("not who took part in", barred), ("only who took part in", invited))
        if studies
    ]
    return f"{'; '.join(parts) or 'everybody'}."


def entry_rules_of(request: HttpRequest, study: Study) -> str:
    rules = list(EntryRule.objects.filter(study=study).select_related("other").order_by("other__title"))
    barred, invited = (
        [rule.other for rule in rules if rule.kind == kind]
        for kind in (EntryRule.Kind.NOT, EntryRule.Kind.ONLY)
    )
    known = set(my_studies(request).values_list("pk", flat=True)) if rules else set()
    return rules_in_words(barred, invited, known) if rules else ""
