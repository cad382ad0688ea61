"""The admin's own pages: the bar of a study's tabs, and pages on which an action is confirmed with a reason."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse

from evaluation.admin.rights import View, has_right
from evaluation.models import Status, Study
from evaluation.refusals import Refused
from evaluation.services.history import log_action

# The groups of a study's pages, as they stand in its bar; pages of no group have a place of their own there.
GROUPS = ("Design", "People", "Judges", "Judgments", "Results")


@dataclass(frozen=True)
class Tab:
    """A page or a list of one study, at its place in its group, which leads to the first.

    `per_study` puts the study's id into the path, `by_slug` its slug, otherwise it stands in the filter.
    """

    label: str
    url_name: str
    place: int
    per_study: bool = False
    group: str = ""
    by_slug: bool = False

    def url(self, study: Study) -> str:
        if self.by_slug:
            return reverse(self.url_name, args=[study.slug])
        if self.per_study:
            return reverse(f"admin:{self.url_name}", args=[study.pk])
        return f"{reverse(f'admin:{self.url_name}')}?study={study.pk}"


@dataclass(frozen=True)
class EmptyNote:
    """In place of an empty list: a sentence on what comes first and, if there is one, the way there."""

    text: str
    label: str = ""
    url: str = ""


# By key; the apps put in their own.
tabs: dict[str, Tab] = {}
# Pages about one study that the other apps serve: (route, name, view), the route behind /admin/evaluation/study/<id>/,
# the name behind evaluation_study_. Asked for when Django makes the addresses.
study_pages: dict[str, Callable[[], Iterable[tuple[str, str, View]]]] = {}


def study_context(request: HttpRequest, study: Study | None, tab: str = "") -> dict[str, Any]:
    """The context from which the admin's templates draw the study's bar around a page."""
    if study is None:
        return {}
    return {
        "study": study,
        **study_tabs(request.user, study, tab),
        "may_write": has_right(request, "write", study.pk),
        "may_own": has_right(request, "own", study.pk),
    }


def study_tabs(user: Any, study: Study, here: str = "") -> dict[str, Any]:
    """The variables of a study's bar: (label, address, current) of its home, of its groups and of the pages beside
    this one. Who may not enter the admin is led to no page of it."""
    current = tabs[here] if here else None
    in_order = [
        each for each in sorted(tabs.values(), key=lambda each: each.place) if user.is_staff or each.by_slug
    ]
    group_here = current.group if current else ""
    firsts = {each.group: each for each in reversed(in_order)}
    in_group = [each for each in in_order if group_here and each.group == group_here]
    home = tabs["workbench"].url(study), here == "workbench"
    if not user.is_staff:
        home = reverse("evaluation:study-detail", args=[study.slug]), False
    return {
        "study_home": ("Workbench" if user.is_staff else "Study", *home),
        "study_tabs": [
            (group, firsts[group].url(study), group == group_here) for group in GROUPS if group in firsts
        ],
        "study_pages": [(each.label, each.url(study), each is current) for each in in_group],
    }


def until_judged(study: Study, what: str) -> EmptyNote:
    """The note where everything comes of judging, and nobody has judged yet."""
    if study.status == Status.DRAFT:
        launch = reverse("admin:evaluation_study_launch", args=[study.pk])
        return EmptyNote(
            f"No {what} yet: people judge once the study is launched.", "Check and launch", launch
        )
    return EmptyNote(
        f"No {what} yet: send people the link for participants on the workbench, or have a judge run.",
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


def workbench_url(study: Study) -> str:
    return reverse("admin:evaluation_study_workbench", args=[study.pk])


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
