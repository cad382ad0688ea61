"""Background tasks: thin, and harmless when run twice or too late."""

from analytics import tasks
from evaluation.models import CachedReport
from tests.analytics.reports.judging import judge, judged_study


def test_a_report_is_computed_and_kept(db):
    study = judged_study()
    judge(study, raters=2)
    tasks.compute_report(study.pk)
    tasks.compute_report(study.pk)
    assert CachedReport.objects.get().payload["study"]["slug"] == "judged"


def test_nothing_to_report_is_no_failure(db):
    tasks.compute_report(judged_study(queries=1).pk)
    assert not CachedReport.objects.exists()
