"""Going back: answers are revised until the visit ends, and what a second window held is shown."""

import re

import pytest

from annotator.models import Assignment, DraftRound, Slot
from annotator.services.admission.entry import enter
from annotator.services.work.leave import withdraw
from annotator.visit import Visit
from evaluation.models import Judgment, Study
from evaluation.protocols.entries.sets import read_answers
from evaluation.services.answers import load_answers
from evaluation.services.studies.verification import verify_study
from tests.annotator.conftest import WITH, address, fields, home, text
from tests.calibrations import FERRY, NEW, OLD, calibration_study, form, kept
from tests.crowd import before, hand_in

pytestmark = pytest.mark.django_db


def again(participant, assignment):
    return f"{home(participant)}a/{assignment.pk}/again/"


def test_the_last_answer_is_revised_and_the_first_is_kept(client, make):
    study = make(arms=WITH, follow_ups=1, queries=4)
    participant = enter(study, Visit("link"))
    done = before(participant.token)
    given = fields(client, participant)
    client.post(address(client, participant), given)
    current, judgment = before(participant.token), Judgment.objects.get()
    slots, corrections = list(Slot.objects.order_by("pk").values()), Study.objects.get().corrections
    assert "Revise a previous answer" in text(client.get(home(participant)))
    assert client.get(f"{home(participant)}back/")["Location"] == again(participant, done)
    page = client.get(again(participant, done)).content.decode()
    assert "It says more about it." in page
    assert page.count(" checked") == 3
    answer = client.post(
        again(participant, done), given | {"preference": "r2", "justification": "No, it says less."}
    )
    assert answer["Location"] == f"{home(participant)}?notice=revised"
    revised = Judgment.objects.get()
    assert revised.answers.get(question="preference").label == "r2"
    assert revised.answers.get(question="justification").text == "No, it says less."
    assert {each["question"]: each for each in revised.trace["first_answers"]}["preference"]["label"] == "r1"
    assert (revised.trace["revised"], revised.pk) == (1, judgment.pk)
    assert (revised.duration_ms, revised.judged_at) == (judgment.duration_ms, judgment.judged_at)
    assert Study.objects.get().corrections == corrections + 1
    assert list(Slot.objects.order_by("pk").values()) == slots
    assert before(participant.token) == current
    assert list(verify_study(study)) == []
    # A second time, the first answers stay the first.
    client.post(again(participant, done), given | {"preference": "tie"})
    twice = Judgment.objects.get()
    assert (twice.trace["revised"], twice.trace["first_answers"]) == (2, revised.trace["first_answers"])


def test_the_same_answers_again_change_nothing(client, participant):
    done, given = before(participant.token), fields(client, participant)
    client.post(address(client, participant), given)
    assert client.post(again(participant, done), given).status_code == 303
    assert "revised" not in Judgment.objects.get().trace
    assert Study.objects.get().corrections == 0


@pytest.mark.parametrize(("rule", "n"), [("none", 0), ("last", 1), ("all", 2)])
def test_the_study_says_how_far_one_can_go_back(client, make, rule, n):
    participant = enter(make(queries=5, going_back=rule), Visit("link"))
    done = [before(participant.token)]
    hand_in(participant.token)
    done.append(before(participant.token))
    hand_in(participant.token)
    assert ("Revise a previous answer" in text(client.get(home(participant)))) is (n > 0)
    for each, allowed in ((done[1], n > 0), (done[0], n > 1)):
        assert client.get(again(participant, each)).status_code == (200 if allowed else 303)
        client.post(again(participant, each), {"preference": "tie", "justification": "They are alike."})
    assert Judgment.objects.filter(answers__label="tie").count() == n
    if n == 2:
        assert client.get(f"{home(participant)}back/").content.decode().count("/again/") == 2


def test_refused_revisions_are_shown_with_what_was_filled_in(client, participant):
    done = before(participant.token)
    client.post(address(client, participant), fields(client, participant))
    answer = client.post(again(participant, done), {"preference": "", "justification": "Rather the other"})
    assert answer.status_code == 303
    page = text(client.get(answer["Location"]))
    assert "Please choose one." in page
    assert "Rather the other" in page
    assert Judgment.objects.get().answers.get(question="preference").label == "r1"


def test_nothing_is_revised_after_the_end(client, participant):
    done = before(participant.token)
    hand_in(participant.token)
    withdraw(participant.token)
    answer = client.post(again(participant, done), {"preference": "r2", "justification": "Late."})
    assert "it does not count" in text(client.get(answer["Location"]))
    assert Judgment.objects.get().answers.get(question="preference").label == "r1"


def test_a_check_stands_by_its_first_answer(client, make):
    study = make(
        queries=5, checks=1, steps={"attention": {"checks": 1, "warn": True}}, items_per_participant=3
    )
    participant = enter(study, Visit("link"))
    while (check := before(participant.token)).item.role != "attention":
        hand_in(participant.token)
    hand_in(participant.token, preference="r1")
    assert Assignment.objects.get(pk=check.pk).passed is False
    assert client.get(again(participant, check)).status_code == 200, "as after any item"
    client.post(again(participant, check), {"preference": "tie", "justification": "I see what is meant."})
    assert Assignment.objects.get(pk=check.pk).passed is False


def test_a_second_window_s_text_is_shown_and_not_lost(client, participant):
    target, given = address(client, participant), fields(client, participant)
    client.post(target, given)
    answer = client.post(target, given | {"justification": "Written in the other window."})
    page = text(client.get(answer["Location"]))
    assert "This item had already been submitted, perhaps in another window" in page
    assert "Written in the other window." in page
    assert "Submit the revised answers" in page
    assert Judgment.objects.get().answers.get(question="justification").text == "It says more about it."


def test_a_second_window_s_text_is_shown_where_nothing_can_be_revised(client, make):
    participant = enter(make(going_back="none"), Visit("link"))
    target, given = address(client, participant), fields(client, participant)
    client.post(target, given)
    answer = client.post(target, {"justification": "Written in the other window."})
    page = client.get(answer["Location"])
    assert "Written in the other window." in text(page)
    assert "Submit the revised answers" not in text(page)
    assert "<fieldset" in page.content.decode()


def test_somebody_elses_answers_are_not_there(client, participant, other_participant):
    theirs = before(other_participant.token)
    hand_in(other_participant.token)
    assert client.get(again(participant, theirs)).status_code == 404
    sent = {"preference": "r2", "justification": "Mine now."}
    assert client.post(again(participant, theirs), sent).status_code == 404
    assert client.get(f"{home(participant)}back/")["Location"].endswith("nothing-back")
    assert client.post(f"{home(participant)}back/").status_code == 405


def test_entries_of_a_model_can_be_taken_when_a_set_is_revised(client, db):
    participant = enter(calibration_study({"q1": [[OLD, NEW]], "q2": [[OLD, NEW]]}), Visit("link"))
    done = before(participant.token)
    after = [kept(OLD, "r1.e1"), kept(FERRY, "m1.e2")]
    DraftRound.objects.create(
        assignment=done,
        number=1,
        instruction="Add the ferry.",
        before=[],
        after=after,
        model="a-model",
        state="done",
    )
    # One that was still awaited when the set was handed in is awaited no longer.
    DraftRound.objects.create(assignment=done, number=2, instruction="More.", before=[], model="a-model")
    given = form(kept(OLD, "r1.e1"), kept(NEW, "r1.e2"))
    client.post(f"{home(participant)}a/{done.pk}/submit/", given)
    page = client.get(again(participant, done))
    assert "Revised drafts of the model" in text(page)
    assert "Crossing by ferry" in page.content.decode()
    assert "at work" not in text(page)
    revised = form(kept(OLD, "m1.e1"), kept(FERRY, "m1.e2"))
    assert client.post(again(participant, done), revised)["Location"].endswith("revised")
    entries = read_answers(load_answers(Judgment.objects.get()))
    assert [(each["condition"], each["origins"]) for each in entries] == [
        (OLD["condition"], ["r1.e1"]),
        (FERRY["condition"], ["m1.e2"]),
    ]


def test_what_a_page_sent_last_begins_no_further_revision(client, participant):
    """It may be on its way when the revised answers are submitted, and come after them."""
    done, given = before(participant.token), fields(client, participant)
    client.post(address(client, participant), given)
    page = client.get(again(participant, done)).content.decode()
    late = re.search(r'data-draft="([^"]+)"', page)[1]
    client.post(again(participant, done), given | {"preference": "r2"})
    sent = {"justification": "Half a"}
    assert client.post(late, sent, content_type="application/json").status_code == 409
    assert Assignment.objects.get(pk=done.pk).draft == {}
    fresh = re.search(r'data-draft="([^"]+)"', client.get(again(participant, done)).content.decode())[1]
    assert client.post(fresh, sent, content_type="application/json").status_code == 200
    assert Assignment.objects.get(pk=done.pk).draft == sent
