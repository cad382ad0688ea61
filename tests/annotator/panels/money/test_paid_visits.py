"""One person in several paid visits of one study: each is a submission there, with a code and pay of its own."""

from decimal import Decimal

import pytest
from django.core.management import call_command

from annotator.models import Assignment, Panel, PanelAct, PanelRecord, Participant, Submission
from annotator.panels.money.decisions import intend_approvals, intend_bonuses
from annotator.panels.money.sending import send
from annotator.panels.reconciliation.overview import reconcile
from annotator.panels.services.readings import sync
from evaluation.models import Judgment, Rater
from evaluation.selectors import counting_judgments
from evaluation.services.exclusions import exclude
from evaluation.services.studies.verification import verify_study
from tests.annotator.conftest import text
from tests.annotator.panels.panel_life import CODES, recruiting_study
from tests.crowd import hand_in

pytestmark = pytest.mark.django_db
FURTHER = {"completed_2": "CTWO", "completed_3": "CTHREE"}
THREE = ["CDONE", "CTWO", "CTHREE"]


@pytest.fixture
def panel(prolific, owner):
    return recruiting_study(owner=owner, visits=3, completion_codes=CODES | FURTHER)


def reconciled(panel):
    return reconcile(Panel.objects.select_related("study").get(pk=panel.pk))


def kinds(panel):
    """Of mismatches; places have tests of their own."""
    return [each.kind.key for each in reconciled(panel).mismatches if each.kind.key != "places"]


def comes(prolific, panel, client, person):
    """They take a place and open the study's page by it; the submission's id and the page."""
    session = prolific.arrive(panel.external_id, person)
    return session, text(client.get("/s/" + prolific.address(session).partition("/s/")[2], follow=True))


def goes_on(client, panel, person, session):
    ids = {"PROLIFIC_PID": person, "STUDY_ID": panel.external_id, "SESSION_ID": session}
    return text(client.post(f"/s/{panel.study.slug}/", ids | {"choice": "agree"}, follow=True))


def visits(prolific, panel, client, person="ann"):
    """A whole visit: from the place there to the code that they are shown and enter."""
    session, _ = comes(prolific, panel, client, person)
    goes_on(client, panel, person, session)
    participant = Participant.objects.get(external_id=person)
    for _ in range(participant.quota):
        hand_in(participant.token)
    page = text(client.get(f"/p/{participant.token}/"))
    [code] = [code for code in THREE if code in page.split()]
    prolific.complete(session, code)
    return session, code, page


def test_three_visits_come_to_three_codes_and_three_wages(prolific, panel, client, owner):
    came = [visits(prolific, panel, client) for _ in range(3)]
    assert [code for _, code, _ in came] == THREE
    assert "Visit 1 of 3 is done" in came[0][2]
    assert "take the study once more on Prolific" in came[1][2]
    assert "You have done all your 3 visits" in came[2][2]
    ann = Participant.objects.get()
    assert Rater.objects.filter(participant=ann).count() == 1
    assert [
        (each.external_id, each.visit_number, each.outcome) for each in ann.submissions.order_by("pk")
    ] == [(session, number, "completed") for number, (session, _, _) in enumerate(came, 1)]
    met = Assignment.objects.filter(participant=ann)
    assert met.values("item").distinct().count() == met.count() == 6
    assert sorted(met.values_list("visit_number", flat=True)) == [1, 1, 2, 2, 3, 3]
    assert [each.trace.get("visit_number", 1) for each in Judgment.objects.order_by("pk")] == [
        1,
        1,
        2,
        2,
        3,
        3,
    ]

    sync(panel)
    assert kinds(panel) == []
    found = reconciled(panel)
    assert {case.id for case in found.approvable} == {session for session, _, _ in came}
    assert found.money.wages.owed == 3 * Decimal("1.75")
    intend_approvals(panel, [case.record for case in found.approvable], owner)
    send(panel)
    send(panel)
    sync(panel)
    assert {each["status"] for each in prolific.submissions.values()} == {"APPROVED"}
    assert len(prolific.sent("POST", "/submissions/.+/transition/")) == 3
    assert reconciled(panel).money.wages.paid == 3 * Decimal("1.75")
    assert list(verify_study(panel.study)) == []
    call_command("verify", panel.study.slug)


def test_nobody_has_a_fourth_visit(prolific, panel, client):
    for _ in range(3):
        visits(prolific, panel, client)
    with pytest.raises(ValueError, match="has a submission already"):
        prolific.arrive(panel.external_id, "ann")
    page = goes_on(client, panel, "ann", "another")
    assert "You have already done this study" in page
    assert not set(page.split()) & {*THREE, CODES["full"]}
    assert counting_judgments(panel.study).count() == 6


def test_the_first_visit_s_code_is_another_s(prolific, panel, client):
    """Who comes again and enters the code that they know has done nothing for it; who works has another one."""
    visits(prolific, panel, client)
    session, _ = comes(prolific, panel, client, "ann")
    prolific.complete(session, "CDONE")
    sync(panel)
    assert "unfinished_here" in kinds(panel)
    assert session not in {case.id for case in reconciled(panel).approvable}
    goes_on(client, panel, "ann", session)
    ann = Participant.objects.get()
    for _ in range(2):
        hand_in(ann.token)
    [wrong] = [each for each in reconciled(panel).mismatches if each.kind.key == "code"]
    assert (
        "Ended here as “completed, visit 2” (CTWO) but entered CDONE, the code for “completed”."
        in wrong.sentence
    )


def test_a_returned_visit_is_not_paid_and_is_taken_again(prolific, panel, client):
    first, _, _ = visits(prolific, panel, client)
    second, _ = comes(prolific, panel, client, "ann")
    goes_on(client, panel, "ann", second)
    ann = Participant.objects.get()
    hand_in(ann.token)
    prolific.give_back(second)
    sync(panel)
    ann.refresh_from_db()
    assert (ann.visit_number, ann.outcome) == (2, "returned")
    assert Submission.objects.get(external_id=first).outcome == "completed"
    third, code, _ = _goes_on_with(prolific, panel, client, ann, 1)
    assert code == "CTWO"
    sync(panel)
    assert [case.id for case in reconciled(panel).approvable] == [third, first]
    assert reconciled(panel).money.wages.owed == 2 * Decimal("1.75")
    ann.refresh_from_db()
    assert ann.visit_number == 2
    assert Assignment.objects.filter(participant=ann, visit_number=2, state="submitted").count() == 2


def _goes_on_with(prolific, panel, client, participant, left):
    session, _ = comes(prolific, panel, client, participant.external_id)
    goes_on(client, panel, participant.external_id, session)
    for _ in range(left):
        hand_in(participant.token)
    page = text(client.get(f"/p/{participant.token}/"))
    [code] = [code for code in THREE if code in page.split()]
    prolific.complete(session, code)
    return session, code, page


def test_returned_work_is_discarded_of_its_visit_alone(prolific, panel, client):
    Panel.objects.update(returned="discard")
    visits(prolific, panel, client)
    second, _ = comes(prolific, panel, client, "ann")
    goes_on(client, panel, "ann", second)
    ann = Participant.objects.get()
    hand_in(ann.token)
    prolific.give_back(second)
    sync(panel)
    assert counting_judgments(panel.study).count() == 2


def test_what_was_finished_too_late_is_handed_in_again_before_the_next_visit(prolific, panel, client):
    first, _ = comes(prolific, panel, client, "ann")
    goes_on(client, panel, "ann", first)
    ann = Participant.objects.get()
    for _ in range(2):
        hand_in(ann.token)
    prolific.time_out(first)
    sync(panel)
    again, _ = comes(prolific, panel, client, "ann")
    assert "CDONE" in goes_on(client, panel, "ann", again)
    prolific.complete(again, "CDONE")
    sync(panel)
    ann.refresh_from_db()
    assert ann.visit_number == 1
    _, code, _ = visits(prolific, panel, client)
    assert code == "CTWO"
    sync(panel)
    assert kinds(panel) == []
    assert reconciled(panel).money.wages.owed == 2 * Decimal("1.75")


def test_a_bonus_is_of_one_visit(prolific, panel, client, owner):
    sessions = [visits(prolific, panel, client)[0] for _ in range(2)]
    sync(panel)
    records = {each.external_id: each for each in PanelRecord.objects.all()}
    for session in sessions:
        intend_bonuses(panel, {records[session]: Decimal("0.50")}, "careful work", owner)
    send(panel)
    assert sorted(prolific.paid) == sorted((session, Decimal("0.50")) for session in sessions)
    assert PanelAct.objects.filter(kind="bonus", state="done").count() == 2


def test_a_person_who_is_excluded_has_no_next_visit(prolific, panel, client, owner):
    visits(prolific, panel, client)
    ann = Participant.objects.get()
    exclude(study=panel.study, rater=ann.rater, reason="Careless.", by=owner)
    assert counting_judgments(panel.study).count() == 0
    session, _ = comes(prolific, panel, client, "ann")
    assert "You have already done this study" in goes_on(client, panel, "ann", session)
    ann.refresh_from_db()
    assert ann.visit_number == 1


def test_the_draft_there_allows_so_many_submissions(prolific, panel):
    [there] = prolific.studies.values()
    assert there["submissions_config"] == {"max_submissions_per_participant": 3}
    assert {each["code"] for each in there["completion_codes"]} >= set(THREE)
