"""A judge from a provider's name, a key and a model, by one form; its endpoint is tested at once."""

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from evaluation.admin.pages import page, tabs
from evaluation.admin.rights import FORM, study_page
from evaluation.models import Study
from evaluation.refusals import Refused
from evaluation.tasks import enqueue_job
from judging.admin.endpoint_key import KeyField, add_refusals
from judging.services.endpoints.connection_test import begin_test
from judging.services.endpoints.stored_keys import may_enter_keys
from judging.services.presets import PRESETS
from judging.services.providers import PROVIDERS, ProviderChoice, judges_at_provider

OTHER = "other"


class ProviderForm(forms.Form):
    """A provider or an address, the key, the model, and the judges to make of it."""

    provider = forms.ChoiceField(
        choices=[
            ("", "Choose one"),
            *((key, f"{label}: {url}") for key, (label, url) in PROVIDERS.items()),
            (OTHER, "Another address"),
        ]
    )
    base_url = forms.CharField(
        label="Address",
        required=False,
        max_length=300,
        help_text="For another address only: up to and with the version, such as https://host.example/v1.",
    )
    key = KeyField(
        required=False,
        max_length=600,
        help_text="As the provider issued it. It is stored encrypted, sent to this address alone and never shown "
        "again. Leave empty for a server without keys, or to go on with the one that is stored.",
    )
    model = forms.CharField(max_length=200, help_text="Its name at the provider.")
    preset = forms.ChoiceField(required=False, widget=forms.RadioSelect, label="Judges")

    def __init__(self, user: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["preset"].choices = [  # type: ignore[attr-defined]
            ("", format_html("<strong>{}</strong> {}", "One judge", "Asked as people are, with a reason.")),
            *(
                (each.key, format_html("<strong>{}</strong> {}", each.label, each.about))
                for each in PRESETS.values()
            ),
        ]
        if not may_enter_keys(user):
            del self.fields["key"]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if data.get("provider") == OTHER and not data.get("base_url"):
            self.add_error("base_url", "Enter the address.")
        return data

    def choice(self) -> ProviderChoice:
        data = self.cleaned_data
        name, base_url = data["provider"], data["base_url"].strip()
        if name != OTHER:
            base_url = PROVIDERS[name][1]
        else:
            name = urlsplit(base_url).hostname or name
        key = data.get("key", "").strip()
        return ProviderChoice(name=name, base_url=base_url, key=key, model=data["model"].strip())


@sensitive_post_parameters("key")
@sensitive_variables("form")
@study_page("write", methods=FORM)
def judges_of_provider(request: HttpRequest, study: Study) -> HttpResponse:
    form = ProviderForm(request.user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        choice, preset = form.choice(), form.cleaned_data["preset"]
        try:
            endpoint, made = judges_at_provider(study, choice, preset=preset, user=request.user)
        except Refused as refused:
            add_refusals(form, refused)
        else:
            said = format_html(
                'Created {}, and the endpoint is being tested. <a href="{}">Judges of the study</a>',
                ", ".join(map(str, made)),
                tabs["judges"].url(study),
            )
            messages.success(request, said)
            try:
                enqueue_job(begin_test(endpoint, choice.model, by=request.user))
            except Refused as refused:
                messages.error(request, str(refused))
            return HttpResponseRedirect(reverse("admin:judging_endpoint_test", args=[endpoint.pk]))
    context = {
        "title": "Judge from a provider",
        "form": form,
        "has_key": "key" in form.fields,
        "cancel": tabs["judges"].url(study),
    }
    status = 422 if form.is_bound else 200
    return page(request, "admin/judging/provider.html", context, study=study, tab="judges", status=status)
