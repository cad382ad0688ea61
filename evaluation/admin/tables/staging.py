"""Uploads that are tables: kept until their map is confirmed, by whoever may write to the study."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from evaluation.admin.job_rights import job_for, may_begin
from evaluation.dumps.tables.readers.box import is_own_format
from evaluation.dumps.tables.reading import read_table
from evaluation.dumps.tables.sample import ROWS
from evaluation.job_kinds import IMPORT
from evaluation.models import Job, Study
from evaluation.services.table_maps import MAPPABLE, stage_table


def mappable_job(request: HttpRequest, pk: int) -> Job:
    """The job of a table that can be mapped: it waits for that, or its import has failed."""
    job = job_for(request, pk)
    if not may_begin(request, job):
        raise PermissionDenied("Viewers of this study can't import anything.")
    is_table = job.state == Job.State.STAGED or "map" in job.parameters
    if job.kind != IMPORT.key or job.state not in MAPPABLE or not is_table or not job.file:
        raise Http404
    return job


def stage(
    request: HttpRequest, kept: str, name: str, *, parameters: dict[str, Any], study: Study | None = None
) -> HttpResponse | None:
    """Redirect to the table's map; None for Assay's own file, which needs none. Refused for what is neither."""
    path = Path(settings.ASSAY_JOB_FILES) / kept
    if is_own_format(path):
        return None
    read_table(path, name=name, limit=ROWS)
    job = stage_table(by=request.user, file=kept, file_name=name, parameters=parameters, study=study)
    return HttpResponseRedirect(reverse("admin:evaluation_job_map", args=[job.pk]))
