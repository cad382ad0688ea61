"""A study's members. Owners manage them; people are named exactly, so that nobody can list all users."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from evaluation.admin.pages import page
from evaluation.admin.rights import FORM, has_right, study_page
from evaluation.models import Study, StudyMember
from evaluation.services.history import log_action

ROLE_TEXTS = {
    "owner": "owner: everything, including members",
    "editor": "editor: everything except members",
    "viewer": "viewer: view and export only",
}


class NewMemberForm(forms.Form):
    """One person by their exact name."""

    who = forms.CharField(
        label="User name or e-mail address",
        max_length=254,
        help_text="Exactly as they sign in. They need an account here.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    role = forms.ChoiceField(choices=list(ROLE_TEXTS.items()), initial="editor")

    def clean_who(self) -> Any:
        who = self.cleaned_data["who"].strip()
        found = list(
            get_user_model()
            ._default_manager.filter(is_active=True)
            .filter(Q(username=who) | Q(email__iexact=who))[:2]
        )
        if len(found) != 1:
            raise forms.ValidationError(
                "There is no such user."
                if not found
                else "Several users have this address; enter the user name."
            )
        return found[0]


@study_page(methods=FORM)
def members(request: HttpRequest, study: Study) -> HttpResponse:
    """List the members; for owners also a form to add one, and actions for each."""
    own = has_right(request, "own", study.pk)
    form = NewMemberForm()
    if request.method == "POST":
        if not own:
            return HttpResponse("Only owners manage members.", status=403)
        form = NewMemberForm(request.POST if "who" in request.POST else None)
        said = _change(study, request.POST) if not form.is_bound else _add(study, form)
        if said:
            log_action(study=study, by=request.user, message=said)
            messages.success(request, said)
            return HttpResponseRedirect(reverse("admin:evaluation_study_members", args=[study.pk]))
        if not form.is_bound:
            messages.error(request, "A study needs at least one owner.")
    context = {
        "title": "Members",
        "members": study.members.select_related("user").order_by("role", "user__username"),
        "roles": StudyMember.Role.choices,
        "form": form if own else None,
    }
    status = 422 if request.method == "POST" else 200
    return page(
        request, "admin/evaluation/study/members.html", context, study=study, tab="members", status=status
    )


def _add(study: Study, form: NewMemberForm) -> str:
    """Apply the form and return a sentence about it, empty if the form has errors."""
    if not form.is_valid():
        return ""
    user, role = form.cleaned_data["who"], form.cleaned_data["role"]
    _, created = StudyMember.objects.get_or_create(study=study, user=user, defaults={"role": role})
    if not created:
        form.add_error("who", f"{user} is already a member.")
        return ""
    return f"Added {user} as {role}."


def _change(study: Study, data: Any) -> str:
    """Change or remove a member; empty if it would leave no owner or names nobody."""
    role, pk = data.get("role", ""), data.get("member", "")
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        members = {str(each.pk): each for each in study.members.select_related("user")}
        member = members.get(pk)
        if member is None or role not in (*StudyMember.Role.values, "remove"):
            return ""
        owners = [each for each in members.values() if each.role == StudyMember.Role.OWNER]
        if owners == [member] and role != StudyMember.Role.OWNER:
            return ""
        if role == "remove":
            member.delete()
            return f"Removed {member.user}."
        member.role = role
        member.save(update_fields=["role"])
    return f"{member.user} is {role} now."
