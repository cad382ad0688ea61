"""An invitation's page: whoever holds its link joins the study, with their account or with one that they make."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.forms import UserCreationForm
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from evaluation.models import Study, StudyMember
from evaluation.refusals import Refused
from evaluation.services.invitations import accept_invitation, accept_with_new_account, find_invitation


class AccountForm(UserCreationForm):
    """A name and a password; the service makes the account. The page is read before it is filled in."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].widget.attrs.pop("autofocus", None)
        self.fields["username"].help_text = _("Letters, digits and @ . + - _")


@never_cache
@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, invitation: str) -> HttpResponse:
    """A link that is used up says so, and nothing of the study but its title."""
    found = find_invitation(invitation)
    if found is None:
        raise Http404
    user: Any = request.user
    if user.is_authenticated and StudyMember.objects.filter(study=found.study, user=user.pk).exists():
        messages.info(request, _("You are already a member of this study."))
        return redirect("admin:evaluation_study_overview", found.study.slug)
    context: dict[str, Any] = {"study_title": found.study.title, "problem": found.problem(timezone.now())}
    if context["problem"]:
        return render(request, "evaluation/invitation.html", context, status=410)
    form = None if user.is_authenticated else AccountForm(request.POST or None)
    if request.method == "POST" and (form is None or form.is_valid()):
        try:
            joined = _join(request, invitation, form)
        except Refused as refused:
            context["refused"] = refused.problems
        else:
            messages.success(request, _("You are a member of this study now."))
            return joined
    status = 422 if request.method == "POST" else 200
    context |= {"invitation": found, "form": form}
    return render(request, "evaluation/invitation.html", context, status=status)


def _join(request: HttpRequest, token: str, form: AccountForm | None) -> HttpResponse:
    if form is None:
        return redirect("admin:evaluation_study_overview", accept_invitation(token, user=request.user).slug)
    given = form.cleaned_data
    user = accept_with_new_account(token, username=given["username"], password=given["password1"])
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect("admin:evaluation_study_overview", Study.objects.get(members__user=user).slug)
