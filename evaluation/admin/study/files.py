"""Files in and out: uploads and exports, which are jobs of the worker."""

from pathlib import Path
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.urls import reverse

from evaluation.acts import begin_export, opening_parameters, slug_problem, study_file
from evaluation.admin.pages import docs_url, page
from evaluation.admin.queueing import queue_job, show_refusal
from evaluation.admin.rights import FORM, study_page
from evaluation.admin.study.forms import ItemsForm, ScoresForm, StudyFromFileForm
from evaluation.admin.tables.staging import stage
from evaluation.dumps.exports.study_export import formats_of
from evaluation.dumps.tables.source import arms_of
from evaluation.dumps.tables.template import SUFFIXES, template_rows, write_template
from evaluation.job_kinds import EXPORT, IMPORT, SCORES
from evaluation.models import Job, Status, Study
from evaluation.permissions import may_begin_studies
from evaluation.refusals import Refused
from evaluation.services.jobs import store_upload
from evaluation.services.studies.duplication import slug_of_file


def study_from_file(request: HttpRequest) -> HttpResponse:
    """A new study made from a file; the uploader becomes its owner."""
    if request.method not in FORM:
        return HttpResponseNotAllowed(FORM)
    if not may_begin_studies(request.user):
        raise PermissionDenied
    form = StudyFromFileForm(request.POST or None, request.FILES or None, limit_mb=settings.ASSAY_UPLOAD_MB)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        parameters = {name: data[name] for name in ("title", "protocol", "slug")}
        response = _begin_import(
            request, form, slug=data["slug"] or slug_of_file(data["file"].name), parameters=parameters
        )
        if response is not None:
            return response
    context = {"title": "New study from a file", "form": form, "button": "Upload and check"}
    return page(request, "admin/upload.html", context, status=422 if form.is_bound else 200)


@study_page("write", methods=FORM)
def upload(request: HttpRequest, study: Study) -> HttpResponse:
    """Items for a draft, instead of those it has."""
    if study.is_frozen:
        raise PermissionDenied("The study has been launched, so its items are frozen.")
    form = ItemsForm(request.POST or None, request.FILES or None, limit_mb=settings.ASSAY_UPLOAD_MB)
    if request.method == "POST" and form.is_valid():
        response = _begin_import(request, form, slug=study.slug, study=study)
        if response is not None:
            return response
    context = {
        "title": "Upload items",
        "study_docs": docs_url("admin#1-begin"),
        "form": form,
        "button": "Upload and check",
        "replaces": study.items.count(),
        "template": reverse("admin:evaluation_study_template", args=[study.slug]),
        "cancel": reverse("admin:evaluation_study_overview", args=[study.slug]),
    }
    status = 422 if form.is_bound else 200
    return page(request, "admin/upload.html", context, study=study, tab="items", status=status)


@study_page("write", methods=FORM)
def scores(request: HttpRequest, study: Study) -> HttpResponse:
    """Scores that a script has computed, as a judge's measures."""
    if not study.is_frozen:
        raise PermissionDenied(
            "A draft's items can still change; scores are taken once the study is launched."
        )
    form = ScoresForm(request.POST or None, request.FILES or None, limit_mb=settings.ASSAY_UPLOAD_MB)
    if request.method == "POST" and form.is_valid():
        parameters = {name: form.cleaned_data[name] for name in ("judge", "name", "direction", "low", "high")}
        response = _begin_import(
            request, form, kind=SCORES.key, slug=study.slug, study=study, parameters=parameters
        )
        if response is not None:
            return response
    context = {
        "title": "Import scores",
        "form": form,
        "button": "Upload and check",
        "scores": True,
        "cancel": reverse("admin:evaluation_study_overview", args=[study.slug]),
    }
    status = 422 if form.is_bound else 200
    return page(request, "admin/upload.html", context, study=study, tab="overview", status=status)


def _begin_import(
    request: HttpRequest, form: forms.Form, *, kind: str = IMPORT.key, **job: Any
) -> HttpResponse | None:
    """Begin the job and redirect to its page, or to that of a table's map; None, with the reasons in the form, if it
    can't begin."""
    file = form.cleaned_data["file"]
    try:
        kept = store_upload(file.chunks())
    except Refused as refused:
        form.add_error(None, str(refused))
        return None
    try:
        if kind == IMPORT.key and (opens := study_file(kept)):
            job["parameters"] = opening_parameters(
                *opens, study=job.get("study"), given=job.get("parameters", {})
            )
        elif kind == IMPORT.key:
            table = {"parameters": job.get("parameters", {}), "study": job.get("study")}
            if (mapping := stage(request, kept, file.name, **table)) is not None:
                return mapping
        if kind == IMPORT.key and not job.get("study") and (taken := slug_problem(job["slug"])):
            raise Refused(taken)
        return queue_job(request, kind=kind, file=kept, file_name=file.name, **job)
    except Refused as refused:
        (Path(settings.ASSAY_JOB_FILES) / kept).unlink()
        show_refusal(form, refused)
        return None


@study_page()
def template(request: HttpRequest, study: Study) -> HttpResponse:
    """A table to fill in for this study: its columns, and a line as an example."""
    format = request.GET.get("format", "csv")
    if format not in SUFFIXES:
        raise Http404
    systems = list(study.systems.values_list("key", flat=True))
    attributes = list(study.attributes.values_list("key", flat=True))
    rows = template_rows(study.protocol_object, arms_of(study), attributes, systems, study.needs)
    response = HttpResponse(write_template(format, *rows), content_type=SUFFIXES[format])
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-items.{format}"'
    return response


@study_page(methods=FORM)
def exports(request: HttpRequest, study: Study) -> HttpResponse:
    """Start exports and list those there are."""
    error = ""
    if request.method == "POST":
        try:
            job = begin_export(study, format=request.POST.get("format", ""), by=request.user)
            return HttpResponseRedirect(reverse("admin:evaluation_job_watch", args=[job.pk]))
        except Refused as refused:
            error = str(refused)
    context = {
        "title": "Exports",
        "error": error,
        "formats": [(each.key, each.label, each.about) for each in formats_of(study)],
        "jobs": Job.objects.filter(study=study, kind=EXPORT.key).select_related("by")[:20],
        "days": settings.ASSAY_JOB_FILE_DAYS,
        "judgments": study.judgments.exists(),
        "slug": study.slug,
        "draft": study.status == Status.DRAFT,
    }
    status = 422 if error else 200
    return page(
        request, "admin/evaluation/study/exports.html", context, study=study, tab="exports", status=status
    )
