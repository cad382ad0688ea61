"""The member a job belongs to, and the right to begin one."""

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest

from evaluation.admin.rights import has_right, my_studies
from evaluation.job_kinds import job_kinds, kind_of
from evaluation.models import Job, Study


def my_jobs(request: HttpRequest) -> QuerySet[Job]:
    """Jobs of the user's studies, and jobs without a study that the user began."""
    mine = Q(study__in=my_studies(request).values("pk")) | Q(study=None, by=request.user.pk)
    return Job.objects.filter(mine).select_related("study", "by")


def job_for(request: HttpRequest, pk: int) -> Job:
    job = my_jobs(request).filter(pk=pk).first()
    if job is None:
        raise Http404
    return job


def may_begin(request: HttpRequest, job: Job) -> bool:
    """Check the right that beginning the job needs: viewers may have files written, writers may do the rest."""
    if job.study_id is None:
        return job.by_id == request.user.pk
    return has_right(request, kind_of(job).need, job.study_id)


def listed_jobs(study: Study) -> QuerySet[Job]:
    """The study's jobs, newest first, without those that only the page shows which waits for them."""
    kinds = [kind.key for kind in job_kinds().values() if kind.listed]
    return Job.objects.filter(study=study, kind__in=kinds).select_related("by")
