"""Work that takes long: a job with an address of its own, to be asked until it has ended."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from django.http import Http404
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.acts import begin_again, confirm
from evaluation.api.base import ApiView, StudyView, study_of
from evaluation.api.fields import NullableObjectField, time_text
from evaluation.api.paging import NewestFirstPagination
from evaluation.api.problems import CONFLICTS, allowed
from evaluation.api.query import PageQuery, QueryTextField
from evaluation.downloads import download_response
from evaluation.dumps.formats import FORMATS
from evaluation.dumps.problems import place_and_fault
from evaluation.job_kinds import job_kinds, kind_of
from evaluation.models import Job, Study
from evaluation.permissions import jobs_for
from evaluation.services.jobs import has_download, left_out_file

# Seconds after which it is worth asking again.
RETRY_AFTER = 2
# Without the charset of those that are text.
MEDIA = sorted({each.content_type.partition(";")[0] for each in FORMATS.values()})


WRITTEN = frozenset({"message", "problems", "preview", "file_name"})


class JobProblemSerializer(serializers.Serializer[Any]):
    place = serializers.CharField(help_text="In the file, such as: row 3 (key 'q3'). Empty: of all of it.")
    message = serializers.CharField()


class JobSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    kind = serializers.CharField(help_text="import, export, launch, ...")
    study = serializers.CharField(
        allow_null=True, help_text="Slug of the study that it is of; null until an import has made it."
    )
    state = serializers.ChoiceField(choices=Job.State.choices)
    lost = serializers.BooleanField(help_text="Its worker has been silent for so long that it is gone.")
    phase = serializers.CharField(help_text="What it is at; empty before it began.")
    done = serializers.IntegerField()
    total = serializers.IntegerField(help_text="Of the phase; 0: not known.")
    percent = serializers.IntegerField()
    message = serializers.CharField(help_text="How it ended, in a sentence; empty until then.")
    problems = JobProblemSerializer(many=True, help_text="What was wrong, the first thousand.")
    n_problems = serializers.IntegerField(help_text="All that was wrong.")
    file_name = serializers.CharField(help_text="Of what was uploaded, or of what can be downloaded.")
    downloads = serializers.BooleanField(help_text="Whether get_job_file has a file.")
    preview = NullableObjectField(
        help_text="Of an addition that waits for confirm_job: what it would come to, in sentences, with its first "
        "item and a table's columns and notes; otherwise null."
    )
    left_out = serializers.BooleanField(
        help_text="Whether get_left_out_rows has the rows that an import left out."
    )
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


def job_record(job: Job) -> dict[str, Any]:
    plain = ("kind", "state", "phase", "done", "total", "percent", "message", "n_problems", "file_name")
    places = [place_and_fault(sentence) for sentence in job.problems]
    return {name: getattr(job, name) for name in plain} | {
        "id": job.pk,
        "study": job.study.slug if job.study else None,
        "lost": job.is_lost,
        "problems": [{"place": place, "message": fault} for place, fault in places],
        "downloads": has_download(job),
        "preview": job.parameters.get("preview") if job.state == Job.State.STAGED else None,
        "left_out": left_out_file(job) is not None,
        "created_at": time_text(job.created_at),
        "started_at": time_text(job.started_at),
        "finished_at": time_text(job.finished_at),
    }


def job_records(jobs: Iterable[Job]) -> list[dict[str, Any]]:
    return [job_record(job) for job in jobs]


class JobListQuery(PageQuery):
    kind = QueryTextField(required=False, max_length=20)
    state = serializers.ChoiceField(required=False, choices=Job.State.choices)


class StudyJobs(StudyView):
    query_class = JobListQuery
    written = WRITTEN
    pagination_class = NewestFirstPagination

    @extend_schema(
        operation_id="list_jobs",
        summary="A study's jobs, newest first",
        tags=["jobs"],
        responses=JobSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        listed = [kind.key for kind in job_kinds().values() if kind.listed]
        wanted = {name: self.query[name] for name in ("kind", "state") if name in self.query}
        jobs = jobs_for(request.user).filter(study=self.study, kind__in=listed).filter(**wanted)
        return self.paged(jobs, job_records)


class OfJob(ApiView):
    """A view of a job: for the members of its study; without one, for who began it."""

    job: Job
    study: Study | None = None
    written = WRITTEN

    def authorise(self) -> None:
        job = jobs_for(self.request.user).filter(pk=self.kwargs["job"]).first()
        if job is None:
            raise Http404
        self.job, self.study = job, job.study


class JobDetail(OfJob):
    @extend_schema(
        operation_id="get_job",
        summary="How far a job is, and how it ended",
        description="Ask again until state is done or failed.",
        tags=["jobs"],
        responses=JobSerializer,
    )
    def get(self, request: Request, job: int) -> Response:
        return Response(job_record(self.job))


class JobFile(OfJob):
    @extend_schema(
        operation_id="get_job_file",
        summary="The file that a job wrote, such as an export",
        tags=["jobs"],
        responses={(200, media): OpenApiTypes.BINARY for media in MEDIA},
    )
    def get(self, request: Request, job: int) -> HttpResponseBase:
        found = self.job
        if not has_download(found):
            raise Http404
        assert found.finished_at is not None  # it is done
        form = FORMATS[found.parameters["format"]]
        name = f"{found.slug}-{found.finished_at:%Y-%m-%d}.{form.suffix}"
        return download_response(request, found.path, name=name, content_type=form.content_type)


class JobLeftOut(OfJob):
    @extend_schema(
        operation_id="get_left_out_rows",
        summary="The rows that an import left out, each with its reasons",
        tags=["jobs"],
        responses={(200, "text/csv"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, job: int) -> HttpResponseBase:
        if (path := left_out_file(self.job)) is None:
            raise Http404
        name = f"{Path(self.job.file_name).stem}-left-out.csv"
        return download_response(request, path, name=name, content_type="text/csv; charset=utf-8")


class SteeredJob(OfJob):
    """A job that is begun again or confirmed by who may begin one of its kind; without a study, by who began it."""

    def authorise(self) -> None:
        super().authorise()
        if self.job.study is not None:
            study_of(self.request, self.job.study.slug, kind_of(self.job).need)

    def steer(self, act: Callable[[], None]) -> Response:
        allowed(act)
        self.job.refresh_from_db()
        answer = Response(job_record(self.job), status=202)
        answer["Retry-After"] = str(RETRY_AFTER)
        return answer


class JobRestart(SteeredJob):
    @extend_schema(
        operation_id="restart_job",
        summary="Send a job that failed or lost its worker to one again",
        tags=["jobs"],
        request=None,
        responses={202: JobSerializer, **CONFLICTS},
    )
    def post(self, request: Request, job: int) -> Response:
        return self.steer(lambda: begin_again(self.job, by=request.user))


class JobConfirmation(SteeredJob):
    @extend_schema(
        operation_id="confirm_job",
        summary="Have a worker add what a staged addition's preview shows",
        tags=["jobs"],
        request=None,
        responses={202: JobSerializer, **CONFLICTS},
    )
    def post(self, request: Request, job: int) -> Response:
        if not kind_of(self.job).confirmed_on:
            raise Http404
        return self.steer(lambda: confirm(self.job))
