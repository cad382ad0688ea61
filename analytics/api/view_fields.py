"""The parameters that make a report one of a view: the same in addresses and bodies."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError

from evaluation.filters import SAVED, SEVERAL, Filters
from evaluation.models import Study
from evaluation.refusals import FieldsRefused

ABOUT = {
    "query": "Only items of one of these queries, by key.",
    "category": "Only items of one of these categories.",
    "source": "Only items whose query is from one of these sources.",
    "split": "Only items of one of these splits; none: of no split.",
    "arm": "Only items of one of these settings.",
    "system": "Only items with a response of one of these systems.",
    "group": "Of people, only judgments of those in one of these groups.",
    "rater": "Only judgments of these raters.",
    "without_rater": "No judgment of these raters.",
    "revision": "Only judgments under the revision of this number.",
    "from": "Only judgments from this day on, as 2026-01-31 (UTC).",
    "to": "Only judgments up to the end of this day.",
    "judges": "together: beside people, several judges also as one group.",
    SAVED: "The saved view of this name, without any other filter.",
}
LONGEST = 200


class ViewFields(serializers.Serializer[Any]):
    """Adds them to the fields of a serializer; `from` is no name that a class may have an attribute of."""

    def get_fields(self) -> dict[str, Any]:
        found = dict(super().get_fields())
        for name, about in ABOUT.items():
            text = serializers.CharField(max_length=LONGEST, trim_whitespace=False)
            if name in SEVERAL:
                found[name] = serializers.ListField(child=text, required=False, help_text=about)
            else:
                found[name] = serializers.CharField(required=False, max_length=LONGEST, help_text=about)
        return found


def filters_from(study: Study, given: Mapping[str, Any]) -> Filters:
    """The filters of validated data; ValidationError with what is wrong with them, by name."""
    values = {name: given[name] if name in SEVERAL else [given[name]] for name in ABOUT if name in given}
    try:
        return Filters.parse(study, values)
    except FieldsRefused as refused:
        raise ValidationError(
            {
                name: [ErrorDetail(each, "invalid") for each in found]
                for name, found in refused.by_field.items()
            }
        ) from None
