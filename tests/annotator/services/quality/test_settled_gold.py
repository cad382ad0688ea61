"""Settled labels as gold: read on the page Quality, with items as they were frozen."""

import pytest
from django.urls import reverse

from annotator.services.quality.cached_quality import cached_quality
from annotator.services.quality.participant_quality import quality_of
from evaluation.models import Item
from evaluation.permissions import NoRight
from evaluation.refusals import Refused
from evaluation.services.exclusions import exclude
from evaluation.services.settled_gold import settled_gold, use_settled_as_gold
from evaluation.services.settling import settle_item
from evaluation.services.studies.verification import verify_study
from tests import factories
from tests.crowd import come, hand_in
from tests.protocol_factories import make_context_validation_study

pytestmark = pytest.mark.django_db
ANSWERS = {"justification": "It names the source."}


@pytest.fixture
def judged(owner):
    """A live study of two pairs; a participant prefers the first response of both."""
    study = factories.launched_pairs("gold", 2, owner=owner, steps=factories.NO_STEPS)
    participant = come(study)
    for _ in range(2):
        hand_in(participant.token)
    return study


def settle(study, member, *labels):
    items = study.items.filter(role="main").order_by("pk")
    return [
        settle_item(item, ANSWERS | {"preference": label}, reason="So it is.", by=member)
        for item, label in zip(items, labels, strict=False)
    ]


def gold_share(study):
    [report] = quality_of(study)
    [(_, figures)] = cached_quality(study)
    assert figures["gold"] == report.gold
    return str(report.gold)


def test_quality_reads_settled_labels_once_they_are_used(judged, owner, client):
    first, _ = settle(judged, owner, "r1", "r2")
    assert gold_share(judged) == ""
    client.force_login(owner)
    page = reverse("admin:evaluation_study_settled_as_gold", args=[judged.slug])
    assert "no ground for rejection" in client.get(page).content.decode()
    assert "Settled labels are gold." in client.post(page, follow=True).content.decode()
    judged.refresh_from_db()
    assert gold_share(judged) == "1 of 2"
    exclude(study=judged, judgment=first, reason="A slip.")
    judged.refresh_from_db()
    assert gold_share(judged) == "0 of 1"
    assert set(Item.objects.filter(study=judged).values_list("gold", flat=True)) == {None}
    assert list(verify_study(judged)) == []
    assert "no gold any more" in client.post(page, follow=True).content.decode()
    judged.refresh_from_db()
    assert gold_share(judged) == ""


def test_two_who_differ_give_no_gold_and_own_gold_stays(judged, owner, colleague):
    judged.members.create(user=colleague, role="editor")
    use_settled_as_gold(judged, use=True, by=owner)
    settle(judged, owner, "r1", "r2")
    settle(judged, colleague, "r1", "r1")
    one, two = judged.items.filter(role="main").order_by("pk")
    assert settled_gold(judged) == {one.pk: {"preference": ["r1"]}}
    assert two.pk not in settled_gold(judged)
    Item.objects.filter(pk=one.pk).update(gold={"preference": ["tie"]})
    assert settled_gold(judged) == {}


def test_what_can_not_be_gold_is_refused(judged, owner, colleague):
    with pytest.raises(Refused, match="No question is about the item as a whole"):
        use_settled_as_gold(make_context_validation_study(owner=owner), use=True, by=owner)
    with pytest.raises(Refused, match="done already"):
        use_settled_as_gold(judged, use=False, by=owner)
    judged.members.create(user=colleague, role="viewer")
    with pytest.raises(NoRight):
        use_settled_as_gold(judged, use=True, by=colleague)
