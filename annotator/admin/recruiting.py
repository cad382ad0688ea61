"""The study at the panel: a preset, drafting it there, publishing, pausing, adding places, reading back.

These are single calls with a time limit, made while the page waits. What costs per submission is in `deciding`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse

from annotator.admin.deciding import TAB, panel_for, panel_url
from annotator.models import Panel
from annotator.platforms import get_platform
from annotator.platforms.prolific.client import PanelError
from annotator.platforms.prolific.presets import PRESETS
from annotator.services import recruiting
from annotator.services.draft_checks import draft_problems, draft_warnings
from annotator.services.panel_client import NotSetUp
from annotator.services.panels import PanelFixed
from evaluation.admin.pages import Act, ActRefused, OptionalReasonForm, act_page
from evaluation.admin.rights import FORM, study_page
from evaluation.models import Study

PRESET_CHOICES = [(each.key, f"{each.label}: {each.about}") for each in PRESETS.values()]


def call(ask: Callable[[], Any]) -> Any:
    """What the panel or its rules refuse stands above the form."""
    try:
        return ask()
    except recruiting.NotReady as not_ready:
        raise ActRefused(*not_ready.problems) from None
    except (PanelError, NotSetUp, PanelFixed) as error:
        raise ActRefused(str(error)) from None


class PresetForm(OptionalReasonForm):
    preset = forms.ChoiceField(choices=PRESET_CHOICES, widget=forms.RadioSelect)
    field_order = ("preset", "reason")


@study_page("write", methods=FORM)
def preset(request: HttpRequest, study: Study) -> HttpResponse:
    """Pay, minutes, items per person and filters as a published study had them."""

    def do(data: dict[str, Any]) -> str:
        left = call(lambda: recruiting.use_preset(study, data["preset"]))
        said = f"Recruiting as {PRESETS[data['preset']].label}: {_offer(study)}."
        return f"{said} {' '.join(left)}" if left else said

    act = Act(
        title="Recruit as a published study did",
        text=f"Sets pay, minutes and items per person of this study, and whom the panel lets in. It is {_offer(study)} "
        "now. Who is at work keeps what they were promised.",
        button="Use it",
        form=PresetForm,
        do=do,
        back=panel_url(study),
    )
    return act_page(request, study, act, tab=TAB)


def _offer(study: Study) -> str:
    pay = f"{study.pay} {study.currency}" if study.pay is not None else "no pay"
    return f"{pay} for {study.items_per_participant} items in {study.paid_minutes} minutes"


@study_page("write", methods=FORM)
def draft(request: HttpRequest, study: Study) -> HttpResponse:
    problems = draft_problems(study)

    def do(data: dict[str, Any]) -> str:
        made = call(lambda: recruiting.draft_on_panel(study))
        return f"Drafted as {made.external_id}, with {made.places} places."

    act = Act(
        title="Draft the study on Prolific",
        text="Prolific gets the study's title, address, pay, minutes, places and completion codes. Nobody sees it "
        "there yet, and it costs nothing. From then on the codes can't be changed.",
        button="Draft it",
        form=OptionalReasonForm,
        objects=[f"To be mended first: {each}" for each in problems]
        + [f"To think about: {each}" for each in draft_warnings(study)],
        do=do,
        back=panel_url(study),
    )
    return act_page(request, study, act, tab=TAB)


@dataclass(frozen=True)
class Move:
    """Something asked of the study at the panel."""

    title: str
    text: str
    button: str
    done: str
    ask: Callable[[Panel], Any]


MOVES = {
    "publish": Move(
        "Publish the study",
        "Participants can take places from now on, and whoever completes is to be paid.",
        "Publish", "Published.", recruiting.publish,
    ),
    "pause": Move(
        "Pause recruiting", "Nobody new gets a place there. Who is at work goes on.", "Pause", "Paused.",
        recruiting.pause,
    ),
    "start": Move(
        "Go on recruiting", "Free places can be taken again.", "Go on", "Recruiting again.", recruiting.start
    ),
    "sync": Move(
        "Ask the panel again",
        "Reads the study's state and all submissions back, and does here what they call for: who returned or timed "
        "out frees their places. Nothing is changed there.",
        "Ask", "Read back", recruiting.sync,
    ),
}  # fmt: skip


def move(name: str) -> Callable[..., HttpResponse]:
    """The page of one of the moves."""
    what = MOVES[name]

    @study_page("write", methods=FORM)
    def moved(request: HttpRequest, study: Study) -> HttpResponse:
        panel = panel_for(study)

        def do(data: dict[str, Any]) -> str:
            answer = call(lambda: what.ask(panel))
            if isinstance(answer, recruiting.Synced):
                return f"{what.done}: {answer.submissions:,} submissions, {answer.changed:,} of them news."
            return what.done

        act = Act(
            title=what.title,
            text=f"{get_platform(panel.platform).label}: {what.text}",
            button=what.button,
            form=OptionalReasonForm,
            do=do,
            back=panel_url(study),
        )
        return act_page(request, study, act, tab=TAB)

    return moved


class PlacesForm(OptionalReasonForm):
    more = forms.IntegerField(label="Places to add", min_value=1, max_value=10_000)
    # How many there were when the page was shown: pressed twice, it adds them once.
    shown = forms.IntegerField(required=False, widget=forms.HiddenInput)
    field_order = ("more", "reason")


@study_page("write", methods=FORM)
def places(request: HttpRequest, study: Study) -> HttpResponse:
    panel = panel_for(study)

    def do(data: dict[str, Any]) -> str:
        more = data["more"]
        if call(lambda: recruiting.add_places(panel, more, shown=data["shown"])):
            return f"Added {more} places: {panel.places} in all."
        return f"Done already: there are {panel.places} places in all, and none was added now."

    wanted = request.GET.get("more", "")
    act = Act(
        title="Add places",
        text=f"There are {panel.places} places on {get_platform(panel.platform).label}. Each more is one more person "
        "to be paid, and places can't be taken away again there.",
        button="Add",
        form=PlacesForm,
        initial={"more": wanted if wanted.isdigit() else None, "shown": panel.places},
        do=do,
        back=panel_url(study),
    )
    return act_page(request, study, act, tab=TAB)
