"""One visit, reconciled without the whole study: it comes out as it does among all of them."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone

from annotator.models import Panel, PanelRecord, Submission
from annotator.panels.admin.pages import panel_url
from annotator.panels.platforms.errors import PanelError
from annotator.panels.reconciliation.corrections import link
from annotator.panels.reconciliation.overview import reconcile, reconcile_visit
from annotator.panels.services.readings import read_visit
from annotator.services.admission.entry import enter
from annotator.visit import Visit
from evaluation.models import StudyMember
from evaluation.refusals import Refused
from evaluation.services.exclusions import exclude
from tests.annotator.conftest import text
from tests.annotator.panels.panel_life import come, finish, recruiting_study
from tests.annotator.panels.panel_rows import (
    act,
    fail_check,
    finished_long_ago,
    make_panel_study,
    record,
    work,
)
from tests.annotator.panels.recruits import run

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel(owner):
    """With a visit of each sort that can be told from the others only by rows which it does not have itself."""
    panel = make_panel_study(owner=owner, queries=12)
    study = panel.study
    work(study, "good")
    record(panel, "good", "awaiting_review", code="CDONE")
    finished_long_ago(work(study, "unlisted"))
    record(panel, "stranger", "approved")
    checked = work(study, "checked")
    fail_check(checked)
    record(panel, "checked", "awaiting_review", code="CFAIL")
    left_out = work(study, "left-out")
    exclude(study=study, rater=left_out.rater, reason="Guessed.")
    record(panel, "left-out", "awaiting_review")
    # One person, two sessions, both standing; one of them here.
    work(study, "twice", 1)
    record(panel, "twice", "awaiting_review")
    record(panel, "twice", "active", session="visit-twice-b")
    # A bonus on a visit that is over, and a later one that awaits review.
    long_ago = timezone.now() - timedelta(days=3)
    work(study, "again", 1)
    over = record(panel, "again", "returned", session="visit-again-a", started_at=long_ago)
    act(panel, over, "bonus", "done", amount=Decimal("0.50"), purpose="thanks")
    record(panel, "again", "awaiting_review")
    # An address that was passed on: two participants under one session.
    work(study, "lender", 1)
    record(panel, "lender", "awaiting_review", code="CDONE")
    enter(study, Visit("prolific", "borrower", panel.external_id, "visit-lender"))
    # Linked by hand, under an id that it does not have itself.
    nameless = work(study, "", 1)
    linked = record(panel, "linked", "awaiting_review", session="elsewhere")
    link(linked, Submission.objects.get(participant=nameless))
    doubted = record(panel, "doubted", "approved")
    act(panel, doubted, "bonus", "unknown", amount=Decimal("0.75"), purpose="thanks")
    return panel


def told(mismatches):
    return [(each.key, each.sentence, each.remedies) for each in mismatches]


def test_each_visit_comes_out_as_among_all(panel):
    whole = reconcile(panel)
    kinds = set()
    for case in whole.cases:
        alone = reconcile_visit(panel, record=case.record, submission=case.submission)
        assert told(alone.mismatches) == told(whole.of_case(case)), case.key
        assert (alone.case.work, alone.case.holds_work) == (case.work, case.holds_work), case.key
        assert [each.pk for each in alone.case.acts] == [each.pk for each in case.acts]
        kinds |= {each.kind.key for each in alone.mismatches}
    assert kinds >= {
        "unknown_there", "unknown_here", "failed_checks", "left_out", "two_sessions", "bonus_before", "two_people",
        "unknown_outcome", "unfinished_here",
    }  # fmt: skip


def test_what_is_acknowledged_is_known_of_one_visit_too(panel, owner):
    stranger = PanelRecord.objects.get(external_id="visit-stranger")
    [found] = reconcile_visit(panel, record=stranger).mismatches
    panel.known_mismatches.create(key=found.key, note="Paid by hand.", by=owner)
    again = reconcile_visit(panel, record=stranger)
    assert (again.mismatches, [each.known.note for each in again.known]) == ((), ["Paid by hand."])


def test_a_visit_of_another_study_is_none(panel, owner):
    other = make_panel_study("other", owner=owner)
    assert reconcile_visit(other, record=PanelRecord.objects.get(external_id="visit-stranger")) is None


def test_it_reads_as_little_however_many_visits_there_are(panel, django_assert_max_num_queries):
    good = PanelRecord.objects.get(external_id="visit-good")
    for n in range(40):
        record(panel, f"one-of-many-{n}", "approved")
    with django_assert_max_num_queries(14):
        found = reconcile_visit(panel, record=good)
    assert found.case.record == good


# --- asking the panel about it ----------------------------------------------------------------------------------------


@pytest.fixture
def recruiting(prolific, owner):
    return recruiting_study(owner=owner)


def test_one_visit_is_read_without_the_others(prolific, recruiting):
    mine = finish(prolific, recruiting, "ann")
    other = finish(prolific, recruiting, "bea")
    made = read_visit(recruiting, mine)
    assert (made.status, made.submission.participant.external_id) == ("awaiting_review", "ann")
    assert not PanelRecord.objects.filter(external_id=other).exists()
    assert [each.path for each in prolific.sent("GET", "^/submissions/")] == [f"/submissions/{mine}/"]


def test_what_its_state_calls_for_is_done(prolific, recruiting):
    session, participant = come(prolific, recruiting, "ann")
    prolific.give_back(session)
    read_visit(recruiting, session)
    participant.refresh_from_db()
    assert participant.outcome == "returned"


def test_one_that_the_panel_does_not_know_changes_nothing(prolific, recruiting):
    with pytest.raises(PanelError):
        read_visit(recruiting, "nobody-s")
    assert not PanelRecord.objects.exists()


def test_one_of_another_study_there_is_refused(prolific, recruiting, owner):
    other = recruiting_study("other", owner=owner)
    session = finish(prolific, other, "ann")
    with pytest.raises(Refused, match="belongs to another study on Prolific"):
        read_visit(recruiting, session)
    assert not PanelRecord.objects.exists()


def test_the_page_reconciles_one_visit(prolific, recruiting, owner, colleague, outsider):
    session = finish(prolific, recruiting, "ann")
    read_visit(recruiting, session)
    there = PanelRecord.objects.get()
    address = panel_url(recruiting.study, "visit", there.pk)
    client = Client()
    client.force_login(owner)
    assert f'href="{address}">Reconcile' in client.get(panel_url(recruiting.study)).content.decode()
    assert session in text(client.get(address))
    prolific.give_back(session)
    done = client.post(address, {"reason": ""}, follow=True)
    there.refresh_from_db()
    assert there.status == "returned"
    assert f"Reconciled {session}: Returned or timed out, but its judgments count." in text(done)
    StudyMember.objects.create(study=recruiting.study, user=colleague, role="viewer")
    for user, status in ((colleague, 403), (outsider, 404)):
        client.force_login(user)
        assert client.post(address, {}).status_code == status
    assert client.get(panel_url(recruiting.study, "visit", there.pk + 1)).status_code == 404


def test_the_command_reconciles_one_visit(prolific, recruiting):
    session = finish(prolific, recruiting, "ann")
    said = run("panel", "paid", "sync", session)
    assert f"{session} on Prolific: awaiting review." in said
    prolific.give_back(session)
    assert "Returned or timed out, but its judgments count" in run("panel", "paid", "sync", session)
    assert Panel.objects.get().records.count() == 1
