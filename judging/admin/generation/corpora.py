"""The corpora that retrieval searches, and the upload of another one."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from evaluation.admin.pages import page
from evaluation.admin.queueing import queue_upload
from evaluation.admin.rights import FORM, has_right, study_page
from evaluation.admin.study.forms import UploadForm
from evaluation.models import Study
from evaluation.refusals import Refused
from judging.job_kinds import CORPUS
from judging.retrieval.corpora import CORPORA
from judging.services.generation.corpus_uploads import MAX_NAME, corpus_name


class CorpusForm(UploadForm):
    """A file of documents, and the name that it gets."""

    name = forms.CharField(
        required=False,
        max_length=MAX_NAME,
        help_text="Runs name it so for good. Leave empty for the file's own name.",
    )

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if data.get("file") and "name" in data:
            try:
                data["name"] = corpus_name(data["name"] or data["file"].name)
            except Refused as refused:
                self.add_error("name", str(refused))
        return data


@study_page(methods=FORM)
def corpora(request: HttpRequest, study: Study) -> HttpResponse:
    """The files in the folder of corpora; who may change a study may add one, which is then everybody's."""
    form = CorpusForm(request.POST or None, request.FILES or None, limit_mb=settings.ASSAY_UPLOAD_MB)
    if request.method == "POST":
        if not has_right(request, "write", study.pk):
            raise PermissionDenied("Only owners and editors of a study upload corpora.")
        if form.is_valid():
            job = {"slug": study.slug, "study": study, "parameters": {"name": form.cleaned_data["name"]}}
            response = queue_upload(request, form, kind=CORPUS.key, **job)
            if response is not None:
                return response
    context: dict[str, Any] = {
        "title": "Corpora",
        "form": form,
        "files": [],
        "missing": "",
        "back": reverse("admin:evaluation_study_generation", args=[study.slug]),
    }
    try:
        context["files"] = CORPORA.files()
    except Refused as reason:
        context["missing"] = str(reason)
    status = 422 if form.is_bound else 200
    return page(
        request,
        "admin/judging/generation/corpora.html",
        context,
        study=study,
        tab="generation",
        status=status,
    )
