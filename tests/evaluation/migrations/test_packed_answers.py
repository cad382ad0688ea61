"""Judgments of before answers were packed are read as if they had always been."""

import pytest

from evaluation.models import Judgment
from evaluation.services import verify_study
from tests.analytics.reports.test_one_interval_answers import drawn
from tests.judging.migrations.test_judge_runs import back_to_today, migrate  # noqa: F401 - a fixture


def packed():
    rows = Judgment.objects.order_by("pk").values_list("pk", "answered", "labels", "numbers")
    return [(*row, None if numbers is None else bytes(numbers)) for *row, numbers in rows]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("back_to_today")
def test_the_migration_packs_what_is_there():
    study = drawn("aspects")
    before = packed()
    assert before
    assert all(answered for _, answered, _, _ in before)
    migrate([("evaluation", "0035_clarifying_source")])
    migrate([("evaluation", "0037_pack_answers")])
    assert packed() == before
    assert list(verify_study(study)) == []
