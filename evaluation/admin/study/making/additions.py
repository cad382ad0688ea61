"""Items for a study that is under way: uploaded, counted, and added once that is confirmed."""

from pathlib import Path
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core import signing
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from evaluation.admin.pages import page, workbench_url
from evaluation.admin.rights import FORM, study_page
from evaluation.admin.study.forms import UploadForm
from evaluation.admin.tables.map_file import MapField
from evaluation.dumps.imports.added_items import add_items, preview_items
from evaluation.dumps.imports.new_system import NewSystemSource
from evaluation.dumps.lines import FileSource
from evaluation.dumps.tables.addition import open_addition
from evaluation.dumps.tables.source import Opened
from evaluation.dumps.tables.table_map import map_of_json
from evaluation.models import Study
from evaluation.refusals import Refused, WrongState
from evaluation.services.history import log_action
from evaluation.services.jobs import store_upload
from evaluation.services.studies.items import require_running

SALT = "evaluation.additions"
# A preview is confirmed within this time, as long as its file is surely kept.
CONFIRMED_WITHIN = 3_600
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

    def __init__(self, *args: Any, pairs: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not pairs:
            for name in ("system", "label", "family", "against"):
                del self.fields[name]


@study_page("write", methods=FORM)
def add(request: HttpRequest, study: Study) -> HttpResponse:
    """Show what a file would add; the page that shows it adds it."""
    try:
        require_running(study)
    except WrongState as wrong:
        raise PermissionDenied(str(wrong)) from None
    if request.method == "POST" and "confirmed" in request.POST:
        return _confirmed(request, study)
    form = AdditionForm(
        request.POST or None,
        request.FILES or None,
        limit_mb=settings.ASSAY_UPLOAD_MB,
        pairs=study.protocol_object.compares_pairs,
    )
    if request.method == "POST" and form.is_valid():
        response = _preview(request, study, form)
        if response is not None:
            return response
    context = {
        "title": "Add items",
        "form": form,
        "button": "Upload and check",
        "adds": True,
        "pairs": study.protocol_object.compares_pairs,
        "cancel": workbench_url(study),
    }
    status = 422 if form.is_bound else 200
    return page(request, "admin/upload.html", context, study=study, tab="workbench", status=status)


def _preview(request: HttpRequest, study: Study, form: AdditionForm) -> HttpResponse | None:
    """The page that shows the counts; None, with the reasons in the form, if the file can't be added."""
    data = {name: value for name, value in form.cleaned_data.items() if name not in ("file", "map")}
    table_map = form.cleaned_data["map"]
    data |= {"name": form.cleaned_data["file"].name, "map": table_map.as_json() if table_map else None}
    try:
        stored = store_upload(form.cleaned_data["file"].chunks())
    except Refused as refused:
        form.add_error(None, str(refused))
        return None
    try:
        opened = _opened(study, stored, data)
        addition = preview_items(opened.source, study)
    except Refused as refused:
        (Path(settings.ASSAY_JOB_FILES) / stored).unlink()
        for problem in refused.problems[:50]:
            form.add_error(None, problem)
        return None
    confirmed = signing.dumps({"study": study.pk, "file": stored, "data": data}, salt=SALT)
    context = {
        "title": "Add these items?",
        "addition": addition,
        "columns": opened.map.described() if opened.map else [],
        "confirmed": confirmed,
    }
    return page(request, "admin/evaluation/study/add_items.html", context, study=study, tab="workbench")


def _opened(study: Study, stored: str, data: dict[str, Any]) -> Opened:
    path = Path(settings.ASSAY_JOB_FILES) / stored
    if not data.get("system"):
        return open_addition(path, study, name=data["name"], table_map=map_of_json(data["map"]))
    names = {name: data[name] for name in ("system", "label", "family", "against")}
    return Opened(NewSystemSource(FileSource(path), study, **names))


def _confirmed(request: HttpRequest, study: Study) -> HttpResponse:
    try:
        chosen = signing.loads(request.POST["confirmed"], salt=SALT, max_age=CONFIRMED_WITHIN)
        if chosen["study"] != study.pk:
            raise signing.BadSignature
        addition, revision = add_items(_opened(study, chosen["file"], chosen["data"]).source, study)
    except signing.BadSignature:
        messages.error(request, "This preview is no longer valid; upload the file again.")
        return HttpResponseRedirect(request.path)
    except Refused as refused:
        messages.error(request, f"Nothing was added. {refused}")
        return HttpResponseRedirect(request.path)
    (Path(settings.ASSAY_JOB_FILES) / chosen["file"]).unlink(missing_ok=True)
    said = addition.done(revision.number)
    log_action(study=study, by=request.user, message=said)
    messages.success(request, said)
    return HttpResponseRedirect(workbench_url(study))
