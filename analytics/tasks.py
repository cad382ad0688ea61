"""Background work: computing the reports of large studies, and their comparisons."""

from collections.abc import Mapping
from typing import Any

from celery import shared_task

from analytics.frames.filters import EVERYTHING, Filters
from analytics.reports.cache import compute_report as compute_and_keep
from analytics.reports.cache import release_claim
from analytics.reports.common import NothingToReport
from analytics.reports.comparison.cache import compute_comparison as compare_and_keep
from analytics.reports.comparison.cache import release_claim as release_comparison
from analytics.reports.comparison.sides import Sides
from analytics.statistics.preferences.win_rates import Ties
from evaluation.models import Study
from evaluation.operations.message_queue import send_message


@shared_task
def compute_report(study_id: int, ties: Ties = "half", view: Mapping[str, Any] | None = None) -> None:
    """Computes a study's report, or that of a view, and keeps it; doing it twice changes nothing."""
    study, filters = Study.objects.get(pk=study_id), Filters.of(view or {})
    try:
        compute_and_keep(study, ties=ties, filters=filters)
    except NothingToReport:
        release_claim(study, filters=filters)
    except Exception:
        release_claim(study, filters=filters)
        raise


def queue_report(study_id: int, ties: Ties = "half", filters: Filters = EVERYTHING) -> None:
    """Has a report computed that was claimed. If no broker takes the message the claim is given back: whoever asks next
    sends it, and the page that waits asks by itself."""
    named: dict[str, Any] = {} if ties == "half" else {"ties": ties}
    if filters:
        named["view"] = filters.canonical()
    if not send_message(compute_report, study_id, **named):
        release_claim(Study.objects.get(pk=study_id), filters=filters)


@shared_task
def compute_comparison(message: Mapping[str, Any]) -> None:
    """Computes the comparison of both sides of `Sides.message`, and keeps it; doing it twice changes nothing."""
    sides = Sides.of_message(message)
    try:
        compare_and_keep(sides)
    except NothingToReport:
        release_comparison(sides)
    except Exception:
        release_comparison(sides)
        raise


def queue_comparison(sides: Sides) -> None:
    """Has a comparison computed that was claimed; without a broker the claim is given back, as that of a report is."""
    if not send_message(compute_comparison, sides.message):
        release_comparison(sides)
