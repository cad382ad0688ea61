"""The study at the panel: drafting it there, publishing, pausing, adding places, reading back.

These are single calls with a time limit, made while the page waits; only a long list is read by a worker. What costs
per submission is in `decisions`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django import forms
from django.http import HttpRequest

from annotator.models import Panel
from annotator.panels.admin.pages import (
    PAGES,
    PanelPage,
    Remedy,
    Target,
    panel_page,
    panel_url,
    remedy,
    with_refusals,
)
from annotator.panels.platforms import get_platform
from annotator.panels.prolific.presets import PRESETS
from annotator.panels.reconciliation.cases import Case
from annotator.panels.reconciliation.kinds import Mismatch
from annotator.panels.services import recruiting, study_draft
from annotator.panels.services.prolific_preflight import draft_problems, draft_warnings
from annotator.panels.services.reading_jobs import begin_reading, is_short
from annotator.panels.services.readings import sync
from annotator.panels.services.recruitment_filters import filters_of, use_preset
from annotator.panels.tasks import queue_reading
from evaluation.admin.pages import ConfirmedAction, OptionalReasonForm
from evaluation.models import Study

PRESET_CHOICES = [(each.key, f"{each.label}: {each.about}") for each in PRESETS.values()]


class PresetForm(OptionalReasonForm):
    preset = forms.ChoiceField(choices=PRESET_CHOICES, widget=forms.RadioSelect)
    field_order = ("preset", "reason")


@panel_page("preset")
def preset(request: HttpRequest, panel: Panel) -> ConfirmedAction:
    """Pay, minutes, items per person and filters as a published study had them."""

    def do(data: dict[str, Any]) -> str:
        left = with_refusals(lambda: use_preset(panel.study, data["preset"]))
        said = f"Recruiting as {PRESETS[data['preset']].label}: {_offer(panel.study)}."
        return f"{said} {' '.join(left)}" if left else said

    return ConfirmedAction(
        title="Recruit as a published study did",
        text=f"Sets pay, minutes and items per person of this study, and whom the panel lets in. It is "
        f"{_offer(panel.study)} now. Who is at work keeps what they were promised.",
        button="Use it",
        form=PresetForm,
        do=do,
        back=panel_url(panel.study),
    )


def _offer(study: Study) -> str:
    pay = f"{study.pay} {study.currency}" if study.pay is not None else "no pay"
    return f"{pay} for {study.items_per_participant} items in {study.paid_minutes} minutes"


@panel_page("draft")
def draft(request: HttpRequest, panel: Panel) -> ConfirmedAction:
    problems = draft_problems(panel.study)
    takes = filters_of(panel).sentences() or ["everybody"]

    def do(data: dict[str, Any]) -> str:
        made = with_refusals(lambda: study_draft.draft_on_panel(panel.study))
        return f"Drafted as {made.external_id}, with {made.places} places."

    return ConfirmedAction(
        title="Draft the study on Prolific",
        text="Prolific gets the study's title, address, pay, minutes, places and completion codes. Nobody sees it "
        "there yet, and it costs nothing. From then on the codes can't be changed.",
        button="Draft it",
        form=OptionalReasonForm,
        objects=[f"To be mended first: {each}" for each in problems]
        + [f"To think about: {each}" for each in draft_warnings(panel.study)]
        + [f"Whom it takes: {each}" for each in takes],
        do=do,
        back=panel_url(panel.study),
    )


@dataclass(frozen=True)
class Transition:
    """Something asked of the study at the panel."""

    title: str
    text: str
    button: str
    done: str
    ask: Callable[[Panel], Any]


TRANSITIONS = {
    "publish": Transition(
        "Publish the study",
        "Participants can take places from now on, and whoever completes is to be paid.",
        "Publish", "Published.", recruiting.publish,
    ),
    "pause": Transition(
        "Pause recruiting", "Nobody new gets a place there. Who is at work goes on.", "Pause", "Paused.",
        recruiting.pause,
    ),
    "start": Transition(
        "Go on recruiting", "Free places can be taken again.", "Go on", "Recruiting again.", recruiting.start
    ),
}  # fmt: skip


def _transition(request: HttpRequest, panel: Panel, what: Transition) -> ConfirmedAction:
    def do(data: dict[str, Any]) -> str:
        with_refusals(lambda: what.ask(panel))
        return what.done

    return ConfirmedAction(
        title=what.title,
        text=f"{get_platform(panel.platform).label}: {what.text}",
        button=what.button,
        form=OptionalReasonForm,
        do=do,
        back=panel_url(panel.study),
    )


for key in ("publish", "start"):
    PAGES.register(PanelPage(key, f"{key}/", partial(_transition, what=TRANSITIONS[key])))
PAGES.register(Remedy("pause", "pause/", partial(_transition, what=TRANSITIONS["pause"]), "Pause there"))


@remedy("sync", "Ask the panel")
def read_back(request: HttpRequest, panel: Panel) -> ConfirmedAction:
    """Of a short study while the page waits; a long one is read by a worker, and the page shows how far that is."""
    short = is_short(panel)

    def do(data: dict[str, Any]) -> str:
        if short:
            return f"Read back: {with_refusals(lambda: sync(panel, everyone=True))}"
        begun = with_refusals(lambda: begin_reading(panel, request.user))
        queue_reading(begun.pk)
        return f"{get_platform(panel.platform).label} is being asked; this page shows how far that is."

    return ConfirmedAction(
        title="Ask the panel again",
        text=f"{get_platform(panel.platform).label}: Reads the study's state, all submissions and their bonuses back, "
        "and does here what they call for: who returned or timed out frees their places. Nothing is changed there."
        f"{'' if short else ' It takes a while; a worker does it, and you can go on meanwhile.'}",
        button="Ask",
        form=OptionalReasonForm,
        do=do,
        back=panel_url(panel.study),
    )


class PlacesForm(OptionalReasonForm):
    more = forms.IntegerField(label="Places to add", min_value=1, max_value=10_000)
    # How many there were when the page was shown: pressed twice, it adds them once.
    shown = forms.IntegerField(required=False, widget=forms.HiddenInput)
    field_order = ("more", "reason")


def _missing_places(case: Case | None, mismatch: Mismatch | None) -> Target:
    return (), {"more": mismatch.more if mismatch is not None else 0}


@remedy("places", "Add places", about=_missing_places)
def add_places(request: HttpRequest, panel: Panel) -> ConfirmedAction:

    def do(data: dict[str, Any]) -> str:
        more = data["more"]
        if with_refusals(lambda: recruiting.add_places(panel, more, shown=data["shown"])):
            return f"Added {more} places: {panel.places} in all."
        return f"Done already: there are {panel.places} places in all, and none was added now."

    wanted = request.GET.get("more", "")
    return ConfirmedAction(
        title="Add places",
        text=f"There are {panel.places} places on {get_platform(panel.platform).label}. Each more is one more person "
        "to be paid, and places can't be taken away again there.",
        button="Add",
        form=PlacesForm,
        initial={"more": wanted if wanted.isdigit() else None, "shown": panel.places},
        do=do,
        back=panel_url(panel.study),
    )
