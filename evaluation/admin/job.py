"""Jobs: watched while they work, read when they failed, their files fetched when they are done."""

from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import (
    FileResponse,
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
)
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django_htmx.http import HttpResponseClientRefresh

from evaluation.admin.base import StudyFilter, StudyScopedAdmin
from evaluation.admin.job_rights import job_for, may_begin, my_jobs
from evaluation.admin.pages import page, workbench_url
from evaluation.admin.tables import mapping
from evaluation.dumps.formats import FORMATS
from evaluation.models import Job
from evaluation.refusals import Refused
from evaluation.services.history import log_action
from evaluation.services.jobs import UPLOADED, confirm_job, restart_job
from evaluation.tasks import enqueue_job

# Begun on a study's Generation pages.
GENERATION = (Job.Kind.QUERIES, Job.Kind.PRODUCTS, Job.Kind.MAKING, Job.Kind.CORPUS)
# Seconds after which the page asks again where there are no scripts.
REFRESH = "5"


def watch(request: HttpRequest, pk: int) -> HttpResponse:
    """The job's progress; the page asks again by itself until it has ended."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    job = job_for(request, pk)
    if job.state == Job.State.STAGED:
        return _to_be_confirmed(request, job)
    context: dict[str, Any] = {
        "title": TITLES[job.kind],
        "job": job,
        "problems": [_where_and_what(sentence) for sentence in job.problems],
        "more_problems": job.n_problems - len(job.problems),
        "restart": may_begin(request, job) and (job.is_lost or job.is_unsent or _may_fare_better(job)),
        "maps": job.state == Job.State.FAILED and "map" in job.parameters and bool(job.file),
        "downloads": job.kind == Job.Kind.EXPORT and job.state == Job.State.DONE and bool(job.file),
        "upload_again": _upload_again(job),
        "outcome": job.parameters.get("outcome") if job.state == Job.State.DONE else None,
        "generation": _generation_of(job),
        "workbench": workbench_url(job.study) if job.study else "",
    }
    if request.headers.get("HX-Request"):
        response = render(request, "admin/evaluation/job/_status.html", context)
    else:
        response = page(
            request, "admin/evaluation/job/watch.html", context, study=job.study, tab=TABS[job.kind]
        )
        if job.is_active and not job.is_lost:
            response["Refresh"] = f"{REFRESH}" if "plain" in request.GET else "60"
    add_never_cache_headers(response)
    return response


def _to_be_confirmed(request: HttpRequest, job: Job) -> HttpResponse:
    """The page of an addition's counts, or the way to that of a table's map."""
    if request.headers.get("HX-Request"):
        return HttpResponseClientRefresh()
    if job.kind != Job.Kind.ADDITION:
        return HttpResponseRedirect(reverse("admin:evaluation_job_map", args=[job.pk]))
    context = {
        "title": "Add these items?",
        "job": job,
        "preview": job.parameters["preview"],
        "confirms": may_begin(request, job),
    }
    response = page(
        request, "admin/evaluation/job/addition.html", context, study=job.study, tab=TABS[job.kind]
    )
    add_never_cache_headers(response)
    return response


def _may_fare_better(job: Job) -> bool:
    """False for a file or products with faults, which would fail again."""
    reads = job.kind in UPLOADED or job.kind == Job.Kind.MAKING
    return job.state == Job.State.FAILED and not (reads and job.problems)


TITLES: dict[str, str] = {
    Job.Kind.IMPORT: "Importing a file",
    Job.Kind.EXPORT: "Writing an export",
    Job.Kind.LAUNCH: "Launching",
    Job.Kind.SCORES: "Importing scores",
    Job.Kind.REHEARSAL: "Rehearsing",
    Job.Kind.QUERIES: "Importing queries",
    Job.Kind.PRODUCTS: "Importing products",
    Job.Kind.MAKING: "Making a study",
    Job.Kind.CORPUS: "Uploading a corpus",
    Job.Kind.ADDITION: "Adding items",
    Job.Kind.REPORT: "Making a report's files",
    Job.Kind.SECTION: "Computing a section of the report",
    Job.Kind.BUNDLE: "Writing a replication bundle",
}
TABS: dict[str, str] = {
    Job.Kind.IMPORT: "workbench",
    Job.Kind.EXPORT: "exports",
    Job.Kind.LAUNCH: "workbench",
    Job.Kind.SCORES: "workbench",
    Job.Kind.ADDITION: "workbench",
    Job.Kind.REHEARSAL: "workbench",
    Job.Kind.REPORT: "report",
    Job.Kind.SECTION: "report",
    Job.Kind.BUNDLE: "report",
    **dict.fromkeys(GENERATION, "generation"),
}
# The form in which another file is uploaded, by the kind of a job whose file was refused.
UPLOAD_FORMS: dict[str, str] = {
    Job.Kind.IMPORT: "upload",
    Job.Kind.SCORES: "scores",
    Job.Kind.QUERIES: "generation_queries",
    Job.Kind.PRODUCTS: "generation_import",
    Job.Kind.CORPUS: "generation_corpora",
    Job.Kind.ADDITION: "add_items",
}


def _upload_again(job: Job) -> str:
    if job.state != Job.State.FAILED or job.kind not in UPLOAD_FORMS:
        return ""
    if job.study is None:
        return reverse("admin:evaluation_study_from_file")
    return reverse(f"admin:evaluation_study_{UPLOAD_FORMS[job.kind]}", args=[job.study.pk])


def _generation_of(job: Job) -> str:
    """The page from which the job was begun; of a study that was made, its own workbench is the way on."""
    made = job.kind == Job.Kind.MAKING and job.state == Job.State.DONE
    if job.study is None or job.kind not in GENERATION or made:
        return ""
    return reverse("admin:evaluation_study_generation", args=[job.study.pk])


def _where_and_what(sentence: str) -> tuple[str, str]:
    """("line 3", "query: ...") of "line 3: query: ..."; what names no place has none."""
    where, colon, what = sentence.partition(": ")
    return (where, what) if colon and len(where) <= 60 else ("", sentence)


def restart(request: HttpRequest, pk: int) -> HttpResponse:
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    job = job_for(request, pk)
    if not may_begin(request, job):
        return HttpResponse("Viewers of this study can't start this again.", status=403)
    try:
        restart_job(job)
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        if job.study is not None:
            log_action(study=job.study, by=request.user, message=f"Started the {job.kind} again.")
        enqueue_job(job)
    return HttpResponseRedirect(reverse("admin:evaluation_job_watch", args=[job.pk]))


def confirm(request: HttpRequest, pk: int) -> HttpResponse:
    """Have a worker do what its preview showed."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    job = job_for(request, pk)
    if job.kind != Job.Kind.ADDITION:
        raise Http404
    if not may_begin(request, job):
        raise PermissionDenied("Viewers of this study can't add items.")
    try:
        confirm_job(job)
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        enqueue_job(job)
    return HttpResponseRedirect(reverse("admin:evaluation_job_watch", args=[job.pk]))


def download(request: HttpRequest, pk: int) -> FileResponse | HttpResponse:
    """An export's file, streamed, for members only."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    job = job_for(request, pk)
    if job.kind != Job.Kind.EXPORT or job.state != Job.State.DONE or not job.file or not job.path.exists():
        raise Http404
    assert job.finished_at is not None  # it is done
    form = FORMATS[job.parameters["format"]]
    name = f"{job.slug}-{job.finished_at:%Y-%m-%d}.{form.suffix}"
    response = FileResponse(
        job.path.open("rb"),
        as_attachment=True,
        filename=name,
        content_type=form.content_type,
    )
    add_never_cache_headers(response)
    return response


@admin.register(Job)
class JobAdmin(StudyScopedAdmin):
    tab = "exports"
    fields = ("kind", "slug", "state", "phase", "done", "total", "message", "file_name", "by", "created_at",
              "started_at", "finished_at")  # fmt: skip
    list_display = ("__str__", "state", "progress", "message", "by", "created_at")
    list_filter = (StudyFilter, "kind", "state")
    list_select_related = ("study", "by")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return my_jobs(request).order_by("-pk")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if obj is not None and obj.study_id is None:
            return bool(obj.by_id == request.user.pk)
        return super().has_view_permission(request, obj)

    @admin.display(description="progress")
    def progress(self, job: Job) -> str:
        return f"{job.percent} %" if job.total else ""

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        """Redirect to the job's own page, which shows more than its fields."""
        job = self.get_object(request, object_id)
        if job is None:
            return super().change_view(request, object_id, *args, **kwargs)
        return HttpResponseRedirect(reverse("admin:evaluation_job_watch", args=[job.pk]))

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """Lead to the study's history, where a job's actions are logged."""
        raise Http404

    def extra_pages(self) -> Sequence[tuple[str, str, Callable[..., Any]]]:
        return (
            ("<int:pk>/watch/", "watch", watch),
            ("<int:pk>/restart/", "restart", restart),
            ("<int:pk>/confirm/", "confirm", confirm),
            ("<int:pk>/download/", "download", download),
            ("<int:pk>/map/", "map", mapping.map_table),
            ("<int:pk>/map/<int:number>/", "mapped_item", mapping.mapped_item),
        )
