"""Batches that were under way before they told their model tell it, so that their answers are read and paid for."""

from decimal import Decimal

import pytest

from judging.models import CallBatch, Run
from judging.services import start_run
from judging.services.runs.work import work_on
from tests import factories
from tests.judging import endpoint
from tests.judging.build import make_judge
from tests.judging.migrations.test_judge_runs import back_to_today, migrate  # noqa: F401 - a fixture

BEFORE = [("judging", "0028_pipelines")]
NAMED = [("judging", "0029_batch_targets")]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("back_to_today")
def test_a_batch_that_is_out_is_collected_after_the_migration(owner, settings):
    settings.ASSAY_RUN_BATCH_POLL_SECONDS = 3_600
    study = factories.launch(factories.make_study("earlier", owner=owner, queries=3))
    with endpoint.serve() as served:
        run = start_run(study, make_judge(study, served, "coin", price_prompt=Decimal(1_000)), by_batch=True)
        work_on(run.pk, seconds=60)
        migrate(BEFORE)
        migrate(NAMED)
        judge = run.judging.judge
        assert CallBatch.objects.get().target == f"{judge.endpoint_id}:coin"
        settings.ASSAY_RUN_BATCH_POLL_SECONDS = 0.02
        CallBatch.objects.update(due_at=run.created_at)
        assert work_on(run.pk, beside=True).state == "complete"
    assert Run.objects.get().spent > 0
