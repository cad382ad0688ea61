"""The conditions on whom Prolific shows the study to."""

from dataclasses import asdict
from typing import Any, cast

from django import forms
from django.db.models import Q
from django.http import HttpRequest

from annotator.models import Panel
from annotator.panels.admin.pages import panel_url, remedy, with_refusals
from annotator.panels.prolific.recruitment_filters import (
    DEVICES,
    EDUCATION,
    EXCLUSION_FILTERS,
    LABELS,
    MOST_SUBMISSIONS,
    RecruitmentFilters,
)
from annotator.panels.services.prolific_preflight import PLATFORM
from annotator.panels.services.recruitment_filters import filters_of, set_filters
from evaluation.admin.pages import ConfirmedAction, OptionalReasonForm
from evaluation.admin.rights import my_studies
from evaluation.models import Study


class FiltersForm(OptionalReasonForm):
    """A field for each condition; what is left empty asks for nothing."""

    approval_rate = forms.IntegerField(
        label=LABELS["approval_rate"],
        required=False,
        min_value=0,
        max_value=100,
        help_text="A whole number; 100 means above 99.",
    )
    least = forms.IntegerField(label=LABELS["least"], required=False, min_value=0, max_value=MOST_SUBMISSIONS)
    most = forms.IntegerField(
        label=LABELS["most"],
        required=False,
        min_value=0,
        max_value=MOST_SUBMISSIONS,
        help_text="For people who are new to studies; usually empty.",
    )
    fluent = forms.CharField(
        label=LABELS["fluent"],
        required=False,
        max_length=1_000,
        help_text="Prolific's names for languages, separated by commas: English, French.",
    )
    first = forms.CharField(label=LABELS["first"], required=False, max_length=1_000)
    countries = forms.CharField(
        label=LABELS["countries"],
        required=False,
        max_length=4_000,
        help_text="Prolific's names for countries, separated by commas: United Kingdom, United States.",
    )
    education = forms.ChoiceField(
        label=LABELS["education"],
        required=False,
        choices=[("", "Any"), *((each, each) for each in EDUCATION)],
    )
    not_from = forms.MultipleChoiceField(
        label=LABELS["not_from"],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Studies here that recruit on Prolific.",
    )
    by = forms.ChoiceField(
        label=LABELS["by"], choices=list(EXCLUSION_FILTERS.items()), widget=forms.RadioSelect
    )
    devices = forms.MultipleChoiceField(
        label=LABELS["devices"],
        choices=[(each, each) for each in DEVICES],
        widget=forms.CheckboxSelectMultiple,
    )
    field_order = (*LABELS, "reason")


def _filters_form(others: list[tuple[str, str]]) -> type[FiltersForm]:
    """With the studies that the user may name; without any, nobody can be kept out."""

    class Form(FiltersForm):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            if others:
                cast(forms.MultipleChoiceField, self.fields["not_from"]).choices = others
            else:
                del self.fields["not_from"], self.fields["by"]

    return Form


@remedy("filters", "Set the filters there again", "recruitment-filters/")
def recruitment_filters(request: HttpRequest, panel: Panel) -> ConfirmedAction:
    """The recruitment filters, by field; a draft that nobody sees yet is changed there as well."""
    now = filters_of(panel)
    others = _others(request, panel.study, now)

    def do(data: dict[str, Any]) -> str:
        given = {name: data[name] for name in LABELS if name in data}
        notes = with_refusals(lambda: set_filters(panel.study, given))
        panel.refresh_from_db()
        said = filters_of(panel).sentences()
        return " ".join([f"Eligibility: {'; '.join(said)}." if said else "Open to everyone.", *notes])

    initial = {
        name: ", ".join(value) if name in ("fluent", "first", "countries") else value
        for name, value in asdict(now).items()
    }
    return ConfirmedAction(
        title="Eligibility",
        text="Prolific shows the study only to people who match. Names are checked against its list "
        "when you save, and again when the study is drafted; an unknown name stops that and "
        "never recruits other people instead."
        + (" The draft there is updated, too." if panel.drafted_at is not None else ""),
        button="Save",
        form=_filters_form(others),
        initial=initial,
        do=do,
        back=panel_url(panel.study),
    )


def _others(request: HttpRequest, study: Study, now: RecruitmentFilters) -> list[tuple[str, str]]:
    """The user's studies with people from Prolific, and those that are kept out already."""
    from_there = Q(panel__platform=PLATFORM) | Q(participants__platform=PLATFORM)
    mine = my_studies(request).filter(from_there).exclude(pk=study.pk).distinct().order_by("-created_at")
    found = dict(mine.values_list("slug", "title"))
    return [*found.items(), *((slug, slug) for slug in now.not_from if slug not in found)]
