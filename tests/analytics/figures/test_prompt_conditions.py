"""Prompt conditions of one judge side by side, with their difference item by item."""

import pytest

from analytics.reports.build import build_report
from evaluation.models import Rater
from tests.analytics.frames.test_pairs import record
from tests.analytics.reports.judging import judged_study, main_items

pytestmark = pytest.mark.django_db


def test_each_condition_stands_beside_the_one_with_everything():
    study = judged_study(queries=4)
    items = main_items(study)
    people = [Rater.objects.create(study=study, kind="person", pseudonym=f"p{n}") for n in (1, 2)]
    for item in items:
        for person in people:
            record(study, person, item, "r1")
    said = {"basic": "r2", "guideline-examples": "r1"}
    for name, other in said.items():
        about = {"judge": f"href-{name}", "version": 1}
        rater = Rater.objects.create(study=study, kind="judge", pseudonym=name, label=name, about=about)
        for place, item in enumerate(items):
            record(study, rater, item, "r1" if place % 2 else other)
    report = build_report(study, replicates=50, only=["judges/prompt_conditions"])
    [found] = [each for each in report["records"] if each["figure"] == "judges/prompt_conditions"]
    assert (found["group"], found["full"]) == ("basic", "guideline-examples")
    assert found["full_agreement"]["value"] - found["agreement"]["value"] == pytest.approx(
        -found["difference"]["value"]
    )
    assert found["difference"]["value"] < 0
    assert found["difference"]["low"] <= found["difference"]["value"] <= found["difference"]["high"]
