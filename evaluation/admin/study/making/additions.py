"""Items for a study that is under way: uploaded, counted, and added once that is confirmed."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from evaluation.acts import begin_addition
from evaluation.admin.pages import docs_url, overview_url, page
from evaluation.admin.queueing import show_refusal
from evaluation.admin.rights import FORM, study_page
from evaluation.admin.study.forms import UploadForm
from evaluation.admin.tables.map_file import MapField
from evaluation.dumps.tables.table_map import TableMap, read_map
from evaluation.models import SavedTableMap, Study
from evaluation.refusals import Refused, WrongState
from evaluation.services.jobs import kept_upload
from evaluation.services.studies.items import require_running

AGAINST = {
    "all": "all systems of the study",
    "baseline": "the baseline system alone",
}


class AdditionForm(UploadForm):
    """A file of items, or of one new system's responses."""

    map = MapField(
        help_text="For a table: a map of its columns, as the map page offers it for download. "
        "By default, the map of the study's last table, or a guess.",
    )
    saved_map: Any = forms.ModelChoiceField(
        SavedTableMap.objects.none(),
        to_field_name="name",
        required=False,
        label="Or a map that you saved",
        empty_label="None of them",
    )
    system = forms.CharField(
        required=False,
        max_length=120,
        label="New system",
        help_text="If the file holds the responses of one new system: its key. Leave empty for a file of items.",
    )
    label = forms.CharField(required=False, max_length=200, help_text="Its name in reports.")
    family = forms.CharField(required=False, max_length=80)
    against = forms.ChoiceField(
        label="Compare it with", choices=list(AGAINST.items()), initial="all", widget=forms.RadioSelect
    )

    def __init__(self, *args: Any, pairs: bool, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        maps = SavedTableMap.objects.filter(owner=user)
        if maps.exists():
            self.fields["saved_map"].queryset = maps  # type: ignore[attr-defined]  # the field of every form, of its own here
        else:
            del self.fields["saved_map"]
        if not pairs:
            for name in ("system", "label", "family", "against"):
                del self.fields[name]

    def clean_saved_map(self) -> TableMap | None:
        saved = self.cleaned_data["saved_map"]
        if saved and self.cleaned_data.get("map"):
            raise forms.ValidationError("Choose a file with a map, or a map that you saved, and not both.")
        try:
            return read_map(saved.map) if saved else None
        except Refused as refused:
            raise forms.ValidationError(refused.problems[:5]) from None


@study_page("write", methods=FORM)
def add(request: HttpRequest, study: Study) -> HttpResponse:
    """Have a worker count what a file would add; the job's page shows that, and adds it."""
    try:
        require_running(study)
    except WrongState as wrong:
        raise PermissionDenied(str(wrong)) from None
    form = AdditionForm(
        request.POST or None,
        request.FILES or None,
        limit_mb=settings.ASSAY_UPLOAD_MB,
        pairs=study.protocol_object.compares_pairs,
        user=request.user,
    )
    if request.method == "POST" and form.is_valid():
        response = _begin(request, study, form)
        if response is not None:
            return response
    context = {
        "title": "Add items",
        "study_docs": docs_url("admin#adding-items"),
        "form": form,
        "button": "Upload and check",
        "adds": True,
        "pairs": study.protocol_object.compares_pairs,
        "cancel": overview_url(study),
    }
    status = 422 if form.is_bound else 200
    return page(request, "admin/upload.html", context, study=study, tab="items", status=status)


def _begin(request: HttpRequest, study: Study, form: AdditionForm) -> HttpResponse | None:
    """Begin the addition, and lead to its job; None, with the reasons in the form, if it can't begin."""
    data = form.cleaned_data
    names = ("system", "label", "family", "against")
    try:
        with kept_upload(data["file"].chunks()) as kept:
            job = begin_addition(
                study,
                kept=kept,
                name=data["file"].name,
                map=data["map"] or data.get("saved_map"),
                new_system={name: data[name] for name in names} if data.get("system") else None,
                by=request.user,
            )
    except Refused as refused:
        show_refusal(form, refused)
        return None
    return HttpResponseRedirect(reverse("admin:evaluation_job_watch", args=[job.pk]))
