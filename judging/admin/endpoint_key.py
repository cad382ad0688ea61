"""The page on which an endpoint's key is entered, replaced or removed."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from evaluation.admin.pages import page
from evaluation.admin.rights import FORM
from evaluation.refusals import FieldsRefused, Refused
from judging.models import Endpoint
from judging.services.endpoints.access import endpoints_for, may_change
from judging.services.endpoints.stored_keys import enter_key, key_refusals, may_enter_keys, remove_key


class KeyField(forms.CharField):
    """A key: typed or pasted, never shown again, and suggested by no browser."""

    widget = forms.PasswordInput(
        render_value=False, attrs={"autocomplete": "new-password", "spellcheck": "false"}
    )


class EndpointKeyForm(forms.Form):
    key = KeyField(
        max_length=600, help_text="As the provider issued it. It is stored encrypted and never shown again."
    )


@sensitive_post_parameters("key")
@sensitive_variables("form")
def enter_key_page(request: HttpRequest, pk: int) -> HttpResponse:
    """For whoever has the permission and may know of the endpoint."""
    if request.method not in FORM:
        return HttpResponseNotAllowed(FORM)
    endpoint = endpoints_for(request.user).select_related("trusted_by").filter(pk=pk).first()
    if endpoint is None:
        raise Http404
    if not may_enter_keys(request.user):
        raise PermissionDenied
    if request.method == "POST" and "remove" in request.POST:
        remove_key(endpoint, request.user)
        messages.success(request, f"The stored key of {endpoint} was removed.")
        return HttpResponseRedirect(request.path)
    form = EndpointKeyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            enter_key(endpoint, form.cleaned_data["key"], request.user)
        except Refused as refused:
            add_refusals(form, refused)
        else:
            messages.success(request, f"The key of {endpoint} is stored. Test the connection with it.")
            return HttpResponseRedirect(_next(endpoint, request.user, request.path))
    context = {
        "title": f"Key of {endpoint}",
        "form": form,
        "endpoint": endpoint,
        "refused": key_refusals(endpoint, request.user),
        "back": _next(endpoint, request.user, reverse("admin:index")),
    }
    status = 422 if form.is_bound else 200
    response = page(request, "admin/judging/key.html", context, status=status)
    add_never_cache_headers(response)
    return response


def add_refusals(form: forms.Form, refused: Refused) -> None:
    """Each sentence at its field, or above the form."""
    by_field = refused.by_field if isinstance(refused, FieldsRefused) else {"": refused.problems}
    for field, sentences in by_field.items():
        for sentence in sentences:
            form.add_error(field if field in form.fields else None, sentence)


def _next(endpoint: Endpoint, user: Any, otherwise: str) -> str:
    """The page of the endpoint's test, for those who may open it."""
    return (
        reverse("admin:judging_endpoint_test", args=[endpoint.pk])
        if may_change(endpoint, user)
        else otherwise
    )
