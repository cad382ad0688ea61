"""The fields of a form that makes a view of a study."""

from typing import Any

from analytics.frames.filters import Filters, choices_of
from evaluation.models import Study

# What each filter is called on the page.
LABELS = {
    "query": "Query",
    "category": "Category",
    "source": "Source",
    "split": "Split",
    "arm": "Setting",
    "system": "System",
    "group": "Group of people",
    "rater": "Only these raters",
    "without_rater": "Without these raters",
    "judges": "Judges",
}
# Of a filter with one value, the words for none.
NONE = {"judges": "one by one"}
# A list of choices shows no more of them at once.
MOST_SHOWN = 6


def view_fields(study: Study, filters: Filters, prefix: str = "") -> dict[str, Any]:
    """The variables of `_view_fields.html`: the choices, with those that are chosen, and the days. Names begin with
    `prefix`."""
    chosen = filters.canonical()
    found = [
        {
            "name": f"{prefix}{name}",
            "label": LABELS[name],
            "size": 0 if name in NONE else min(len(values), MOST_SHOWN),
            "none": NONE.get(name, ""),
            "options": [(value, value in chosen.get(name, ())) for value in values],
        }
        for name, values in choices_of(study).items()
    ]
    numbers = list(study.revisions.order_by("number").values_list("number", flat=True))
    if len(numbers) > 1:
        options = [(number, number == filters.revision) for number in numbers]
        found.append({"name": f"{prefix}revision", "label": "Revision", "size": 0, "options": options})
    days = [
        (f"{prefix}from", "From (day, UTC)", filters.first_day),
        (f"{prefix}to", "To (day, UTC)", filters.last_day),
    ]
    return {"fields": found, "days": days}
