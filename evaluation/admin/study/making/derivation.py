"""A study derived from what was judged in this one: chosen, counted, and made once that is confirmed."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from evaluation.admin.pages import docs_url, overview_url, page
from evaluation.admin.rights import FORM, study_page
from evaluation.dumps.derivation import DerivationOption, StudyDerivation
from evaluation.dumps.derive import DerivedPlan, derivations_of, derive_study, plan_derivation
from evaluation.models import Study
from evaluation.refusals import Refused
from evaluation.services.studies.duplication import MAX_SLUG, MAX_TITLE, free_slug


class DerivationForm(forms.Form):
    """The options of one derivation, and the names of the draft."""

    title = forms.CharField(max_length=MAX_TITLE)
    slug = forms.SlugField(max_length=MAX_SLUG, help_text="Part of the study's addresses.")

    def __init__(self, study: Study, derivation: StudyDerivation, data: Any = None) -> None:
        initial = {
            "title": f"{study.title}: {derivation.label.lower()}"[:MAX_TITLE],
            "slug": free_slug(f"{study.slug[: MAX_SLUG - 30]}-{derivation.key.replace('_', '-')}"),
        }
        super().__init__(data, initial=initial)
        self.options = derivation.options
        own = {f"option-{option.name}": _field(option) for option in derivation.options}
        self.fields = {**own, **self.fields}

    def chosen(self) -> dict[str, Any]:
        data = {option.name: self.cleaned_data[f"option-{option.name}"] for option in self.options}
        return {name: value for name, value in data.items() if value is not None}


def _field(option: DerivationOption) -> forms.Field:
    shared: dict[str, Any] = {
        "label": option.label, "help_text": option.help, "initial": option.default, "required": False,
    }  # fmt: skip
    if option.choices:
        choices = [(each, each.replace("_", " ")) for each in option.choices]
        return forms.ChoiceField(choices=choices, **{**shared, "required": True})
    if isinstance(option.default, str):
        return forms.CharField(max_length=200, **shared)
    if isinstance(option.default, int):
        return forms.IntegerField(min_value=0, **shared)
    return forms.FloatField(min_value=option.low or 0, max_value=option.high, **shared)


@study_page("write", methods=FORM)
def derive(request: HttpRequest, study: Study) -> HttpResponse:
    """Offer the derivations that the study has something for; of the one chosen its options, then its counts."""
    offered = {each.key: each for each in derivations_of(study)}
    derivation = offered.get(request.GET.get("kind", ""))
    form = plan = None
    if derivation is not None:
        form = DerivationForm(study, derivation, request.POST or None)
        if request.method == "POST" and form.is_valid():
            try:
                if "make" in request.POST:
                    return _make(request, study, derivation, form)
                plan = plan_derivation(study, derivation.key, form.chosen(), by=request.user)
            except Refused as refused:
                for problem in refused.problems[:50]:
                    form.add_error(None, problem)
    context = {
        "title": derivation.label if derivation else "Derive a study",
        "offered": list(offered.values()),
        "derivation": derivation,
        "study_docs": docs_url("admin#studies-from-studies"),
        "form": form,
        "plan": plan,
        "first": _first(plan),
        "cancel": overview_url(study),
    }
    status = 422 if form is not None and form.errors else 200
    return page(
        request, "admin/evaluation/study/derive.html", context, study=study, tab="overview", status=status
    )


def _first(plan: DerivedPlan | None) -> dict[str, Any]:
    """The first item as the page shows it."""
    if plan is None:
        return {}
    context = plan.first.get("context") or {}
    return {
        "query": plan.first["query"]["text"],
        "follow_ups": context.get("follow_ups", []),
        "responses": [
            {"system": each["system"], "text": each.get("text", ""), "entries": each.get("entries")}
            for each in plan.first["responses"]
        ],
    }


def _make(
    request: HttpRequest, study: Study, derivation: StudyDerivation, form: DerivationForm
) -> HttpResponse:
    names = {name: form.cleaned_data[name] for name in ("slug", "title")}
    derived = derive_study(study, derivation.key, form.chosen(), by=request.user, **names)
    messages.success(request, f"{derived.title} is a draft. Check it, then launch it.")
    return HttpResponseRedirect(overview_url(derived))
