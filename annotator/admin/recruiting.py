"""The study at the panel: whom to take, drafting it there, publishing, pausing, adding places, reading back.

These are single calls with a time limit, made while the page waits; only a long list is read by a worker. What costs
per submission is in `deciding`.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, cast

from django import forms
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse

from annotator.admin.deciding import TAB, panel_for, panel_url
from annotator.models import Panel
from annotator.platforms import get_platform
from annotator.platforms.prolific.errors import PanelError
from annotator.platforms.prolific.presets import PRESETS
from annotator.platforms.prolific.whom import (
    DEVICES,
    EDUCATION,
    KEPT_OUT_BY,
    LABELS,
    MOST_SUBMISSIONS,
    Whom,
    WhomWrong,
)
from annotator.services import recruiting
from annotator.services.draft_checks import PLATFORM, NotReady, draft_problems, draft_warnings
from annotator.services.panel_client import NotSetUp
from annotator.services.panels import PanelFixed, panel_of
from annotator.services.reading_back import begin_reading, is_short, sync
from annotator.services.whom import set_whom, use_preset, whom_of
from annotator.tasks import read_panel
from evaluation.admin.pages import Act, ActRefused, OptionalReasonForm, act_page
from evaluation.admin.rights import FORM, my_studies, study_page
from evaluation.models import Study

PRESET_CHOICES = [(each.key, f"{each.label}: {each.about}") for each in PRESETS.values()]


def call(ask: Callable[[], Any]) -> Any:
    """What the panel or its rules refuse stands above the form."""
    try:
        return ask()
    except NotReady as not_ready:
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
        left = call(lambda: use_preset(study, data["preset"]))
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


# --- whom to take -----------------------------------------------------------------------------------------------------


class WhomForm(OptionalReasonForm):
    """A field for each condition; what is left empty asks for nothing."""

    approval_rate = forms.IntegerField(
        label=LABELS["approval_rate"],
        required=False,
        min_value=0,
        max_value=100,
        help_text="A whole number. 100 is what is above 99.",
    )
    least = forms.IntegerField(label=LABELS["least"], required=False, min_value=0, max_value=MOST_SUBMISSIONS)
    most = forms.IntegerField(
        label=LABELS["most"],
        required=False,
        min_value=0,
        max_value=MOST_SUBMISSIONS,
        help_text="For people who are new to studies; usually empty.",
    )
    fluent = forms.CharField(
        label=LABELS["fluent"],
        required=False,
        max_length=1_000,
        help_text="Languages by Prolific's own names, with commas between: English, French.",
    )
    first = forms.CharField(label=LABELS["first"], required=False, max_length=1_000)
    countries = forms.CharField(
        label=LABELS["countries"],
        required=False,
        max_length=4_000,
        help_text="Countries by Prolific's own names: United Kingdom, United States.",
    )
    education = forms.ChoiceField(
        label=LABELS["education"],
        required=False,
        choices=[("", "Any"), *((each, each) for each in EDUCATION)],
    )
    not_from = forms.MultipleChoiceField(
        label=LABELS["not_from"],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Studies here whose people come from Prolific.",
    )
    by = forms.ChoiceField(label=LABELS["by"], choices=list(KEPT_OUT_BY.items()), widget=forms.RadioSelect)
    devices = forms.MultipleChoiceField(
        label=LABELS["devices"],
        choices=[(each, each) for each in DEVICES],
        widget=forms.CheckboxSelectMultiple,
    )
    field_order = (*LABELS, "reason")


def _whom_form(others: list[tuple[str, str]]) -> type[WhomForm]:
    """With the studies that the user may name; without any, nobody can be kept out."""

    class Form(WhomForm):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            if others:
                cast(forms.MultipleChoiceField, self.fields["not_from"]).choices = others
            else:
                del self.fields["not_from"], self.fields["by"]

    return Form


@study_page("write", methods=FORM)
def whom(request: HttpRequest, study: Study) -> HttpResponse:
    """Who is let in, by field; a draft that nobody sees yet is changed there as well."""
    panel = panel_for(study)
    now = whom_of(panel)
    others = _others(request, study, now)

    def do(data: dict[str, Any]) -> str:
        given = {name: data[name] for name in LABELS if name in data}
        try:
            notes = call(lambda: set_whom(study, given))
        except WhomWrong as wrong:
            raise ActRefused(*(f"{LABELS[name]}: {said}" for name, said in wrong.problems)) from None
        said = whom_of(panel_of(study)).sentences()
        return " ".join([f"Takes: {'; '.join(said)}." if said else "Takes everybody.", *notes])

    initial = {
        name: ", ".join(value) if name in ("fluent", "first", "countries") else value
        for name, value in asdict(now).items()
    }
    act = Act(
        title="Whom to take",
        text="Prolific shows the study to nobody else. Names are looked up in its list when this is saved, and again "
        "when the study is drafted; what it does not know stops that, and never takes other people instead."
        + (" The draft there is changed with it." if panel.drafted_at is not None else ""),
        button="Save",
        form=_whom_form(others),
        initial=initial,
        do=do,
        back=panel_url(study),
    )
    return act_page(request, study, act, tab=TAB)


def _others(request: HttpRequest, study: Study, now: Whom) -> list[tuple[str, str]]:
    """The user's studies with people from Prolific, and those that are kept out already."""
    from_there = Q(panel__platform=PLATFORM) | Q(participants__platform=PLATFORM)
    mine = my_studies(request).filter(from_there).exclude(pk=study.pk).distinct().order_by("-created_at")
    found = dict(mine.values_list("slug", "title"))
    return [*found.items(), *((slug, slug) for slug in now.not_from if slug not in found)]


# --- at the panel -----------------------------------------------------------------------------------------------------


@study_page("write", methods=FORM)
def draft(request: HttpRequest, study: Study) -> HttpResponse:
    problems = draft_problems(study)
    takes = whom_of(panel_of(study)).sentences() or ["everybody"]

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
        + [f"To think about: {each}" for each in draft_warnings(study)]
        + [f"Whom it takes: {each}" for each in takes],
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
}  # fmt: skip


def move(name: str) -> Callable[..., HttpResponse]:
    """The page of one of the moves."""
    what = MOVES[name]

    @study_page("write", methods=FORM)
    def moved(request: HttpRequest, study: Study) -> HttpResponse:
        panel = panel_for(study)

        def do(data: dict[str, Any]) -> str:
            call(lambda: what.ask(panel))
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


@study_page("write", methods=FORM)
def ask_again(request: HttpRequest, study: Study) -> HttpResponse:
    """Of a short study while the page waits; a long one is read by a worker, and the page shows how far that is."""
    panel = panel_for(study)
    short = is_short(panel)

    def do(data: dict[str, Any]) -> str:
        if short:
            return f"Read back: {call(lambda: sync(panel, everyone=True))}"
        begun = call(lambda: begin_reading(panel, request.user))
        transaction.on_commit(lambda: read_panel.delay(begun.pk), robust=True)
        return f"{get_platform(panel.platform).label} is being asked; this page shows how far that is."

    act = Act(
        title="Ask the panel again",
        text=f"{get_platform(panel.platform).label}: Reads the study's state, all submissions and their bonuses back, "
        "and does here what they call for: who returned or timed out frees their places. Nothing is changed there."
        f"{'' if short else ' It takes a while; a worker does it, and you can go on meanwhile.'}",
        button="Ask",
        form=OptionalReasonForm,
        do=do,
        back=panel_url(study),
    )
    return act_page(request, study, act, tab=TAB)


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
