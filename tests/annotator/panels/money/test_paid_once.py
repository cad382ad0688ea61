"""Who takes the study again after they had finished it hands the same work in once, and is paid for it once."""

from decimal import Decimal

import pytest

from annotator.models import Panel, PanelAct, PanelRecord
from annotator.panels.money.decisions import intend_bonuses
from annotator.panels.money.sending import send
from annotator.panels.money.settlement import cancel
from annotator.panels.reconciliation.overview import reconcile
from annotator.panels.services.readings import sync
from evaluation.models import Exclusion
from evaluation.selectors import counting_judgments
from tests.annotator.conftest import text
from tests.annotator.panels.panel_life import come, recruiting_study, work

pytestmark = pytest.mark.django_db
PAY = Decimal("1.75")


@pytest.fixture
def panel(prolific, owner):
    return recruiting_study(owner=owner)


def kinds(panel):
    """Of mismatches; places have tests of their own."""
    found = reconcile(Panel.objects.select_related("study").get(pk=panel.pk)).mismatches
    return [each.kind.key for each in found if each.kind.key != "places"]


def comes_again(prolific, panel, client, person):
    """They take a place once more and go on with what they are shown; the submission's id and the page they end on."""
    session = prolific.arrive(panel.external_id, person)
    ids = {"PROLIFIC_PID": person, "STUDY_ID": panel.external_id, "SESSION_ID": session}
    answer = client.post(f"/s/{panel.study.slug}/", ids | {"choice": "agree"}, follow=True)
    return session, text(answer)


@pytest.mark.parametrize("end", ["time_out", "give_back"])
def test_who_has_a_bonus_in_place_of_pay_hands_nothing_in_again(prolific, panel, client, owner, end):
    session, ann = come(prolific, panel, "ann")
    work(ann, 2)
    getattr(prolific, end)(session)
    sync(panel)
    [paid] = intend_bonuses(panel, {PanelRecord.objects.get(): PAY}, "their pay", owner)
    for _ in ("before it is sent", "and after"):
        again, page = comes_again(prolific, panel, client, "ann")
        assert "You have already done this study" in page
        assert "CDONE" not in page
        prolific.give_back(again)
        send(panel)
    assert prolific.paid == [(session, PAY)]
    again, _ = comes_again(prolific, panel, client, "ann")
    # She has the code from the first time.
    prolific.complete(again, "CDONE")
    sync(panel)
    assert "bonus_before" in kinds(panel)
    assert reconcile(panel).approvable == ()
    assert PanelAct.objects.get() == paid


def test_who_was_to_get_a_bonus_that_was_never_sent_hands_in_again(prolific, panel, client, owner):
    session, ann = come(prolific, panel, "ann")
    work(ann, 2)
    prolific.time_out(session)
    sync(panel)
    [intended] = intend_bonuses(panel, {PanelRecord.objects.get(): PAY}, "their pay", owner)
    cancel(intended, "She takes it again.", owner)
    again, page = comes_again(prolific, panel, client, "ann")
    assert "CDONE" in page
    prolific.complete(again, "CDONE")
    sync(panel)
    assert kinds(panel) == []
    assert [case.id for case in reconcile(panel).approvable] == [again]


def test_nobody_hands_in_again_what_was_discarded(prolific, panel, client):
    """Nothing judged on the first visit; on the second all of it, and that was given back."""
    Panel.objects.update(returned="discard")
    first, ann = come(prolific, panel, "ann")
    prolific.give_back(first)
    sync(panel)
    second, _ = come(prolific, panel, "ann")
    work(ann, 2)
    assert ann.outcome == "completed"
    prolific.give_back(second)
    sync(panel)
    assert not counting_judgments(panel.study).exists()
    assert not Exclusion.objects.exclude(rater=None).exists()
    third, page = comes_again(prolific, panel, client, "ann")
    assert "CDONE" not in page
    prolific.complete(third, "CDONE")
    sync(panel)
    assert reconcile(panel).approvable == ()
