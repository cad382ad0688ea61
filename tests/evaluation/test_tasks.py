"""Background tasks: thin, and harmless when run twice or too late."""

from evaluation import tasks
from evaluation.models import CachedReport, Status
from tests.reports.judging import judge, judged_study


def test_a_report_is_computed_and_kept(db):
    study = judged_study()
    judge(study, raters=2)
    tasks.compute_report(study.pk)
    tasks.compute_report(study.pk)
    assert CachedReport.objects.get().payload["study"]["slug"] == "judged"


def test_nothing_to_report_is_no_failure(db):
    tasks.compute_report(judged_study(queries=1).pk)
    assert not CachedReport.objects.exists()


def test_a_study_is_launched_and_a_refusal_leaves_a_draft(draft, caplog):
    tasks.launch_study_task(draft.pk)
    draft.refresh_from_db()
    assert draft.status == Status.LIVE
    tasks.launch_study_task(draft.pk)
    assert "was not launched" in caplog.text
