"""The member a job belongs to, and the right to begin one."""

from django.db.models import QuerySet
from django.http import Http404, HttpRequest

from evaluation.admin.rights import has_right
from evaluation.job_kinds import job_kinds, kind_of
from evaluation.models import Job, Study
from evaluation.permissions import jobs_for


def job_for(request: HttpRequest, pk: int) -> Job:
    job = jobs_for(request.user).filter(pk=pk).first()
    if job is None:
        raise Http404
    return job


def may_begin(request: HttpRequest, job: Job) -> bool:
    """Check the right that beginning the job needs: viewers may have files written, owners alone delete, writers may do
    the rest."""
    if job.study_id is None:
        return job.by_id == request.user.pk
    return has_right(request, kind_of(job).need, job.study_id)


def listed_jobs(study: Study) -> QuerySet[Job]:
    """The study's jobs, newest first, without those that only the page shows which waits for them."""
    kinds = [kind.key for kind in job_kinds().values() if kind.listed]
    return Job.objects.filter(study=study, kind__in=kinds).select_related("by")
