"""The schedule of a judge's anchor runs: set, changed and ended on a page of its own."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect

from evaluation.admin.pages import page, tabs
from evaluation.admin.rights import FORM, study_for
from evaluation.refusals import FieldsRefused
from judging.models import AnchorSchedule, Judge
from judging.services.anchors import set_anchors, stop_anchors


class AnchorForm(forms.ModelForm):
    """The schedule's fields."""

    class Meta:
        model = AnchorSchedule
        fields = ("every_days", "max_items", "budget", "by_batch")


def set_schedule(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the schedule; save it, or end it."""
    if request.method not in FORM:
        return HttpResponseNotAllowed(FORM)
    judge = Judge.objects.select_related("study", "endpoint").filter(pk=pk).first()
    if judge is None:
        raise Http404
    study = study_for(request, judge.study_id, "write")
    schedule = AnchorSchedule.objects.filter(judge=judge).first()
    back = tabs["judges"].url(study)
    form = AnchorForm(request.POST or None, instance=schedule or AnchorSchedule(judge=judge))
    said = ""
    if request.method == "POST" and "stop" in request.POST:
        if stop_anchors(judge, user=request.user):
            said = f"Ended the anchor runs of {judge}."
    elif request.method == "POST" and form.is_valid():
        try:
            saved = set_anchors(judge, user=request.user, **form.cleaned_data)
            said = f"Anchor runs of {judge}: {saved}."
        except FieldsRefused as refused:
            _show(form, refused)
    if said:
        messages.success(request, said)
        return HttpResponseRedirect(back)
    context: dict[str, Any] = {
        "title": f"Anchor runs of {judge}",
        "form": form,
        "cancel": back,
        "schedule": schedule,
    }
    status = 422 if form.is_bound else 200
    return page(request, "admin/judging/anchors.html", context, study=study, tab="judges", status=status)


def _show(form: AnchorForm, refused: FieldsRefused) -> None:
    for field, sentences in refused.by_field.items():
        for sentence in sentences:
            form.add_error(field if field in form.fields else None, sentence)
