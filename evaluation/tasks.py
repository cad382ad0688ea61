"""Background work. A task loads by id and calls a service; it is queued on commit."""

import logging

from celery import shared_task

from evaluation.models import Study
from evaluation.reports.build import NothingToReport
from evaluation.reports.cache import compute_report as compute_and_keep
from evaluation.reports.cache import release_claim
from evaluation.services import LaunchRefused, WrongStatus, launch_study

logger = logging.getLogger(__name__)


@shared_task
def compute_report(study_id: int) -> None:
    """Computes a study's report and keeps it; doing it twice changes nothing."""
    study = Study.objects.get(pk=study_id)
    try:
        compute_and_keep(study)
    except NothingToReport:
        release_claim(study)
    except Exception:
        release_claim(study)
        raise


@shared_task
def launch_study_task(study_id: int) -> None:
    """Launches a large study. A refusal leaves the draft as it was; the study page says why."""
    study = Study.objects.get(pk=study_id)
    try:
        launch_study(study)
    except (LaunchRefused, WrongStatus) as refused:
        logger.warning("Study %s was not launched: %s", study.slug, refused)
