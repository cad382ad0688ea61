"""Juries: made from a judge's settings, with a persona for each member."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from evaluation.admin.pages import page, tabs
from evaluation.admin.rights import FORM, study_page
from evaluation.counting import counted
from evaluation.models import Study
from evaluation.refusals import FieldsRefused
from judging.admin.run_groups import together_url
from judging.backends import CHAT
from judging.models import Combination, Judge
from judging.services.juries import PERSONAS, Persona, jury_like, read_persona


class JuryForm(forms.Form):
    """A jury's name, whose settings its members have, and how they differ."""

    name = forms.SlugField(max_length=60, help_text="Letters, digits and hyphens.")
    like = forms.ModelChoiceField(
        queryset=Judge.objects.none(),
        label="Settings of",
        help_text="Members have this judge's settings, apart from temperature, persona and, where they say so, model.",
    )
    personas = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 9}),
        help_text="A member per line: NAME=TEMPERATURE:TEXT. Its prompt begins with the text. For a model of its own: "
        "NAME=TEMPERATURE by MODEL @ ENDPOINT, where the endpoint may be left out, and a text follows as before.",
    )
    combination = forms.ChoiceField(
        choices=Combination.choices,
        help_text="How the members' preferences become one where the jury stands beside people. "
        "Numbers and ranks go by their mean, other labels by majority.",
    )

    def __init__(self, study: Study, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        judges = Judge.objects.filter(study=study, backend=CHAT.key, jury=None)
        self.fields["like"].queryset = judges  # type: ignore[attr-defined]
        self.fields["personas"].initial = "\n".join(
            f"{each.name}={each.temperature}: {each.text}" for each in PERSONAS
        )

    def clean_personas(self) -> list[Persona]:
        lines = [line.strip() for line in self.cleaned_data["personas"].splitlines() if line.strip()]
        try:
            return [read_persona(line) for line in lines]
        except ValueError as problem:
            raise forms.ValidationError(str(problem)) from None


@study_page("write", methods=FORM)
def new_jury(request: HttpRequest, study: Study) -> HttpResponse:
    form = JuryForm(study, request.POST or None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            jury = jury_like(
                given["like"], name=given["name"], user=request.user, combination=given["combination"],
                personas=given["personas"],
            )  # fmt: skip
        except FieldsRefused as refused:
            for field, sentences in refused.by_field.items():
                for sentence in sentences:
                    form.add_error(field if field in form.fields else None, sentence)
        else:
            messages.success(request, f"Created {jury} of {counted(jury.judges.count(), 'judge')}.")
            return HttpResponseRedirect(together_url(list(jury.judges.order_by("pk"))))
    context = {"title": "New jury", "form": form, "cancel": tabs["judges"].url(study)}
    status = 422 if form.is_bound else 200
    return page(request, "admin/judging/form_page.html", context, study=study, tab="judges", status=status)
