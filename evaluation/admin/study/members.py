"""A study's members. Owners manage them; people are named exactly, so that nobody can list all users."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import get_user_model
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.cache import add_never_cache_headers

from evaluation.admin.base import parse_id
from evaluation.admin.pages import page
from evaluation.admin.rights import FORM, has_right, study_page
from evaluation.models import Study, StudyMember
from evaluation.refusals import Refused
from evaluation.services.invitations import can_mail, invite, withdraw_invitation
from evaluation.services.members import add_member, change_member
from evaluation.services.news import ask_for_news, current_news
from evaluation.services.webhooks import SIGNATURE, can_have_webhooks, secret_of, set_webhook, webhook_of

ROLE_TEXTS = {
    "owner": "owner: everything, including members",
    "editor": "editor: everything except members",
    "viewer": "viewer: view and export only",
}


class RoleForm(forms.Form):
    """A role to be given."""

    role = forms.ChoiceField(choices=list(ROLE_TEXTS.items()), initial="editor")


class InvitationForm(RoleForm):
    """A colleague, who may have no account yet."""

    email = forms.EmailField(
        label="E-mail address",
        required=False,
        max_length=254,
        help_text="The link is sent there. Leave it empty for a link that you pass on yourself.",
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, auto_id="invite-%s")
        if not can_mail():
            del self.fields["email"]


class WebhookForm(forms.Form):
    """Where a study's news are sent to."""

    url = forms.URLField(
        label="Address",
        required=False,
        max_length=500,
        assume_scheme="https",
        help_text="An https address that this installation allows. Leave it empty to send nothing.",
        widget=forms.URLInput(attrs={"autocomplete": "off"}),
    )


class NewMemberForm(RoleForm):
    """One person by their exact name."""

    who = forms.CharField(
        label="User name or e-mail address",
        max_length=254,
        help_text="Exactly as they sign in.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    field_order = ("who", "role")

    def clean_who(self) -> Any:
        who = self.cleaned_data["who"].strip()
        found = list(
            get_user_model()
            ._default_manager.filter(is_active=True)
            .filter(Q(username=who) | Q(email__iexact=who))[:2]
        )
        if len(found) != 1:
            raise forms.ValidationError(
                "There is no such user. Invite them instead."
                if not found
                else "Several users have this address; enter the user name."
            )
        return found[0]


@study_page(methods=FORM)
def members(request: HttpRequest, study: Study) -> HttpResponse:
    """List the members; for owners also a form to add one, and actions for each."""
    if request.method != "POST":
        return _page(request, study)
    if not has_right(request, "own", study.pk):
        return HttpResponse("Only owners manage members.", status=403)
    form = NewMemberForm(request.POST if "who" in request.POST else None)
    if form.is_bound and not form.is_valid():
        return _page(request, study, form=form, status=422)
    try:
        if form.is_bound:
            user, role = form.cleaned_data["who"], form.cleaned_data["role"]
            done = add_member(study, user=user, role=role, by=request.user)
        else:
            pk, role = parse_id(request.POST.get("member", "")) or 0, request.POST.get("role", "")
            done = change_member(study, member=pk, role=role, by=request.user)
    except Refused as refused:
        if form.is_bound:
            form.add_error("who", str(refused))
        else:
            messages.error(request, str(refused))
        return _page(request, study, form=form, status=422)
    messages.success(request, done)
    return HttpResponseRedirect(_address(study))


@study_page("own", methods=FORM)
def invite_colleague(request: HttpRequest, study: Study) -> HttpResponse:
    """Invite somebody. The link is in the answer to the form and nowhere else, so that no session keeps it."""
    if request.method != "POST":
        return HttpResponseRedirect(_address(study))
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return _page(request, study, invitation_form=form, status=422)
    try:
        made = invite(
            study,
            role=form.cleaned_data["role"],
            email=form.cleaned_data.get("email", ""),
            by=request.user,
            address=lambda token: request.build_absolute_uri(reverse("evaluation:invitation", args=[token])),
        )
    except Refused as refused:
        form.add_error(None, str(refused))
        return _page(request, study, invitation_form=form, status=422)
    response = _page(request, study, made=made)
    add_never_cache_headers(response)
    return response


@study_page("own", methods=("POST",))
def withdraw(request: HttpRequest, study: Study, invitation: int) -> HttpResponse:
    try:
        messages.success(request, withdraw_invitation(study, invitation=invitation, by=request.user))
    except Refused as refused:
        messages.error(request, str(refused))
    return HttpResponseRedirect(_address(study))


@study_page(methods=("POST",))
def news(request: HttpRequest, study: Study) -> HttpResponse:
    """Begin or end the news that whoever asks gets by e-mail."""
    try:
        wanted = request.POST.get("wanted") == "1"
        messages.success(request, ask_for_news(study, user=request.user, wanted=wanted))
    except Refused as refused:
        messages.error(request, str(refused))
    return HttpResponseRedirect(_address(study))


@study_page("own", methods=("POST",))
def webhook(request: HttpRequest, study: Study) -> HttpResponse:
    """Have the study's news sent to an address, or to none."""
    form = WebhookForm(request.POST)
    if not form.is_valid():
        return _page(request, study, webhook_form=form, status=422)
    try:
        told = current_news(study)
        messages.success(request, set_webhook(study, form.cleaned_data["url"], told=told, by=request.user))
    except Refused as refused:
        form.add_error("url", str(refused))
        return _page(request, study, webhook_form=form, status=422)
    return HttpResponseRedirect(_address(study))


def _page(
    request: HttpRequest,
    study: Study,
    *,
    form: NewMemberForm | None = None,
    invitation_form: InvitationForm | None = None,
    status: int = 200,
    **further: Any,
) -> HttpResponse:
    context: dict[str, Any] = {
        "title": "Members",
        "members": study.members.select_related("user").order_by("role", "user__username"),
        "roles": StudyMember.Role.choices,
        "can_mail": can_mail(),
        "own": study.members.filter(user=request.user.pk).first(),
    }
    if has_right(request, "own", study.pk):
        context |= {
            "form": form or NewMemberForm(),
            "invitation_form": invitation_form or InvitationForm(),
            "invitations": study.invitations.open().select_related("invited_by"),
        }
        if can_have_webhooks():
            has = webhook_of(study)
            first = {"url": has.url} if has else None
            context |= {
                "webhook": has,
                "webhook_secret": secret_of(has) if has else "",
                "webhook_form": WebhookForm(initial=first),
                "signature": SIGNATURE,
            }
    return page(
        request,
        "admin/evaluation/study/members.html",
        context | further,
        study=study,
        tab="members",
        status=status,
    )


def _address(study: Study) -> str:
    return reverse("admin:evaluation_study_members", args=[study.slug])
