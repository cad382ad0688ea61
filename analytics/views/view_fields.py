"""The fields of a form that makes a view of a study."""

from collections.abc import Mapping

from evaluation.extension import extensions
from evaluation.filters import Filters, choices_of
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


# The lists of raters, each of whom may be a judge's run.
OF_RATERS = ("rater", "without_rater")


def view_names(study: Study) -> dict[str, dict[str, str]]:
    """The names of all that can be chosen, by filter and value; a judge's has the number and the day of its run."""
    names = choices_of(study)
    runs = {key: run for each in extensions() for key, run in each.judge_runs(study).items()}
    for name in OF_RATERS:
        if name in names:
            names[name] = {
                key: f"{label}, run {runs[key].number} of {runs[key].day:%Y-%m-%d}" if key in runs else label
                for key, label in names[name].items()
            }
    return names


def view_fields(
    study: Study, filters: Filters, names: Mapping[str, Mapping[str, str]], prefix: str = ""
) -> Mapping[str, object]:
    """The variables of `_view_fields.html`: the choices by their `names`, with those that are chosen, and the days. The
    fields' own names begin with `prefix`."""
    chosen = filters.canonical()
    found = [
        {
            "name": f"{prefix}{name}",
            "label": LABELS[name],
            "size": 0 if name in NONE else min(len(values), MOST_SHOWN),
            "none": NONE.get(name, ""),
            "options": [(value, label, value in chosen.get(name, ())) for value, label in values.items()],
        }
        for name, values in names.items()
    ]
    numbers = list(study.revisions.order_by("number").values_list("number", flat=True))
    if len(numbers) > 1:
        options = [(number, number, number == filters.revision) for number in numbers]
        found.append({"name": f"{prefix}revision", "label": "Revision", "size": 0, "options": options})
    days = [
        (f"{prefix}from", "From (day, UTC)", filters.first_day),
        (f"{prefix}to", "To (day, UTC)", filters.last_day),
    ]
    return {"fields": found, "days": days}
