"""A researcher's own tokens for the API: listed, made and shown once, revoked."""

from dataclasses import dataclass
from datetime import datetime

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST

from evaluation.models import ApiToken
from evaluation.refusals import Refused
from evaluation.services.tokens import DEFAULT_DAYS, make_token, revoke_token

DAYS = [(7, _("7 days")), (30, _("30 days")), (DEFAULT_DAYS, _("90 days")), (365, _("a year"))]


class TokenForm(forms.Form):
    name = forms.CharField(max_length=80, error_messages={"required": _("Say what it is for.")})
    days = forms.TypedChoiceField(choices=DAYS, coerce=int)


@dataclass(frozen=True)
class TokenRow:
    """A token as its owner sees it again: by its first characters."""

    key: str
    name: str
    created: datetime
    expiry: datetime | None


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def account_tokens(request: HttpRequest) -> HttpResponse:
    """The list. A new token is in the answer to the form and nowhere else, so that no session keeps it."""
    form = TokenForm(request.POST if request.method == "POST" else None, initial={"days": DEFAULT_DAYS})
    new = ""
    if form.is_bound and form.is_valid():
        try:
            _token, new = make_token(
                request.user, name=form.cleaned_data["name"], days=form.cleaned_data["days"]
            )
            form = TokenForm(initial={"days": DEFAULT_DAYS})
        except Refused as refused:
            form.add_error(None, str(refused))
    now = timezone.now()
    tokens = ApiToken.objects.filter(user=request.user.pk).exclude(expiry__lte=now)
    rows = [TokenRow(token.token_key, token.name, token.created, token.expiry) for token in tokens]
    context = {"form": form, "new": new, "tokens": rows, "error": _first_error(form)}
    response = render(request, "evaluation/account_tokens.html", context)
    add_never_cache_headers(response)
    return response


@login_required
@require_POST
def account_token_revoke(request: HttpRequest, key: str) -> HttpResponse:
    if not revoke_token(request.user, key=key):
        raise Http404
    return redirect("evaluation:account-tokens")


def _first_error(form: TokenForm) -> str:
    return next((str(message) for messages in form.errors.values() for message in messages), "")
