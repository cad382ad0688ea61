"""Personal links for colleagues: those that there are, more of them, and revoking and restoring one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse

from annotator.models import Participant, PersonalLink
from annotator.panels.services.personal_links import link_address, make_links, restore_link, revoke_link
from evaluation.admin.pages import ConfirmedAction, confirmation_page, page
from evaluation.admin.rights import FORM, study_page
from evaluation.counting import counted
from evaluation.models import Study
from evaluation.refusals import Refused


class LinksForm(forms.Form):
    """Names, one per line."""

    names = forms.CharField(
        label="Names, one per line",
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false"}),
        help_text="Each person gets a personal link and is one participant, in whatever browser they "
        "open it. The name is the participant's id: you see it in the list of participants, but "
        "it is in no export.",
    )
    group = forms.ChoiceField(
        label="Group of people",
        required=False,
        help_text="Everybody who enters by one of these links belongs to it. The study's settings name its groups.",
    )

    def __init__(self, *args: Any, groups: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        group = self.fields["group"]
        assert isinstance(group, forms.ChoiceField)
        group.choices = [("", "none"), *((each, each) for each in groups)]
        if not groups:
            del self.fields["group"]


@dataclass(frozen=True)
class LinkRow:
    """A link as the list shows it: where its person is, and the address of the page that revokes or restores it."""

    link: PersonalLink
    address: str
    state: str
    act: str


@study_page("write", methods=FORM)
def links(request: HttpRequest, study: Study) -> HttpResponse:
    """The personal links that there are, and a form for more."""
    form = LinksForm(request.POST if request.method == "POST" else None, groups=study.groups)
    if request.method == "POST" and form.is_valid():
        names = [name for name in form.cleaned_data["names"].splitlines() if name.strip()]
        try:
            made = make_links(study, names, group=form.cleaned_data.get("group", ""), by=request.user)
        except Refused as wrong:
            form.add_error("names", str(wrong))
        else:
            messages.success(request, f"Created {counted(len(made), 'personal link')}.")
            return HttpResponseRedirect(_links_url(study))
    context = {"title": "Personal links", "links": _rows(study), "form": form}
    status = 422 if form.is_bound else 200
    return page(
        request,
        "admin/annotator/personal_links.html",
        context,
        study=study,
        tab="participants",
        status=status,
    )


def _rows(study: Study) -> list[LinkRow]:
    come = {
        each.external_id: each.get_outcome_display() or f"at {each.get_step_display()}"
        for each in Participant.objects.filter(study=study, platform="personal")
    }
    return [
        LinkRow(
            link,
            link_address(link),
            come.get(link.label, "not opened yet"),
            reverse(
                f"admin:evaluation_study_{'restore' if link.revoked_at else 'revoke'}_link",
                args=[study.slug, link.pk],
            ),
        )
        for link in PersonalLink.objects.filter(study=study).select_related("study")
    ]


def _links_url(study: Study) -> str:
    return reverse("admin:evaluation_study_links", args=[study.slug])


@study_page("write", methods=FORM)
def revoke(request: HttpRequest, study: Study, link: int) -> HttpResponse:
    personal = get_object_or_404(PersonalLink, study=study, pk=link)

    def do(data: dict[str, Any]) -> str:
        revoke_link(personal, data["reason"], by=request.user)
        return f"Revoked the personal link for {personal.label}."

    act = ConfirmedAction(
        title=f"Revoke the link for {personal.label}",
        text="Anyone who opens it is told that it no longer works. What they submitted stays and "
        "counts; an item in progress goes to others. You can restore the link later.",
        button="Revoke it",
        danger=True,
        do=do,
        back=_links_url(study),
        logs_itself=True,
    )
    return confirmation_page(request, study, act, tab="participants")


@study_page("write", methods=FORM)
def restore(request: HttpRequest, study: Study, link: int) -> HttpResponse:
    personal = get_object_or_404(PersonalLink, study=study, pk=link)

    def do(data: dict[str, Any]) -> str:
        restore_link(personal, data["reason"], by=request.user)
        return f"Restored the personal link for {personal.label}."

    act = ConfirmedAction(
        title=f"Restore the link for {personal.label}",
        text="The same link works again. Somebody who was working when it was revoked continues "
        "where they stopped.",
        button="Restore it",
        do=do,
        back=_links_url(study),
        logs_itself=True,
    )
    return confirmation_page(request, study, act, tab="participants")
