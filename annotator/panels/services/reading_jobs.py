"""Readings that take too long for a page: jobs of the worker, which the panel's page watches."""

from typing import Any

from annotator.job_kinds import READING
from annotator.models import Panel, PanelRecord
from annotator.panels.platforms.errors import NotSetUp, PanelError
from annotator.panels.services.readings import sync
from annotator.panels.services.recruiting import drafted_id
from evaluation.models import Job, Study
from evaluation.refusals import Refused
from evaluation.services.history import log_action
from evaluation.services.jobs import JobProgress, begin_job, finish_job, job_at

# A study of so few people is read while the page waits.
SHORT = 20
# A worker may wait longer for a panel that is busy than a page can.
PATIENCE = 60.0


def is_short(panel: Panel) -> bool:
    """True of a study that can be read while a page waits."""
    return max(PanelRecord.objects.filter(panel=panel).count(), panel.places or 0) <= SHORT


def begin_reading(panel: Panel, by: Any) -> Job:
    """Queue a reading for a worker; Refused while another one of the panel is under way."""
    drafted_id(panel)
    study = panel.study
    try:
        return begin_job(kind=READING.key, slug=study.slug, study=study, by=by)
    except Refused:
        raise Refused("A refresh is already running; the page shows its progress.") from None


def latest_reading(study: Study) -> Job | None:
    """The study's latest reading by a worker, under way or ended; None where nobody has asked for one."""
    return job_at(READING.key, study.slug)


def read_back(job: Job, panel: Panel) -> None:
    """Read all of the job's study back from its panel; Refused with the reason where it can't be read."""
    try:
        result = sync(panel, everyone=True, watch=JobProgress(job), patience=PATIENCE)
    except (NotSetUp, PanelError) as why:
        raise Refused(str(why)) from None
    said = f"Refreshed: {result}"
    finish_job(job, message=said)
    log_action(study=panel.study, by=job.by, message=said)
