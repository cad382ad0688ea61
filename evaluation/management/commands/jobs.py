"""Lists a study's jobs, newest first, or sends one that failed or lost its worker to a worker again."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db.models import QuerySet
from django.http import Http404

from evaluation.acts import begin_again
from evaluation.job_kinds import job_kinds, kind_of
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import add_by_argument, member_named, study_named
from evaluation.models import Job, Study
from evaluation.permissions import NoRight, get_study_for
from evaluation.refusals import Refused
from evaluation.services.history import server_account

SHOWN = 50


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", nargs="?", default="", help="by its slug; without one, jobs of no study")
        parser.add_argument("--restart", type=int, metavar="ID")
        add_by_argument(parser, "on behalf of this member, with no more than their rights (of --restart)")

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["study"]) if options["study"] else None
        listed = [kind.key for kind in job_kinds().values() if kind.listed]
        jobs = Job.objects.filter(study=study, kind__in=listed).select_related("study", "by").order_by("-pk")
        if options["restart"] is None:
            found = list(jobs[:SHOWN])
            for job in found:
                self.stdout.write(_line(job))
            if not found:
                self.stdout.write("There are no jobs.")
            return {"study": study and study.slug, "jobs": [_facts(job) for job in found]}
        job = _job(jobs, options["restart"], study)
        by = member_named(options["by"])
        if by is not None:
            _refuse_without_right(job, by)
        try:
            begin_again(job, by=by or server_account())
        except Refused as refused:
            raise CommandError(str(refused)) from None
        job.refresh_from_db()
        self.stdout.write(f"{_line(job)}: a worker does it.")
        return {"study": study and study.slug, "jobs": [_facts(job)]}


def _job(jobs: QuerySet[Job], pk: int, study: Study | None) -> Job:
    job = jobs.filter(pk=pk).first()
    if job is None:
        raise CommandError(f"There is no job {pk} of {study or 'no study'}.")
    return job


def _refuse_without_right(job: Job, by: Any) -> None:
    """Whoever may begin a job of its kind may begin it again; one of no study, who began it."""
    if job.study is None:
        if job.by_id != by.pk:
            raise CommandError(f"There is no job {job.pk} of {by}.")
        return
    try:
        get_study_for(by, job.study.slug, right=kind_of(job).need)
    except Http404:
        raise CommandError(f"There is no study {job.study.slug!r}.") from None
    except NoRight:
        raise CommandError(f"{by} may not begin an act of this kind: {kind_of(job).noun}.") from None


def _line(job: Job) -> str:
    state = "lost" if job.is_lost else job.state
    return f"{job.pk}  {kind_of(job).noun}  {state}  {job.file_name or job.slug}  {job.message}".rstrip()


def _facts(job: Job) -> dict[str, Any]:
    names = ("kind", "state", "phase", "done", "total", "message", "problems", "n_problems", "file_name")
    return {"id": job.pk, "lost": job.is_lost, **{name: getattr(job, name) for name in names}}
