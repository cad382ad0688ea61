"""Background work: computing the reports of large studies."""

from celery import shared_task

from analytics.reports.cache import compute_report as compute_and_keep
from analytics.reports.cache import release_claim
from analytics.reports.common import NothingToReport
from analytics.statistics.preferences.win_rates import Ties
from evaluation.models import Study
from evaluation.operations.message_queue import send_message


# The name that messages have always carried.
@shared_task(name="evaluation.tasks.compute_report")
def compute_report(study_id: int, ties: Ties = "half") -> None:
    """Computes a study's report and keeps it; doing it twice changes nothing."""
    study = Study.objects.get(pk=study_id)
    try:
        compute_and_keep(study, ties=ties)
    except NothingToReport:
        release_claim(study)
    except Exception:
        release_claim(study)
        raise


def queue_report(study_id: int, ties: Ties = "half") -> None:
    """Has a report computed that was claimed. If no broker takes the message the claim is given back: whoever asks next
    sends it, and the page that waits asks by itself."""
    if ties == "half":
        sent = send_message(compute_report, study_id)
    else:
        sent = send_message(compute_report, study_id, ties=ties)
    if not sent:
        release_claim(Study.objects.get(pk=study_id))
