"""The pages around a study's items, for its design page: of a spec that may be unsaved, and with nothing to send."""

from typing import Any

from django.template.loader import render_to_string
from django.utils.translation import gettext

from annotator.models import ParticipantOutcome
from annotator.panels.platforms import Departure, get_platform
from annotator.views.shared.parts import about_study, contact, done_context, instruction_texts, rendered
from evaluation.extension import PagePreview
from evaluation.models import Study
from evaluation.protocols.base import Spec


def _entry(study: Study, spec: Spec) -> str:
    # With a field of a visit: no way back is offered, which one browser remembers.
    context = {"about": about_study(study, spec, study.items_per_participant), "visit": {"preview": "1"}}
    return _page(study, spec, "annotator/entry.html", context)


def _instructions(study: Study, spec: Spec) -> str:
    context = {"texts": instruction_texts(study, spec), "continue_url": ""}
    return _page(study, spec, "annotator/page_instructions.html", context)


def _end(study: Study, spec: Spec) -> str:
    leave = Departure(code=study.completion_codes.get(ParticipantOutcome.COMPLETED, ""))
    thanks = rendered(spec["texts"].get("thanks", ""))
    done = done_context(ParticipantOutcome.COMPLETED, leave, get_platform("link"), thanks)
    return _page(study, spec, "annotator/page_done.html", {"done": done})


def _page(study: Study, spec: Spec, template: str, context: dict[str, Any]) -> str:
    around = {
        "bar": {"title": spec["title"], "label": gettext("Preview"), "done": 0, "total": 0, "progress": ""},
        "notice": "",
        "help": {"contact": contact(study.contact), "withdraw": ""},
        "remember": False,
        "slug": study.slug,
    }
    return render_to_string(template, {**around, **context}).strip()


ENTRY = PagePreview("Entry", ("consent", "about"), _entry)
INSTRUCTIONS = PagePreview("Instructions", ("instructions", "guideline", "guideline_context"), _instructions)
END = PagePreview("End", ("thanks",), _end)
