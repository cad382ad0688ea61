"""Signs in single judgments, which stand beside them, and a participant's figures on their page."""

import pytest
from django.core.cache import cache
from django.urls import reverse

from annotator.models import Assignment
from annotator.services.quality import cached_quality
from annotator.services.quality.judgment_signs import judgment_signs
from evaluation.models import Judgment, Rater
from evaluation.services.judgments import JudgmentInput, record_judgments
from tests.annotator.services.people import ONE_ARM
from tests.crowd import come, hand_in, make_crowd_study
from tests.evaluation.admin.conftest import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def judged(owner):
    study = make_crowd_study("signs", queries=2, arms=ONE_ARM, owner=owner)
    return hand_in(come(study, "p1").token).judgment


def signs_of(judgment, **changes):
    Judgment.objects.filter(pk=judgment.pk).update(**changes)
    return judgment_signs([Judgment.objects.select_related("item").get(pk=judgment.pk)])[judgment.pk]


def test_haste_and_what_was_never_in_view(judged):
    slow = {"duration_ms": 60_000, "visible_ms": 60_000}
    assert signs_of(judged, **slow) == []
    (hasty,) = signs_of(judged, duration_ms=60_000, visible_ms=400)
    assert hasty.startswith("faster than anybody reads: 0.4 s for ")
    seen = {"screen": {"layout": "columns", "in_view": {"r1": 9_000}}}
    assert signs_of(judged, **slow, trace=seen) == ["a response never came into view"]
    assert signs_of(judged, **slow, trace={"screen": "an import's"}) == []


def test_gold_is_told_as_it_was_met(judged):
    assignments = Assignment.objects.filter(judgment=judged)
    told = []
    for passed in (True, False):
        assignments.update(passed=passed)
        told += signs_of(judged, duration_ms=60_000, visible_ms=None)
    assert told == ["gold right", "gold wrong"]


def test_nothing_is_said_of_those_who_did_not_take_part(judged):
    rater = Rater.objects.create(study=judged.study, kind="person", source="imported")
    given = JudgmentInput(
        rater_id=rater.pk,
        item_id=judged.item_id,
        revision_id=judged.revision_id,
        outcome="skipped",
        duration_ms=5,
    )
    record_judgments(study=judged.study, batch=[given])
    theirs = Judgment.objects.select_related("item").get(rater=rater)
    assert judgment_signs([theirs]) == {}


def test_in_a_large_study_the_figures_are_those_of_the_quality_page(judged, owner, monkeypatch):
    monkeypatch.setattr(cached_quality, "FEW", 0)
    cache.clear()  # of a study of this id in another test
    client = signed_in(owner)
    here = reverse("admin:annotator_participant_page", args=[judged.study.slug, judged.rater.participant.pk])
    quality = reverse("admin:evaluation_study_quality", args=[judged.study.slug])
    assert f'<a href="{quality}">Quality</a>' in client.get(here).content.decode()
    client.get(quality)
    assert "Median time" in client.get(here).content.decode()
