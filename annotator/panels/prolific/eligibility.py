"""Recruitment filters as Prolific's eligibility: how they are read, set on a form, asked for and compared."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms

from annotator.panels.platforms.eligibility import Criteria, Eligibility, FilterRequest
from annotator.panels.prolific.filters import KnownFilter, as_filters, as_stored, differences
from annotator.panels.prolific.presets import PRESETS
from annotator.panels.prolific.recruitment_filters import (
    DEVICES,
    EDUCATION,
    EXCLUSION_FILTERS,
    LABELS,
    MOST_SUBMISSIONS,
    RecruitmentFilters,
    read_filters,
)


class ProlificEligibility(Eligibility):
    labels = LABELS
    presets = PRESETS

    def read(self, given: Mapping[str, Any]) -> Criteria:
        return read_filters(given)

    def form_fields(self) -> dict[str, forms.Field]:
        return {
            "approval_rate": forms.IntegerField(
                label=LABELS["approval_rate"],
                required=False,
                min_value=0,
                max_value=100,
                help_text="A whole number; 100 means above 99.",
            ),
            "least": forms.IntegerField(
                label=LABELS["least"], required=False, min_value=0, max_value=MOST_SUBMISSIONS
            ),
            "most": forms.IntegerField(
                label=LABELS["most"],
                required=False,
                min_value=0,
                max_value=MOST_SUBMISSIONS,
                help_text="For people who are new to studies; usually empty.",
            ),
            "fluent": forms.CharField(
                label=LABELS["fluent"],
                required=False,
                max_length=1_000,
                help_text="Prolific's names for languages, separated by commas: English, French.",
            ),
            "first": forms.CharField(label=LABELS["first"], required=False, max_length=1_000),
            "countries": forms.CharField(
                label=LABELS["countries"],
                required=False,
                max_length=4_000,
                help_text="Prolific's names for countries, separated by commas: United Kingdom, United States.",
            ),
            "education": forms.ChoiceField(
                label=LABELS["education"],
                required=False,
                choices=[("", "Any"), *((each, each) for each in EDUCATION)],
            ),
            "not_from": forms.MultipleChoiceField(
                label=LABELS["not_from"],
                required=False,
                widget=forms.CheckboxSelectMultiple,
                help_text="Studies here that recruit on Prolific.",
            ),
            "by": forms.ChoiceField(
                label=LABELS["by"], choices=list(EXCLUSION_FILTERS.items()), widget=forms.RadioSelect
            ),
            "devices": forms.MultipleChoiceField(
                label=LABELS["devices"],
                choices=[(each, each) for each in DEVICES],
                widget=forms.CheckboxSelectMultiple,
            ),
        }

    def differences(self, drafted: Mapping[str, Any], there: Mapping[str, Any]) -> list[str]:
        found = differences(
            drafted["filters"], there["filters"], said=drafted["said"], limits=drafted["limits"]
        )
        if there["devices"] and set(drafted["devices"]) != set(there["devices"]):
            found.append(f"it allows {', '.join(there['devices'])} there")
        return found


def as_request(
    criteria: RecruitmentFilters, known: Iterable[KnownFilter], studies: Iterable[str], people: Iterable[str]
) -> FilterRequest:
    """The criteria as Prolific takes them, by the filters that it lists. Raises FilterUnknown."""
    listed = {each.id: each for each in known}
    wanted = criteria.wanted(tuple(studies), tuple(people))
    filters = as_filters(wanted, listed.values())
    devices = list(criteria.devices)
    kept = {
        "filters": as_stored(filters),
        "devices": devices,
        "said": {each.id: each.said for each in wanted},
        "limits": {each.id: [listed[each.id].lowest, listed[each.id].highest] for each in wanted},
    }
    return FilterRequest({"filters": filters, "device_compatibility": devices}, kept)
