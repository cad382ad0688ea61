"""The filters of the tests' own Prolific, and which of them it takes: by its public docs."""

from collections.abc import Container, Mapping
from typing import Any

FILTERS: list[dict[str, Any]] = [
    {"filter_id": "approval_rate", "title": "Approval Rate", "type": "range", "min": 0, "max": 100},
    {
        "filter_id": "approval_numbers", "title": "Number of previous submissions", "type": "range",
        "min": 0, "max": 10_000,
    },
    {
        "filter_id": "fluent-languages", "title": "Fluent languages", "type": "select",
        "choices": {"4": "Arabic", "19": "English", "23": "French"},
    },
    {
        "filter_id": "first-language", "title": "First Language", "type": "select",
        "choices": {"4": "Arabic", "19": "English", "23": "French"},
    },
    {
        "filter_id": "current-country-of-residence", "title": "Current Country of Residence", "type": "select",
        "choices": {"0": "United Kingdom", "1": "United States", "38": "Canada", "77": "Germany"},
    },
    {
        "filter_id": "highest-education-level-completed", "title": "Highest education level completed",
        "type": "select",
        "choices": {
            "0": "No formal qualifications", "1": "Secondary education (e.g. GED/GCSE)",
            "2": "High school diploma/A-levels", "3": "Technical/community college",
            "4": "Undergraduate degree (BA/BSc/other)", "5": "Graduate degree (MA/MSc/MPhil/other)",
            "6": "Doctorate degree (PhD/other)",
        },
    },
    {
        "filter_id": "previous_studies_blocklist", "title": "Exclude participants from other studies", "type": "select",
        "data_type": "StudyID", "choices": {},
    },
    {
        "filter_id": "custom_blocklist", "title": "Custom blocklist", "type": "select", "data_type": "ParticipantID",
        "choices": {},
    },
]  # fmt: skip
DEVICES = {"desktop", "tablet", "mobile"}


def find_wrong(filters: list[Mapping[str, Any]], studies: Container[str]) -> list[str]:
    """What is no valid filter; `studies` are the account's."""
    known = {each["filter_id"]: each for each in FILTERS}
    found = []
    for each in filters:
        there = known.get(str(each.get("filter_id")))
        if there is None or set(each) - {"filter_id", "selected_values", "selected_range"}:
            found.append(f"{each} is not a valid filter.")
        elif there["type"] == "range":
            found += _wrong_range(each, there)
        else:
            found += _wrong_values(each, there, studies)
    return found


def _wrong_range(each: Mapping[str, Any], there: Mapping[str, Any]) -> list[str]:
    asked = each.get("selected_range")
    if not isinstance(asked, dict) or not asked or set(asked) - {"lower", "upper"}:
        return [f"{each} needs a range."]
    bounds = [asked.get("lower", there["min"]), asked.get("upper", there["max"])]
    if not all(isinstance(one, int) and there["min"] <= one <= there["max"] for one in bounds):
        return [f"{each} is not between {there['min']} and {there['max']}."]
    return [] if bounds[0] <= bounds[1] else [f"{each} ends before it begins."]


def _wrong_values(each: Mapping[str, Any], there: Mapping[str, Any], studies: Container[str]) -> list[str]:
    values = each.get("selected_values")
    if not isinstance(values, list) or not values or not all(isinstance(one, str) for one in values):
        return [f"{each} needs values."]
    kind = there.get("data_type", "ChoiceID")
    valid = there["choices"] if kind == "ChoiceID" else studies if kind == "StudyID" else values
    return [f"{one} is no value of {there['filter_id']}." for one in values if one not in valid]
