"""Small studies of condition calibration: drafted sets, fragments to cite, and what calibrators make of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.models import Arm, Item, ItemResponse, Query, Response, Study, System
from evaluation.protocols.entries.sets import write_set
from evaluation.services.studies.creation import create_study
from tests.factories import NO_STEPS, launch

FRAGMENTS = (
    {"title": "Harbour Bridge", "text": "The first bridge was opened in 1894 and carried trams."},
    {"title": "Harbour Bridge", "text": "A second bridge, for cars, followed in 1962."},
    {"title": "Harbour ferry", "text": "Before the bridge a ferry crossed once an hour."},
)
CHECKED = {"supported": 1, "true_to_source": 1, "covers": 1}


def entry(
    condition: str, *answers: str, cites: Sequence[Any] = (), reason: str = "", origins: Sequence[str] = ()
) -> dict[str, Any]:
    return {
        "condition": condition,
        "answers": list(answers),
        "citations": list(cites),
        "reason": reason,
        "origins": list(origins),
    }


OLD = entry("The first bridge", "1894", cites=[1], reason="Fragment 1 gives its year.")
NEW = entry("The bridge for cars", "1962", cites=[2], reason="Fragment 2 gives its year.")
FERRY = entry("Crossing by ferry", "always", cites=[3])


def calibration_draft(
    drafts: Mapping[str, Sequence[Sequence[Mapping[str, Any]]]], *, slug: str = "bridges", **fields: Any
) -> Study:
    """A draft with an item per query, each with these drafted sets (none: calibrators begin from nothing)."""
    options: dict[str, Any] = {
        "redundancy": 2,
        "steps": NO_STEPS,
        "items_per_participant": 2,
        "revisions_anonymous": 100,
        **fields,
    }
    study = create_study(slug=slug, title=slug.title(), protocol="condition_calibration", **options)
    arm = Arm.objects.create(study=study, key="all", label="All items")
    for key, sets in drafts.items():
        query = Query.objects.create(
            study=study,
            key=key,
            text=f"When was the bridge of {key} opened?",
            category="dates",
            documents=list(FRAGMENTS),
        )
        item = Item.objects.create(study=study, key=key, query=query, arm=arm)
        for number, entries in enumerate(sets, 1):
            system, _ = System.objects.get_or_create(study=study, key=f"model-{number}")
            body = write_set(entries)  # type: ignore[arg-type]
            response = Response.objects.create(query=query, key=system.key, system=system, text=body)
            ItemResponse.objects.create(item=item, response=response)
    return study


def calibration_study(drafts: Mapping[str, Sequence[Sequence[Mapping[str, Any]]]], **fields: Any) -> Study:
    """The same, live."""
    return launch(calibration_draft(drafts, **fields))


def kept(entry: Mapping[str, Any], *origins: str, **changes: Any) -> dict[str, Any]:
    """A drafted entry as a calibrator hands it in."""
    return {**entry, "origins": list(origins), **changes}


def calibrated(*entries: Mapping[str, Any], **checks: int) -> dict[str, Any]:
    """A complete judgment with this set."""
    return {"entries": list(entries), "checks": {**CHECKED, **checks}}


def form(*entries: Mapping[str, Any], **more: str) -> dict[str, str]:
    """The fields that a browser sends for these entries."""
    fields: dict[str, str] = {}
    for number, each in enumerate(entries, 1):
        row = f"entries.e{number}"
        fields |= {
            f"{row}.condition": each["condition"],
            f"{row}.answers": "\n".join(each["answers"]),
            f"{row}.reason": each["reason"],
            f"{row}.origins": " ".join(each["origins"]),
            f"{row}.place": str(number),
            f"{row}.keep": "1",
        }
        fields |= {f"{row}.cite.{cited}": "on" for cited in each["citations"]}
    return fields | {f"checks.{key}": "1" for key in CHECKED} | more
