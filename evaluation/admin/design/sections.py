"""The design form's sections, in the order in which a study is thought out: what is judged, how, and by which rules."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.admin.study.needs import NeedsForm
from evaluation.admin.study.rules import CODE_FIELDS, StepsForm
from evaluation.admin.study.stopping import StoppingForm

LIVE_FIELDS = (
    ("items_per_participant",),
    ("paid_minutes", "lease_minutes"),
    ("pay", "currency"),
    "going_back",
    "groups",
    "contact",
    "exact_times",
    ("revisions_in_all", "revisions_per_day", "revisions_anonymous"),
)
CODES = (
    "Completion codes",
    {
        "fields": CODE_FIELDS,
        "description": "The codes that participants hand in at the panel, by outcome. Leave empty what "
        "your panel has no code for.",
    },
)
# Of protocols that leave it to the study.
NEEDS = ("What an item needs", {"fields": NeedsForm.NEEDS_FIELDS})
JUDGED = ("What is compared", {"fields": ("baseline", ("once_per", "arm_per"))})
SHARES = ("Shares in the report", {"fields": ("shares",)})
REDUNDANCY = (
    "Redundancy",
    {"fields": (("redundancy", "items_per_participant"), "human_sample", "seed", "epsilon")},
)
STOPPING = ("Stopping early", {"fields": (StoppingForm.STOPPING_FIELDS,)})
STEPS = ("Participant steps", {"fields": StepsForm.STEP_FIELDS})
SKIPPING = ("Skipping", {"fields": StepsForm.SKIP_FIELDS})
TIME_AND_PAY = ("Time and pay", {"fields": LIVE_FIELDS[1:]})
LOOK = (
    "On every page",
    {
        "fields": (
            *("title", "language", "asker"),
            ("render_as", "show_references"),
            ("single_dollars", "show_images"),
        )
    },
)
DRAFT_FIELDSETS = (JUDGED, SHARES, REDUNDANCY, STOPPING, STEPS, SKIPPING, TIME_AND_PAY, CODES, LOOK)
LIVE_FIELDSETS = (("Can be changed at any time", {"fields": LIVE_FIELDS}), CODES)


@dataclass(frozen=True)
class FormSection:
    """A part of the form: its heading, the names of its fieldsets and the models of its rows."""

    key: str
    heading: str
    fieldsets: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()


def _names(*fieldsets: tuple[str, Any]) -> tuple[str, ...]:
    return tuple(name for name, _ in fieldsets)


SECTIONS = (
    FormSection("judged", "What is judged", _names(NEEDS, JUDGED), ("arm",)),
    FormSection("questions", "Questions", _names(SHARES), ("question", "attribute")),
    FormSection("texts", "Texts", rows=("text",)),
    FormSection("rules", "Rules", _names(REDUNDANCY, STOPPING, STEPS, SKIPPING, TIME_AND_PAY, CODES)),
    FormSection("look", "Look", _names(LOOK)),
)


def fill_sections(fieldsets: Iterable[Any], inlines: Iterable[Any]) -> list[dict[str, Any]]:
    """The sections for the page: with Django's fieldsets, and its formsets of rows, that belong to each."""
    named: Mapping[str, Any] = {each.name: each for each in fieldsets}
    of_model = {each.opts.model._meta.model_name: each for each in inlines}
    return [
        {
            "key": section.key,
            "heading": section.heading,
            "fieldsets": [named[name] for name in section.fieldsets if name in named],
            "rows": [of_model[name] for name in section.rows if name in of_model],
        }
        for section in SECTIONS
    ]
