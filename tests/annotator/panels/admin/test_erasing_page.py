"""The page on which an owner erases a participant."""

import pytest
from django.urls import reverse

from annotator.models import PanelRecord, Participant
from annotator.services.erasing import plan_erasure
from evaluation.models import Judgment, Note, StudyMember
from evaluation.services.exclusions import exclude
from evaluation.services.notes import add_note
from evaluation.services.settling import settle_item
from evaluation.services.studies.launch import close_study
from tests.annotator.conftest import text
from tests.annotator.panels.panel_rows import make_panel_study, record, work
from tests.annotator.panels.recruits import run
from tests.evaluation.admin.conftest import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel(owner):
    return make_panel_study("paid", owner=owner)


@pytest.fixture
def participant(panel):
    found = work(panel.study, "ann")
    record(panel, "ann", "approved", submission=found.submissions.get())
    return found


def address(participant):
    return reverse("admin:annotator_participant_erase", args=[participant.study.slug, participant.pk])


def filled_in(participant, **given):
    return {"typed": participant.rater.pseudonym, "reason": "They asked for it.", "slots": "again", **given}


def test_it_lists_what_goes_what_stays_and_what_is_out_of_reach(participant, owner):
    said = text(signed_in(owner).get(address(participant)))
    for each in (
        "2 judgments with all answers", "the platform's ids for them and for 1 visit", "amount and day", "backups",
        "Open again: others judge these items",
    ):  # fmt: skip
        assert each in said


def test_it_lists_where_others_have_named_them(panel, participant, owner):
    study, other = panel.study, work(panel.study, "bob-the-second")
    item, pseudonym = study.items.first(), participant.rater.pseudonym
    add_note(item, text=f"Ask {pseudonym}, the one from Leeds, about this.", by=owner)
    add_note(item, text="Nothing about anybody.", by=owner)
    judgment = other.rater.judgments.first()
    add_note(judgment.item, judgment=judgment, text="See visit-ann, who says otherwise.", by=owner)
    exclude(study=study, rater=other.rater, reason=f"Copied from {pseudonym}.", by=owner)
    Participant.objects.filter(pk=other.pk).update(comments="I sat beside visit-ann.")
    satisfied = {f"{follow_up}.{response}": True for follow_up in ("f1", "f2") for response in ("r1", "r2")}
    answers = {"preference": "r1", "satisfied": satisfied, "justification": "It names the source."}
    settle_item(item, answers, reason="As visit-ann says.", by=owner)
    said = text(signed_in(owner).get(address(participant)))
    for each in (
        f"note of {owner} on item {item.key}",
        f"note of {owner} on item {judgment.item.key}",
        f"reason of an exclusion of {other.rater}",
        f"comment of {other.rater}",
        f"reason of a settled label of {owner} on item {item.key}",
    ):
        assert each in said
    assert len(plan_erasure(participant, by=owner).mentions) == 5
    answer = run("erase", study.slug, pseudonym, "--reason", "They asked for it.", "--deal-again")
    assert (
        f"Words of others that name them, to be looked at by you:\n- note of {owner} on item {item.key}"
        in answer
    )
    assert Note.objects.filter(text__contains="the one from Leeds").exists()
    assert not Note.objects.filter(text__contains=pseudonym).exists()


def test_nobody_is_named_where_nobody_is(participant, owner):
    assert "Words of others" not in text(signed_in(owner).get(address(participant)))


def test_nothing_is_erased_without_the_pseudonym_the_choice_and_a_reason(participant, owner):
    client = signed_in(owner)
    for wrong in ({"typed": "ann"}, {"slots": ""}, {"reason": ""}):
        answer = client.post(address(participant), filled_in(participant, **wrong))
        assert answer.status_code == 422
    assert "Type the pseudonym" in text(
        client.post(address(participant), filled_in(participant, typed="ann"))
    )
    assert Participant.objects.filter(pk=participant.pk).exists()


def test_it_erases_and_leads_to_the_list(participant, owner):
    client = signed_in(owner)
    answer = client.post(address(participant), filled_in(participant), follow=True)
    assert answer.redirect_chain == [(reverse("admin:annotator_participant_list", args=["paid"]), 302)]
    assert "Erased a participant: 2 judgments, whose slots open again." in text(answer)
    assert not Judgment.objects.exists()
    assert client.get(address(participant)).status_code == 404


def test_unsettled_it_says_why_and_offers_no_button(participant, owner):
    PanelRecord.objects.update(status="awaiting_review")
    client = signed_in(owner)
    said = client.get(address(participant))
    assert "Submission visit-ann is awaiting review on Prolific" in text(said)
    assert b"Erase this participant</button>" not in said.content
    assert client.post(address(participant), filled_in(participant)).status_code == 422


def test_a_closed_study_asks_for_no_slots(participant, owner):
    close_study(participant.study, by=owner)
    client = signed_in(owner)
    assert "Open again" not in text(client.get(address(participant)))
    client.post(address(participant), filled_in(participant))
    assert not Participant.objects.filter(pk=participant.pk).exists()


def test_owners_alone_see_the_button_and_the_page(participant, owner, colleague, outsider):
    StudyMember.objects.create(study=participant.study, user=colleague, role="editor")
    here = reverse("admin:annotator_participant_page", args=["paid", participant.pk])
    for user, status in ((colleague, 403), (outsider, 404)):
        client = signed_in(user)
        assert client.get(address(participant)).status_code == status
        assert client.post(address(participant), filled_in(participant)).status_code == status
    assert "Erase this participant" in text(signed_in(owner).get(here))
    assert "Erase this participant" not in text(signed_in(colleague).get(here))
    assert Judgment.objects.count() == 2
