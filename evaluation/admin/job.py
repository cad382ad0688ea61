"""Jobs: watched while they work, read when they failed, their files fetched when they are done."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
)
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django_htmx.http import HttpResponseClientRefresh

from evaluation import acts
from evaluation.admin.base import PresentChoices, StudyScopedAdmin, study_of_list
from evaluation.admin.job_rights import job_for, may_begin
from evaluation.admin.pages import overview_url, page
from evaluation.admin.rights import without_ids
from evaluation.admin.tables import mapping
from evaluation.downloads import download_response
from evaluation.dumps.formats import FORMATS
from evaluation.dumps.problems import place_and_fault
from evaluation.job_kinds import job_kinds, kind_of
from evaluation.models import Job
from evaluation.permissions import jobs_for
from evaluation.refusals import Refused
from evaluation.services.jobs import has_download, left_out_file

# Seconds after which the page asks again where there are no scripts.
REFRESH = "5"


def watch(request: HttpRequest, pk: int) -> HttpResponse:
    """The job's progress; the page asks again by itself until it has ended."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    job = job_for(request, pk)
    if job.state == Job.State.STAGED:
        return _to_be_confirmed(request, job)
    kind = kind_of(job)
    context: dict[str, Any] = {
        "title": kind.title,
        "job": job,
        "problems": [place_and_fault(sentence) for sentence in job.problems],
        "more_problems": job.n_problems - len(job.problems),
        "restart": may_begin(request, job) and (job.is_lost or job.is_unsent or _may_fare_better(job)),
        "maps": job.state == Job.State.FAILED and "map" in job.parameters and bool(job.file),
        "downloads": has_download(job),
        "links": kind.links(job),
        "upload_again": _upload_again(job),
        "left_out": left_out_file(job) is not None,
        "outcome": job.parameters.get("outcome") if job.state == Job.State.DONE else None,
        "generation": _generation_of(job),
        "overview": overview_url(job.study) if job.study else "",
    }
    if request.headers.get("HX-Request"):
        response = render(request, "admin/evaluation/job/_status.html", context)
    else:
        response = page(request, "admin/evaluation/job/watch.html", context, study=job.study, tab=kind.tab)
        if job.is_active and not job.is_lost:
            response["Refresh"] = f"{REFRESH}" if "plain" in request.GET else "60"
    add_never_cache_headers(response)
    return without_ids(request, job.study, response)


def _to_be_confirmed(request: HttpRequest, job: Job) -> HttpResponse:
    """The page of an addition's counts, or the way to that of a table's map."""
    if request.headers.get("HX-Request"):
        return HttpResponseClientRefresh()
    kind = kind_of(job)
    if not kind.confirmed_on:
        return HttpResponseRedirect(reverse("admin:evaluation_job_map", args=[job.pk]))
    context = {
        "title": "Add these items?",
        "job": job,
        "preview": job.parameters["preview"],
        "confirms": may_begin(request, job),
    }
    response = page(request, kind.confirmed_on, context, study=job.study, tab=kind.tab)
    add_never_cache_headers(response)
    return response


def _may_fare_better(job: Job) -> bool:
    """False for a file or products with faults, which would fail again."""
    kind = kind_of(job)
    return job.state == Job.State.FAILED and not ((kind.upload_form or kind.makes_study) and job.problems)


def _upload_again(job: Job) -> str:
    form = kind_of(job).upload_form
    if job.state != Job.State.FAILED or not form:
        return ""
    if job.study is None:
        return reverse("admin:evaluation_study_from_file")
    return reverse(f"admin:evaluation_study_{form}", args=[job.study.slug])


def _generation_of(job: Job) -> str:
    """The page from which the job was begun; of a study that was made, its own overview is the way on."""
    kind = kind_of(job)
    made = kind.makes_study and job.state == Job.State.DONE
    if job.study is None or kind.tab != "generation" or made:
        return ""
    return reverse("admin:evaluation_study_generation", args=[job.study.slug])


def restart(request: HttpRequest, pk: int) -> HttpResponse:
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    job = job_for(request, pk)
    if not may_begin(request, job):
        return HttpResponse("Your role in this study doesn't allow this.", status=403)
    try:
        acts.begin_again(job, by=request.user)
    except Refused as refused:
        messages.error(request, str(refused))
    return HttpResponseRedirect(reverse("admin:evaluation_job_watch", args=[job.pk]))


def confirm(request: HttpRequest, pk: int) -> HttpResponse:
    """Have a worker do what its preview showed."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    job = job_for(request, pk)
    if not kind_of(job).confirmed_on:
        raise Http404
    if not may_begin(request, job):
        raise PermissionDenied("Your role in this study doesn't allow this.")
    try:
        acts.confirm(job)
    except Refused as refused:
        messages.error(request, str(refused))
    return HttpResponseRedirect(reverse("admin:evaluation_job_watch", args=[job.pk]))


def download(request: HttpRequest, pk: int) -> HttpResponseBase:
    """An export's file, streamed, for members only."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    job = job_for(request, pk)
    if not has_download(job):
        raise Http404
    assert job.finished_at is not None  # it is done
    form = FORMATS[job.parameters["format"]]
    name = f"{job.slug}-{job.finished_at:%Y-%m-%d}.{form.suffix}"
    response = download_response(request, job.path, name=name, content_type=form.content_type)
    add_never_cache_headers(response)
    return response


def left_out(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The rows that an import has left out, with their reasons, for members only."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    job = job_for(request, pk)
    if (path := left_out_file(job)) is None:
        raise Http404
    name = f"{Path(job.file_name).stem}-left-out.csv"
    response = download_response(request, path, name=name, content_type="text/csv; charset=utf-8")
    add_never_cache_headers(response)
    return response


class JobKindFilter(admin.SimpleListFilter):
    """Jobs by their kind, in words."""

    title = "kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The kinds of the jobs that there are."""
        there = set(model_admin.get_queryset(request).order_by().values_list("kind", flat=True).distinct())
        return [(kind.key, kind.noun) for kind in job_kinds().values() if kind.key in there]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(kind=self.value()) if self.value() else queryset


@admin.register(Job)
class JobAdmin(StudyScopedAdmin):
    address = "jobs"
    tab = "exports"
    fields = ("kind", "slug", "state", "phase", "done", "total", "message", "file_name", "by", "created_at",
              "started_at", "finished_at")  # fmt: skip
    list_display = ("name", "state", "progress", "message", "by", "created_at")
    list_filter = (JobKindFilter, ("state", PresentChoices))
    list_select_related = ("study", "by")
    written_fields = ("message", "problems", "parameters", "file_name")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        jobs, study = jobs_for(request.user).order_by("-pk"), study_of_list(request)
        return jobs if study is None else jobs.filter(study=study)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if obj is not None and obj.study_id is None:
            return bool(obj.by_id == request.user.pk)
        return super().has_view_permission(request, obj)

    @admin.display(description="progress")
    def progress(self, job: Job) -> str:
        return f"{job.percent} %" if job.is_active and job.total else ""

    @admin.display(description="job")
    def name(self, job: Job) -> str:
        return kind_of(job).noun.capitalize()

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
            ("<int:pk>/left-out/", "left_out", left_out),
            ("<int:pk>/map/", "map", mapping.map_table),
            ("<int:pk>/map/<int:number>/", "mapped_item", mapping.mapped_item),
        )
