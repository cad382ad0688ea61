"""The kinds of background work: those of the core, and those that the other apps register (`Extension.job_kinds`).

One more is a `JobKind` here or in another app's extension, and the function that does its work.
"""

from collections.abc import Sequence

from django.urls import reverse

from evaluation.extension import JobKind, extensions
from evaluation.models import Job


def _rehearsal_links(job: Job) -> Sequence[tuple[str, str]]:
    # The address is analytics', known here by its name alone, as in templates.
    study = job.study
    if job.state != Job.State.DONE or study is None or study.rehearsal is None:
        return ()
    return (("Report of the rehearsal", reverse("analytics:study-report", args=[study.rehearsal.slug])),)


IMPORT = JobKind(
    key="import",
    noun="import",
    title="Importing a file",
    work="evaluation.job_work.import_file",
    upload_form="upload",
)
EXPORT = JobKind(
    key="export",
    noun="export",
    title="Writing an export",
    work="evaluation.job_work.write_export",
    need="view",
    tab="exports",
    participle="",
    downloads=True,
)
LAUNCH = JobKind(
    key="launch", noun="launch", title="Launching", work="evaluation.job_work.launch", participle="launched"
)
SCORES = JobKind(
    key="scores",
    noun="import of scores",
    title="Importing scores",
    work="evaluation.job_work.import_scores_file",
    upload_form="scores",
)
REHEARSAL = JobKind(
    key="rehearsal",
    noun="rehearsal",
    title="Rehearsing",
    work="evaluation.job_work.rehearse_draft",
    participle="rehearsed",
    links=_rehearsal_links,
)
ADDITION = JobKind(
    key="addition",
    noun="addition of items",
    title="Adding items",
    work="evaluation.job_work.add_file",
    upload_form="add_items",
    participle="added",
    confirmed_on="admin/evaluation/job/addition.html",
)
POOLING = JobKind(
    key="pooling",
    noun="pooling of two rounds",
    title="Pooling two rounds",
    work="evaluation.job_work.pool",
    makes_study=True,
    participle="pooled",
)
DELETION = JobKind(
    key="deletion",
    noun="deletion",
    title="Deleting a study",
    work="evaluation.job_work.delete",
    need="own",
    participle="deleted",
)
CORE = (IMPORT, EXPORT, LAUNCH, SCORES, REHEARSAL, ADDITION, POOLING, DELETION)


def job_kinds() -> dict[str, JobKind]:
    """All of them, by the key that a job has."""
    others = (kind for each in extensions() for kind in each.job_kinds())
    return {kind.key: kind for kind in (*CORE, *others)}


def kind_of(job: Job) -> JobKind:
    return job_kinds()[job.kind]
