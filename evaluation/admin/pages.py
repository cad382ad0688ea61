"""The admin's own pages: the bar of a study's tabs, and pages on which an action is confirmed with a reason."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from evaluation.admin.rights import View, has_right
from evaluation.models import Status, Study
from evaluation.refusals import Refused
from evaluation.services.history import log_action

# The places of a study, as they stand in its bar.
PLACES = ("Overview", "Design", "People and judges", "Judgments", "Results")


@dataclass(frozen=True)
class Tab:
    """A page or a list of one study, in one of its places, which leads to the first of them by number; `launched` is
    the number and the place that it has from the launch on, where these are others."""

    label: str
    url_name: str
    number: int
    place: str
    # The page of the documentation about it, with the anchor.
    docs: str
    launched: tuple[int, str] | None = None

    def position(self, study: Study) -> tuple[int, str]:
        """Its number, and its place."""
        return self.launched if self.launched and study.is_frozen else (self.number, self.place)

    def url(self, study: Study) -> str:
        return reverse(self.url_name, args=[study.slug])


@dataclass(frozen=True)
class EmptyNote:
    """In place of an empty list: a sentence on what comes first and, if there is one, the way there."""

    text: str
    label: str = ""
    url: str = ""


# By key; the apps put in their own.
tabs: dict[str, Tab] = {}
# Pages about one study that the other apps serve: (route, name, view), the route behind /studies/<slug>/, the name
# behind evaluation_study_. Asked for when Django makes the addresses.
study_pages: dict[str, Callable[[], Iterable[tuple[str, str, View]]]] = {}


def study_context(request: HttpRequest, study: Study | None, tab: str = "") -> dict[str, Any]:
    """The context from which the admin's templates draw the study's bar around a page."""
    if study is None:
        return {}
    return {
        "study": study,
        **study_tabs(study, tab),
        "may_write": has_right(request, "write", study.pk),
        "may_own": has_right(request, "own", study.pk),
    }


def study_tabs(study: Study, here: str = "") -> dict[str, Any]:
    """The variables of a study's bar: (label, address, current) of its places and of the pages beside this one."""
    current = tabs[here] if here else None
    positions = {each: each.position(study) for each in tabs.values()}
    in_order = sorted(positions, key=lambda each: positions[each])
    place = positions[current][1] if current else ""
    firsts = {positions[each][1]: each for each in reversed(in_order)}
    return {
        "study_places": [(name, firsts[name].url(study), name == place) for name in PLACES],
        "study_docs": docs_url(current.docs) if current else "",
        "study_pages": [
            (each.label, each.url(study), each is current) for each in in_order if positions[each][1] == place
        ],
    }


def docs_url(page: str) -> str:
    """The address of a page of the documentation: `judges#trust-a-judge`."""
    name, mark, anchor = page.partition("#")
    return reverse("evaluation:docs-page", args=[name]) + mark + anchor


def until_judged(study: Study, what: str) -> EmptyNote:
    """The note where everything comes of judging, and nobody has judged yet."""
    if study.status == Status.DRAFT:
        launch = reverse("admin:evaluation_study_launch", args=[study.slug])
        return EmptyNote(
            f"No {what} yet: people judge once the study is launched.", "Check and launch", launch
        )
    return EmptyNote(
        f"No {what} yet: send people the link for participants on the overview, or have a judge run.",
        "Judges",
        tabs["judges"].url(study),
    )


def page(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    *,
    study: Study | None = None,
    tab: str = "",
    status: int = 200,
) -> HttpResponse:
    around = {**admin.site.each_context(request), **study_context(request, study, tab)}
    return render(request, template, {**around, **context}, status=status)


def overview_url(study: Study) -> str:
    return reverse("admin:evaluation_study_overview", args=[study.slug])


def list_url(rows: str, study: Study) -> str:
    """The address of a study's list of such rows, by app and model: evaluation_item."""
    return reverse(f"admin:{rows}_list", args=[study.slug])


def way_back(request: HttpRequest, usual: str) -> str:
    """The page that an act was begun on, as its address says (`next`); the usual one where that is none of ours."""
    asked = request.GET.get("next", "")
    return asked if url_has_allowed_host_and_scheme(asked, allowed_hosts=None) else usual


def walk_through_url(study: Study) -> str:
    return reverse("annotator:walk-through", args=[study.slug])


class ReasonForm(forms.Form):
    """The reason, recorded in the study's history."""

    reason = forms.CharField(
        max_length=300,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Recorded in the study's history with your name.",
    )


class OptionalReasonForm(ReasonForm):
    reason = forms.CharField(
        required=False,
        max_length=300,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Recorded in the study's history with your name. Optional.",
    )


@dataclass(frozen=True, kw_only=True)
class ConfirmedAction:
    """An action to confirm on a page of its own. `do` gets the cleaned form and returns a sentence about it."""

    title: str
    text: str
    button: str
    do: Callable[[dict[str, Any]], str]
    back: str
    form: type[forms.Form] = ReasonForm
    initial: dict[str, Any] | None = None
    danger: bool = False
    # What it is done to, in words.
    objects: Iterable[str] = ()
    # Where to go afterwards, asked for when it is done; by default back.
    then: Callable[[], str] | None = None
    # The page that asks, where more than the form is to be read on it, and what that needs.
    template: str = "admin/confirmation.html"
    context: dict[str, Any] | None = None
    # The service writes the history's line.
    logs_itself: bool = False


def confirmation_page(
    request: HttpRequest, study: Study, act: ConfirmedAction, *, tab: str = ""
) -> HttpResponse:
    """Ask for confirmation, do the action and log it; a refusal is shown above the form."""
    form = act.form(request.POST if request.method == "POST" else None, initial=act.initial)
    if request.method == "POST" and form.is_valid():
        try:
            done = act.do(form.cleaned_data)
        except Refused as refused:
            for problem in refused.problems:
                form.add_error(None, problem)
        else:
            if not act.logs_itself:
                reason = form.cleaned_data.get("reason", "")
                log_action(study=study, by=request.user, message=done, reason=reason)
            messages.success(request, done)
            return HttpResponseRedirect(act.then() if act.then else act.back)
    context = {"title": act.title, "act": act, "form": form, "objects": list(act.objects)}
    context |= act.context or {}
    status = 422 if form.is_bound else 200
    return page(request, act.template, context, study=study, tab=tab, status=status)
