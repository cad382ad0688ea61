"""One person in several visits, each by a study of its own on the panel, which is linked here."""

import json
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.urls import reverse
from django.utils import timezone

from annotator.models import LinkedStudy, Panel, PanelAct, PanelRecord, Participant
from annotator.panels.money.decisions import intend_approvals, intend_bonuses
from annotator.panels.money.sending import send
from annotator.panels.platforms.api import CompletionCode, StudyAction, StudyDraft
from annotator.panels.reconciliation.overview import reconcile
from annotator.panels.selectors import panels_to_sync
from annotator.panels.services import recruiting
from annotator.panels.services.arrivals import study_address
from annotator.panels.services.connection import open_client
from annotator.panels.services.events import apply_events, receive
from annotator.panels.services.linked_studies import link_study, unlink_study
from annotator.panels.services.readings import read_visit, sync
from annotator.panels.services.submission_records import ReportedState, note_status
from evaluation.models import Study, StudyMember
from evaluation.selectors import counting_judgments
from evaluation.services.studies.verification import verify_study
from tests.annotator.conftest import text
from tests.annotator.panels.panel_life import CODES, recruiting_study
from tests.annotator.panels.recruits import problems_of, run
from tests.crowd import hand_in
from tests.evaluation.admin.conftest import make_user

pytestmark = pytest.mark.django_db
ADDRESS = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"


@pytest.fixture
def panel(prolific, owner):
    """Drafted and published while it was of one visit; three are paid by now."""
    panel = recruiting_study(owner=owner)
    Study.objects.filter(pk=panel.study_id).update(visits=3)
    return again(panel)


def again(panel):
    return Panel.objects.select_related("study").get(pk=panel.pk)


def made_there(panel, completed, *, published=True, **other):
    """A study that a researcher makes on the panel by a copy of the first, with another code; its id."""
    codes = CODES | other | {"completed": completed}
    draft = StudyDraft(
        name="Further", internal_name="Further", description="Reading", address=study_address(panel.study) + ADDRESS,
        codes=tuple(CompletionCode(outcome, code) for outcome, code in codes.items() if code), places=8, minutes=7,
        pay=Decimal("1.75"),
    )  # fmt: skip
    with open_client("prolific") as client:
        there = client.create_study(draft)
        if published:
            client.transition_study(there.id, StudyAction.PUBLISH)
    return there.id


@pytest.fixture
def further(panel, owner):
    """The studies of visits 2 and 3, linked."""
    made = [made_there(panel, code) for code in ("CTWO", "CTHREE")]
    for number, each in enumerate(made, 2):
        link_study(again(panel), each, number, by=owner)
    return made


def visits(prolific, panel, study, client, person="ann", *, hands_in=None):
    """A whole visit by that study there: the submission's id, and the page with the code."""
    session = prolific.arrive(study, person)
    client.get("/s/" + prolific.address(session).partition("/s/")[2], follow=True)
    ids = {"PROLIFIC_PID": person, "STUDY_ID": study, "SESSION_ID": session}
    client.post(f"/s/{panel.study.slug}/", ids | {"choice": "agree"}, follow=True)
    participant = Participant.objects.get(external_id=person)
    for _ in range(participant.quota if hands_in is None else hands_in):
        hand_in(participant.token)
    return session, text(client.get(f"/p/{participant.token}/"))


def kinds(panel):
    """Of mismatches; places have tests of their own."""
    found = reconcile(again(panel)).mismatches
    return [each.kind.key for each in found if each.kind.key != "places"]


def test_three_studies_there_come_to_three_codes_and_three_wages(prolific, panel, further, client, owner):
    came = []
    for study, code in zip([panel.external_id, *further], ["CDONE", "CTWO", "CTHREE"], strict=True):
        session, page = visits(prolific, panel, study, client)
        assert code in page.split()
        assert not {"CDONE", "CTWO", "CTHREE"} - {code} & set(page.split())
        prolific.complete(session, code)
        came.append(session)
    assert Participant.objects.count() == 1
    assert counting_judgments(panel.study).count() == 6

    sync(again(panel))
    assert kinds(panel) == []
    found = reconcile(again(panel))
    assert {case.id: case.visit_number for case in found.approvable} == dict(
        zip(came, (1, 2, 3), strict=True)
    )
    assert found.money.wages.owed == 3 * Decimal("1.75")
    intend_approvals(panel, [case.record for case in found.approvable], owner)
    send(again(panel))
    sync(again(panel))
    assert [prolific.submissions[each]["status"] for each in came] == ["APPROVED"] * 3
    assert len(prolific.sent("POST", "/submissions/.+/transition/")) == 3
    assert reconcile(again(panel)).money.wages.paid == 3 * Decimal("1.75")
    assert kinds(panel) == []
    assert list(verify_study(panel.study)) == []
    call_command("verify", panel.study.slug)


def test_bonuses_are_set_up_in_each_study_of_its_own(prolific, panel, further, client, owner):
    sessions = []
    for study, code in zip([panel.external_id, *further], ["CDONE", "CTWO", "CTHREE"], strict=True):
        session, _ = visits(prolific, panel, study, client)
        prolific.complete(session, code)
        sessions.append(session)
    sync(again(panel))
    records = PanelRecord.objects.filter(external_id__in=sessions)
    intend_bonuses(panel, dict.fromkeys(records, Decimal("0.50")), "careful work", owner)
    send(again(panel))
    assert sorted(prolific.paid) == sorted((each, Decimal("0.50")) for each in sessions)
    assert {each.body["study_id"] for each in prolific.sent("POST", "bonus-payments/$")} == {
        panel.external_id,
        *further,
    }


def test_a_submission_of_a_further_study_is_read_alone_and_told_by_webhooks(prolific, panel, further, client):
    first, _ = visits(prolific, panel, panel.external_id, client)
    prolific.complete(first, "CDONE")
    second, _ = visits(prolific, panel, further[0], client, hands_in=1)
    assert read_visit(again(panel), second).status == "active"
    prolific.give_back(second)
    for event in prolific.events:
        raw = json.dumps(event.body).encode()
        receive("prolific", raw, prolific.headers(event, raw))
    apply_events()
    record = PanelRecord.objects.get(external_id=second)
    assert (record.status, record.study_there) == ("returned", further[0])
    ann = Participant.objects.get()
    assert (ann.visit_number, ann.outcome) == (2, "returned")
    assert kinds(panel) == ["returned_useful"]


def test_a_further_study_that_is_paused_there_is_known_as_paused(prolific, panel, further):
    with open_client("prolific") as client:
        client.transition_study(further[1], StudyAction.PAUSE)
    sync(again(panel))
    assert list(LinkedStudy.objects.values_list("visit_number", "status")) == [(2, "ACTIVE"), (3, "PAUSED")]
    assert again(panel).status == "ACTIVE"


def test_one_whose_address_names_another_study_waits_for_a_person(prolific, panel, further, client):
    first, _ = visits(prolific, panel, panel.external_id, client)
    prolific.complete(first, "CDONE")
    second = prolific.arrive(further[0], "ann")
    # As though their submission were of the first study.
    ids = {"PROLIFIC_PID": "ann", "STUDY_ID": panel.external_id, "SESSION_ID": second}
    client.post(f"/s/{panel.study.slug}/", ids | {"choice": "agree"}, follow=True)
    for _ in range(2):
        hand_in(Participant.objects.get().token)
    prolific.complete(second, "CTWO")
    sync(again(panel))
    assert "other_id" in kinds(panel)
    assert second not in {case.id for case in reconcile(again(panel)).approvable}


def test_places_are_those_of_all_studies(panel, further):
    sync(again(panel))
    [line] = [each for each in reconcile(again(panel)).lines if each.name == "Places"]
    assert line.there == f"{panel.places + 16}: 0 taken, {panel.places + 16} free"


def test_the_first_study_can_be_paused_and_resumed_though_further_codes_came_later(panel, further):
    assert recruiting.pause(again(panel)).status == "PAUSED"
    assert recruiting.start(again(panel)).status == "ACTIVE"


def test_it_is_read_until_the_last_of_its_studies_is_over(prolific, panel, further):
    for each in (panel.external_id, further[0]):
        prolific.studies[each]["status"] = "COMPLETED"
    sync(again(panel))
    assert list(panels_to_sync()) == [panel]
    prolific.studies[further[1]]["status"] = "COMPLETED"
    sync(again(panel))
    assert list(panels_to_sync()) == []


def test_what_does_not_fit_is_not_linked(prolific, panel, further, owner):
    there = made_there(panel, "CTWO")
    assert (
        f"Visit 2 has a linked study already, {further[0]}"
        in problems_of(link_study, again(panel), there, 2)[0]
    )
    assert "belongs to a study here already" in problems_of(link_study, again(panel), further[0], 2)[0]
    assert "belongs to a study here already" in problems_of(link_study, again(panel), panel.external_id, 2)[0]
    assert (
        "3 visits per participant: there is no visit 4" in problems_of(link_study, again(panel), there, 4)[0]
    )
    assert "The first visit" in problems_of(link_study, again(panel), there, 1)[0]
    unlink_study(again(panel), further[0], by=owner)
    Study.objects.filter(pk=panel.study_id).update(
        completion_codes=CODES | {"completed_2": "CTWO", "completed_3": "CTHREE"}
    )
    assert "lacks the code CTWO" in problems_of(link_study, again(panel), made_there(panel, "CTHREE"), 2)[0]
    [lacks, strange] = problems_of(link_study, again(panel), made_there(panel, "CTWO", full="XFULL"), 2)
    assert "lacks the code CFULL of “study full”" in lacks
    assert "XFULL, which is none of this study's" in strange
    assert list(LinkedStudy.objects.values_list("external_id", flat=True)) == [further[1]]


@pytest.mark.parametrize("lists", ["empty", "refused"])
def test_one_that_is_gone_is_named_so_and_the_others_are_read(
    prolific, panel, further, client, monkeypatch, lists
):
    first, _ = visits(prolific, panel, panel.external_id, client)
    prolific.complete(first, "CDONE")
    second, _ = visits(prolific, panel, further[0], client)
    prolific.complete(second, "CTWO")
    del prolific.studies[further[1]]
    all_submissions = prolific.all_submissions

    def known(asked):
        return (
            all_submissions(asked)
            if asked.query["study"] in prolific.studies
            else prolific.one_study(asked, "")
        )

    if lists == "refused":
        monkeypatch.setattr(prolific, "all_submissions", known)
    said = run("panel", panel.study.slug, "sync")
    assert f"Visit 3 on Prolific ({further[1]}): gone, 0 places." in said
    assert set(PanelRecord.objects.values_list("external_id", "status")) == {
        (first, "awaiting_review"),
        (second, "awaiting_review"),
    }
    PanelRecord.objects.update(status="approved")
    for each in (panel.external_id, further[0]):
        prolific.studies[each]["status"] = "COMPLETED"
    recruiting.sync_study(again(panel))
    assert list(panels_to_sync()) == []


def test_unlinking_a_wrong_one_lets_the_right_one_be_linked(prolific, panel, owner):
    wrong, right = made_there(panel, "CWRONG"), made_there(panel, "CTWO")
    link_study(again(panel), wrong, 2, by=owner)
    said = run("panel", panel.study.slug, "unlink", wrong)
    assert f"Unlinked: Visit 2 on Prolific ({wrong}): recruiting, 8 places." in said
    assert again(panel).study.completion_codes == CODES
    assert recruiting.pause(again(panel)).status == "PAUSED"
    link_study(again(panel), right, 2, by=owner)
    assert again(panel).study.completion_codes == CODES | {"completed_2": "CTWO"}


def test_one_that_is_gone_can_be_unlinked(prolific, panel, further):
    del prolific.studies[further[1]]
    sync(again(panel))
    run("panel", panel.study.slug, "unlink", further[1])
    assert list(LinkedStudy.objects.values_list("external_id", flat=True)) == [further[0]]
    assert again(panel).study.completion_codes == CODES | {"completed_2": "CTWO"}


def test_a_code_that_the_first_study_has_stays_when_another_is_unlinked(prolific, owner):
    panel = recruiting_study(owner=owner, visits=2)
    code = again(panel).study.completion_codes["completed_2"]
    there = made_there(panel, code)
    link_study(again(panel), there, 2, by=owner)
    unlink_study(again(panel), there, by=owner)
    assert again(panel).study.completion_codes["completed_2"] == code


def test_nothing_that_is_owed_or_was_paid_is_lost_by_unlinking(prolific, panel, further, client, owner):
    first, _ = visits(prolific, panel, panel.external_id, client)
    prolific.complete(first, "CDONE")
    second, _ = visits(prolific, panel, further[0], client)
    lost = f"1 submission of {further[0]} on Prolific would be lost"
    assert "not been read from Prolific yet" in problems_of(unlink_study, again(panel), further[0])[0]
    for act in (
        lambda: None,
        lambda: prolific.complete(second, "CTWO"),
        lambda: approve(panel, second, owner),
    ):
        act()
        sync(again(panel))
        assert lost in problems_of(unlink_study, again(panel), further[0])[0]
    assert PanelRecord.objects.get(external_id=second).status == "approved"
    assert "not linked to this study" in problems_of(unlink_study, again(panel), "nowhere")[0]


def approve(panel, session, owner):
    intend_approvals(panel, [PanelRecord.objects.get(external_id=session)], owner)
    send(again(panel))


def test_who_returned_goes_with_an_unlinked_study_and_is_not_taken_for_one_of_the_first(
    prolific, panel, further, client, owner
):
    first, _ = visits(prolific, panel, panel.external_id, client)
    prolific.complete(first, "CDONE")
    second, _ = visits(prolific, panel, further[0], client, hands_in=1)
    prolific.give_back(second)
    sync(again(panel))
    record = PanelRecord.objects.get(external_id=second)
    act = PanelAct.objects.create(panel=panel, record=record, kind="request_return", state="cancelled")
    assert "would be lost" in problems_of(unlink_study, again(panel), further[0])[0]
    act.delete()
    PanelRecord.objects.filter(pk=record.pk).update(bonuses=Decimal("0.50"), bonuses_at=timezone.now())
    assert "would be lost" in problems_of(unlink_study, again(panel), further[0])[0]
    PanelRecord.objects.filter(pk=record.pk).update(bonuses=0)
    unlink_study(again(panel), further[0], by=owner)
    # What a reading found that began before.
    late = ReportedState(second, "ann", "returned", timezone.now(), study_id=further[0])
    assert note_status(again(panel), late) is None
    sync(again(panel))
    assert list(PanelRecord.objects.values_list("external_id", flat=True)) == [first]
    assert kinds(panel) == []


def test_a_code_that_another_visit_has_is_not_taken_for_a_new_one(panel):
    there = made_there(panel, "CDONE")
    assert "must have one code for who completes" in problems_of(link_study, again(panel), there, 2)[0]
    panel.refresh_from_db()
    assert again(panel).study.completion_codes == CODES


def test_the_command_links_and_says_so(panel):
    there = made_there(panel, "CTWO", published=False)
    said = run("panel", panel.study.slug, "link", there, "2")
    assert f"Visit 2 on Prolific ({there}): a draft, 8 places." in said
    with pytest.raises(CommandError, match="Which study there"):
        run("panel", panel.study.slug, "link", there)


@pytest.mark.parametrize("words", [("link", "..", "2"), ("link", "", "2"), ("sync", "..")])
def test_the_command_refuses_what_is_no_id(panel, words):
    with pytest.raises(CommandError, match="is not a Prolific id"):
        run("panel", panel.study.slug, *words)


@pytest.mark.parametrize("dots", [".", ".."])
def test_the_page_refuses_an_id_of_dots(panel, client, owner, dots):
    client.force_login(owner)
    address = reverse("admin:evaluation_study_panel_link_study", args=[panel.study.slug])
    answered = client.post(address, {"external_id": dots, "visit": "2", "reason": ""})
    assert answered.status_code == 422
    assert f"{dots}&#x27; is not a Prolific id." in answered.content.decode()


def test_the_pages_link_and_show_it(panel, client, owner):
    there = made_there(panel, "CTWO")
    client.force_login(owner)
    page = client.get(reverse("admin:evaluation_study_panel", args=[panel.study.slug])).content.decode()
    address = reverse("admin:evaluation_study_panel_link_study", args=[panel.study.slug])
    assert address in page
    form = client.get(address)
    assert form.context["form"].initial["visit"] == 2
    answered = client.post(address, {"external_id": "nowhere", "visit": "2", "reason": ""})
    assert answered.status_code == 422
    assert not LinkedStudy.objects.exists()
    client.post(address, {"external_id": there, "visit": "2", "reason": "The second sitting."})
    for name in ("panel", "platform"):
        shown = client.get(reverse(f"admin:evaluation_study_{name}", args=[panel.study.slug]))
        assert f"Visit 2 on Prolific ({there}): recruiting, 8 places." in shown.content.decode()
    places = client.get(
        reverse("admin:evaluation_study_panel_places", args=[panel.study.slug])
    ).content.decode()
    assert "to those of further visits, add them on Prolific" in places
    history = client.get(reverse("admin:evaluation_study_history", args=[panel.study.slug])).content.decode()
    assert "The second sitting." in history


def test_the_pages_unlink_it(prolific, panel, further, client, owner):
    viewer = make_user("viewer")
    StudyMember.objects.create(study=panel.study, user=viewer, role="viewer")
    address = reverse("admin:evaluation_study_panel_unlink_study", args=[panel.study.slug])
    client.force_login(viewer)
    assert client.post(address, {"study": further[1], "reason": ""}).status_code == 403
    client.force_login(owner)
    assert (
        address
        in client.get(reverse("admin:evaluation_study_panel", args=[panel.study.slug])).content.decode()
    )
    asked = client.get(address).content.decode()
    assert all(each in asked for each in further)
    assert client.post(address, {"study": "nowhere", "reason": ""}).status_code == 422
    client.post(address, {"study": further[1], "reason": "It was another's."})
    assert list(LinkedStudy.objects.values_list("external_id", flat=True)) == [further[0]]
    history = client.get(reverse("admin:evaluation_study_history", args=[panel.study.slug])).content.decode()
    assert f"Unlinked Visit 3 on Prolific ({further[1]}): recruiting, 8 places." in history
    assert "It was another&#x27;s." in history


def test_finished_by_a_further_study_and_unknown_there_is_a_mismatch(prolific, panel, further, client):
    visits(prolific, panel, panel.external_id, client)
    Participant.objects.get().submissions.update(ended_at=timezone.now() - timedelta(hours=1))
    sync(again(panel))
    assert kinds(panel) == ["unknown_there"]
