"""`{{ job|job_noun }}`: the name of a job's kind. `{{ jobs|job_on:subject }}`: of jobs by subject, the one on this."""

from collections.abc import Mapping

from django import template

from evaluation.job_kinds import kind_of
from evaluation.models import Job

register = template.Library()


@register.filter
def job_noun(job: Job) -> str:
    return kind_of(job).noun


@register.filter
def job_on(jobs: Mapping[str, Job] | str, subject: str) -> Job | None:
    # A variable that the page does not have is an empty text.
    return jobs.get(subject) if isinstance(jobs, Mapping) else None
