"""The study at the panel: drafting it there, publishing, pausing, adding places, reading back.

These are single calls with a time limit, made while the page waits; only a long list is read by a worker. What costs
per submission is in `decisions`.
"""

from collections.abc import Callable, Iterable
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
from annotator.panels.platforms.eligibility import Preset
from annotator.panels.reconciliation.cases import Case
from annotator.panels.reconciliation.kinds import Mismatch
from annotator.panels.services import recruiting, study_draft
from annotator.panels.services.preflight import draft_problems, draft_warnings
from annotator.panels.services.reading_jobs import begin_reading, is_short
from annotator.panels.services.readings import sync
from annotator.panels.services.recruitment_filters import (
    all_presets,
    eligibility_of,
    filter_sentences,
    offer,
    use_preset,
)
from evaluation.admin.pages import ConfirmedAction, OptionalReasonForm
from evaluation.tasks import enqueue_job


def _preset_form(presets: Iterable[Preset]) -> type[OptionalReasonForm]:
    choices = [(each.key, f"{each.label}: {each.about}") for each in presets]

    class PresetForm(OptionalReasonForm):
        preset = forms.ChoiceField(choices=choices, widget=forms.RadioSelect)
        field_order = ("preset", "reason")

    return PresetForm


@panel_page("preset")
def preset(request: HttpRequest, panel: Panel) -> ConfirmedAction:
    """Pay, minutes, items per person and filters as a published study had them; those of the study's platform, or of
    every one where it has none."""
    eligibility = eligibility_of(get_platform(panel.platform))
    presets = (
        eligibility.presets if eligibility is not None else {k: p for k, (_, p) in all_presets().items()}
    )

    def do(data: dict[str, Any]) -> str:
        left = with_refusals(
            lambda: use_preset(panel.study, data["preset"], by=request.user, reason=data["reason"])
        )
        said = f"Recruiting as {presets[data['preset']].label}: {offer(panel.study)}."
        return f"{said} {' '.join(left)}" if left else said

    return ConfirmedAction(
        title="Use a published study's settings",
        text="Sets this study's pay, minutes, items per person and eligibility. Currently: "
        f"{offer(panel.study)}. Participants at work keep what they were promised.",
        button="Use the preset",
        form=_preset_form(presets.values()),
        do=do,
        back=panel_url(panel.study),
        logs_itself=True,
    )


@panel_page("draft")
def draft(request: HttpRequest, panel: Panel) -> ConfirmedAction:
    problems = draft_problems(panel.study)
    takes, label = filter_sentences(panel) or ["open to everyone"], get_platform(panel.platform).label

    def do(data: dict[str, Any]) -> str:
        made = with_refusals(
            lambda: study_draft.draft_on_panel(panel.study, by=request.user, reason=data["reason"])
        )
        return study_draft.drafted_as(made.external_id, made.places)

    return ConfirmedAction(
        title=f"Create a draft on {label}",
        text=f"{label} gets the study's title, address, pay, minutes, places and completion codes. "
        "Nobody sees it "
        "there yet, and it costs nothing. From then on the codes can't be changed.",
        button="Create draft",
        form=OptionalReasonForm,
        objects=[f"Fix first: {each}" for each in problems]
        + [f"Warning: {each}" for each in draft_warnings(panel.study)]
        + [f"Eligibility: {each}" for each in takes],
        do=do,
        back=panel_url(panel.study),
        logs_itself=True,
    )


@dataclass(frozen=True)
class Transition:
    """Something asked of the study at the panel."""

    title: str
    text: str
    button: str
    done: str
    ask: Callable[..., Panel]


TRANSITIONS = {
    "publish": Transition(
        "Publish the study",
        "Participants can take places from now on, and everyone who completes has to be paid.",
        "Publish", recruiting.PUBLISHED, recruiting.publish,
    ),
    "pause": Transition(
        "Pause recruiting", "No new participants can start. Those at work can finish.", "Pause", recruiting.PAUSED,
        recruiting.pause,
    ),
    "start": Transition(
        "Resume recruiting", "Free places can be taken again.", "Resume", recruiting.RESUMED, recruiting.start
    ),
}  # fmt: skip


def _transition(request: HttpRequest, panel: Panel, what: Transition) -> ConfirmedAction:
    def do(data: dict[str, Any]) -> str:
        with_refusals(lambda: what.ask(panel, by=request.user, reason=data["reason"]))
        return what.done

    return ConfirmedAction(
        title=what.title,
        text=f"{get_platform(panel.platform).label}: {what.text}",
        button=what.button,
        form=OptionalReasonForm,
        do=do,
        back=panel_url(panel.study),
        logs_itself=True,
    )


for key in ("publish", "start"):
    PAGES.register(PanelPage(key, f"{key}/", partial(_transition, what=TRANSITIONS[key])))
PAGES.register(Remedy("pause", "pause/", partial(_transition, what=TRANSITIONS["pause"]), "Pause recruiting"))


@remedy("sync", "Refresh from the panel")
def read_back(request: HttpRequest, panel: Panel) -> ConfirmedAction:
    """Refresh a short study while the page waits; a long one is read by a worker, and the page shows its progress."""
    short = is_short(panel)

    def do(data: dict[str, Any]) -> str:
        if short:
            return f"Refreshed: {with_refusals(lambda: sync(panel, everyone=True))}"
        enqueue_job(with_refusals(lambda: begin_reading(panel, request.user)))
        return f"{get_platform(panel.platform).label} is being read; this page shows the progress."

    return ConfirmedAction(
        title="Refresh from the panel",
        text=f"{get_platform(panel.platform).label}: reads the study's state, all submissions and "
        "their bonuses, and applies them here: returned and timed-out submissions free their "
        "slots. Nothing is changed there."
        f"{'' if short else ' This takes a while and runs in the background.'}",
        button="Refresh",
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
        asked = {"shown": data["shown"], "by": request.user, "reason": data["reason"]}
        if with_refusals(lambda: recruiting.add_places(panel, more, **asked)):
            return recruiting.places_added(panel, more)
        return f"Already done: there are {panel.places} places in total, and none were added."

    wanted, label = request.GET.get("more", ""), get_platform(panel.platform).label
    first = (
        f" They are added to the first visit's study; to those of further visits, add them on {label}."
        if panel.linked_studies.exists()
        else ""
    )
    return ConfirmedAction(
        title="Add places",
        text=f"There are {panel.places} places on {label}. Each additional place is one more person to pay, and "
        f"places can't be removed there.{first}",
        button="Add",
        form=PlacesForm,
        initial={"more": wanted if wanted.isdigit() else None, "shown": panel.places},
        do=do,
        back=panel_url(panel.study),
        logs_itself=True,
    )
