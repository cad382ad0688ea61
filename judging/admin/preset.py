"""The judges of a paper, made by one choice of models."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.html import format_html

from evaluation.admin.pages import page, tabs
from evaluation.admin.rights import FORM, study_page
from evaluation.models import Study
from evaluation.refusals import Refused
from judging.models import Endpoint
from judging.services.endpoints.access import offered_endpoints
from judging.services.presets import PRESETS, ModelChoice, make_judges

ROWS = 6


class JudgePresetForm(forms.Form):
    """A preset, and the models that judge: rows of an endpoint and a model's name there."""

    def __init__(self, study: Study, user: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        presets = [
            (each.key, format_html("<strong>{}</strong> {}", each.label, each.about))
            for each in PRESETS.values()
        ]
        self.fields["preset"] = forms.ChoiceField(
            choices=presets, widget=forms.RadioSelect, label="Judges of"
        )
        self.fields["jury"] = forms.SlugField(
            required=False, max_length=60, help_text="The models are members of a jury of this name, which counts as "
            "one rater. Leave empty for judges by themselves.",
        )  # fmt: skip
        offered = Endpoint.objects.filter(pk__in=[each.pk for each in offered_endpoints(study, user)])
        for number in range(1, ROWS + 1):
            self.fields[f"endpoint_{number}"] = forms.ModelChoiceField(
                offered, required=False, label=f"Endpoint {number}"
            )
            self.fields[f"model_{number}"] = forms.CharField(
                required=False, max_length=200, label=f"Model {number}"
            )

    def rows(self) -> list[tuple[Any, Any]]:
        return [(self[f"endpoint_{number}"], self[f"model_{number}"]) for number in range(1, ROWS + 1)]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        for number in range(1, ROWS + 1):
            endpoint, model = data.get(f"endpoint_{number}"), (data.get(f"model_{number}") or "").strip()
            if bool(endpoint) != bool(model):
                missing = f"model_{number}" if endpoint else f"endpoint_{number}"
                self.add_error(missing, "Enter both an endpoint and the name of a model there, or neither.")
        return data

    def models(self) -> list[ModelChoice]:
        given = (
            (self.cleaned_data[f"endpoint_{number}"], self.cleaned_data[f"model_{number}"].strip())
            for number in range(1, ROWS + 1)
        )
        return [ModelChoice(endpoint, model) for endpoint, model in given if endpoint]


@study_page("write", methods=FORM)
def judges_of_preset(request: HttpRequest, study: Study) -> HttpResponse:
    form = JudgePresetForm(study, request.user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        preset = PRESETS[form.cleaned_data["preset"]]
        try:
            jury = form.cleaned_data["jury"]
            made = make_judges(study, preset, form.models(), jury=jury, user=request.user)
        except Refused as refused:
            for sentence in refused.problems:
                form.add_error(None, sentence)
        else:
            said = f"Created the judges of {preset.label}: {', '.join(map(str, made))}."
            messages.success(request, f"{said} Each can be edited until it has run.")
            return HttpResponseRedirect(tabs["judges"].url(study))
    context = {"title": "Judges of a paper", "form": form, "cancel": tabs["judges"].url(study)}
    status = 422 if form.is_bound else 200
    return page(request, "admin/judging/preset.html", context, study=study, tab="judges", status=status)
