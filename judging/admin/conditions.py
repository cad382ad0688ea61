"""The four prompt conditions of one judge, made in one act."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect

from evaluation.admin.pages import page, tabs
from evaluation.admin.rights import FORM, study_for
from evaluation.refusals import FieldsRefused
from judging.admin.run_groups import together_url
from judging.backends.chat_options import MOST_EXAMPLES
from judging.models import Judge
from judging.services.conditions import CONDITIONS, create_conditions, has_conditions


class ConditionsForm(forms.Form):
    """Settings that the conditions do not take from their judge."""

    demonstrations = forms.IntegerField(
        label="Worked examples",
        initial=3,
        min_value=1,
        max_value=MOST_EXAMPLES,
        help_text=f"1 to {MOST_EXAMPLES} training items with gold answers, which both conditions with examples show.",
    )


def prompt_conditions(request: HttpRequest, pk: int) -> HttpResponse:
    """Make the judges of the four conditions, and offer to run them together."""
    if request.method not in FORM:
        return HttpResponseNotAllowed(FORM)
    judge = Judge.objects.select_related("study", "endpoint__trusted_by").filter(pk=pk).first()
    if judge is None or not has_conditions(judge):
        raise Http404
    study = study_for(request, judge.study_id, "write")
    form = ConditionsForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = create_conditions(judge, user=request.user, **form.cleaned_data)
        except FieldsRefused as refused:
            for field, sentences in refused.by_field.items():
                name = field.removeprefix("options.")
                for sentence in sentences:
                    form.add_error(name if name in form.fields else None, sentence)
        else:
            said = f"Created the prompt conditions of {judge}: {', '.join(map(str, made))}."
            messages.success(request, said)
            return HttpResponseRedirect(together_url(made))
    context: dict[str, Any] = {
        "title": f"Prompt conditions of {judge}",
        "form": form,
        "names": [f"{judge.name}-{condition}" for condition in CONDITIONS],
        "cancel": tabs["judges"].url(study),
    }
    status = 422 if form.is_bound else 200
    return page(request, "admin/judging/conditions.html", context, study=study, tab="judges", status=status)
