"""The pages of one person in several visits: the end of each, the door before the next, and the own page's button."""

import pytest

from annotator.models import Participant, Submission
from annotator.panels.services.panel_settings import set_panel
from annotator.panels.services.personal_links import make_links, revoke_link
from annotator.services.admission.entry import enter
from annotator.services.work.leave import withdraw
from annotator.visit import Visit
from evaluation.services.studies.launch import close_study, pause_study
from evaluation.services.studies.revision import revise_study
from tests.annotator.conftest import VISIT, home, text
from tests.crowd import before, hand_in

pytestmark = pytest.mark.django_db
CODES = {"completed": "DONE-1", "completed_2": "DONE-2", "full": "FULL-1", "no_consent": "NO-1"}
SECOND = VISIT | {"SESSION_ID": "visit-2"}


@pytest.fixture
def twice(make):
    """Four items, two for each of two visits."""
    return make(items_per_participant=2, visits=2, completion_codes=CODES)


@pytest.fixture
def done_once(twice):
    return do_all(enter(twice, Visit("prolific", *VISIT.values())))


def do_all(participant):
    while before(participant.token) is not None:
        hand_in(participant.token)
    participant.refresh_from_db()
    return participant


def agree(client, visit, **more):
    return client.post("/s/pairs/", visit | {"choice": "agree"} | more, follow=True)


def start(client, participant, number=2, **more):
    form = {"choice": "agree", "number": number} | more
    return client.post(f"{home(participant)}visit/", form, follow=True)


def test_the_door_says_how_often_one_can_come(client, twice):
    assert "You can take part up to 2 times, with different items each time." in text(
        client.get("/s/pairs/", VISIT)
    )


def test_a_study_that_is_done_once_says_nothing_of_visits(client, pairs):
    assert "up to 1 time" not in text(client.get("/s/pairs/", VISIT))
    ann = do_all(enter(pairs, Visit("prolific", *VISIT.values())))
    page = text(client.get(home(ann)))
    assert "You are done" in page
    assert "Visit" not in page


def test_between_visits_the_page_has_the_code_and_says_how_to_come_again(client, done_once):
    page = client.get(home(done_once))
    said = text(page)
    assert "Visit 1 of 2 is done" in said
    assert "You judged 2 items in this visit." in said
    assert "DONE-1" in said
    assert (
        "Visit 2 of 2 Next time you get different items. To come again, take the study once more on Prolific."
        in said
    )
    # The panel names visits: none begins from here.
    assert f"{home(done_once)}visit/" not in page.content.decode()


def test_the_panel_s_next_visit_goes_straight_to_items(client, done_once):
    door = client.get("/s/pairs/", SECOND)
    assert "Welcome back Visit 2 of 2" in text(door)
    assert "voluntary" not in text(door)
    assert Submission.objects.count() == 1
    page = text(agree(client, SECOND))
    assert "1 of 2" in page
    do_all(Participant.objects.get())
    page = text(client.get(home(done_once)))
    assert "You have done all your 2 visits." in page
    assert "DONE-2" in page
    assert "DONE-1" not in page
    # The submission of the first visit leads to the same page, as its work is there.
    assert "DONE-2" in text(client.get("/s/pairs/", VISIT, follow=True))


def test_opened_twice_and_sent_twice_it_is_one_visit(client, done_once):
    for _ in range(2):
        client.get("/s/pairs/", SECOND)
    for _ in range(2):
        agree(client, SECOND)
    done_once.refresh_from_db()
    assert done_once.visit_number == 2
    assert Submission.objects.count() == 2


def test_after_the_last_visit_there_is_no_code(client, done_once):
    agree(client, SECOND)
    do_all(done_once)
    page = text(agree(client, VISIT | {"SESSION_ID": "visit-3"}))
    assert "You have already done this study" in page
    assert "There is no further visit for you" in page
    assert "DONE" not in page


def test_with_nothing_left_it_is_full_with_its_code(client, make):
    study = make(queries=2, items_per_participant=2, visits=2, completion_codes=CODES)
    ann = do_all(enter(study, Visit("prolific", *VISIT.values())))
    assert "Visit 2" not in text(client.get(home(ann)))
    for answer in (client.get("/s/pairs/", SECOND), agree(client, SECOND)):
        assert "All places are taken" in text(answer)
        assert "FULL-1" in text(answer)
    assert Submission.objects.count() == 1


def test_no_visit_begins_with_a_wait_for_what_others_hold(client, make):
    study = make(queries=2, redundancy=1, items_per_participant=1, visits=2, completion_codes=CODES)
    ann = do_all(enter(study, Visit("prolific", *VISIT.values())))
    other = enter(study, Visit("prolific", "bob", "study", "visit-of-bob"))
    assert before(other.token) is not None
    assert "Visit 2" not in text(client.get(home(ann)))
    for answer in (client.get("/s/pairs/", SECOND), agree(client, SECOND)):
        assert "All places are taken" in text(answer)
    # Once it is let go, it is there for the second visit.
    withdraw(other.token)
    assert "Visit 2" in text(client.get(home(ann)))
    agree(client, SECOND)
    assert before(ann.token) is not None


@pytest.mark.parametrize(
    ("act", "door", "own"),
    [
        (pause_study, "This study is paused", "The study is paused. You can come again when it continues."),
        (close_study, "This study is over", "You are done"),
    ],
)
def test_while_the_study_is_not_live_nobody_comes_again(client, twice, done_once, act, door, own):
    act(twice)
    assert door in text(client.get("/s/pairs/", SECOND))
    assert door in text(agree(client, SECOND))
    assert own in text(client.get(home(done_once)))
    assert Submission.objects.count() == 1


def test_another_consent_is_shown_and_agreed_to_before_the_next_visit(client, twice, done_once):
    revise_study(study=twice, changes={"texts": {"consent": "Other words."}})
    for answer in (client.get("/s/pairs/", SECOND), agree(client, SECOND)):
        assert "Other words." in text(answer)
    assert "This text has changed since your last visit." in text(client.get("/s/pairs/", SECOND))
    page = text(client.post("/s/pairs/", SECOND | {"choice": "decline"}))
    assert "Your answers from earlier visits are kept." in page
    assert "NO-1" in page
    assert Submission.objects.count() == 1
    agree(client, SECOND, consent=consent_of(client.get("/s/pairs/", SECOND)))
    done_once.refresh_from_db()
    assert done_once.visit_number == 2


def consent_of(page):
    return page.content.decode().partition('name="consent" value="')[2].partition('"')[0]


# --- where no panel names visits --------------------------------------------------------------------------------------


def test_a_link_s_visitor_begins_the_next_visit_from_their_own_page(client, twice):
    ann = do_all(enter(twice, Visit("link")))
    page = client.get(home(ann))
    assert "Keep the address of this page: it is your only way back." in text(page)
    assert f'action="{home(ann)}visit/"' in page.content.decode()
    assert "1 of 2" in text(start(client, ann))
    do_all(ann)
    assert "DONE-2" in text(start(client, ann))
    ann.refresh_from_db()
    assert ann.visit_number == 2


@pytest.mark.parametrize("number", ["", "1", "3", "x", "²", "9" * 5_000], ids=lambda each: each[:2])
def test_no_other_visit_begins_than_the_next(client, twice, number):
    ann = do_all(enter(twice, Visit("link", "ann")))
    assert "Visit 1 of 2 is done" in text(start(client, ann, number))
    ann.refresh_from_db()
    assert ann.visit_number == 1


def test_a_link_s_visitor_reads_another_consent_first(client, twice):
    ann = do_all(enter(twice, Visit("link", "ann")))
    revise_study(study=twice, changes={"texts": {"consent": "Other words."}})
    page = start(client, ann)
    assert "Other words." in text(page)
    assert client.post(f"{home(ann)}visit/", {"choice": "decline", "number": "2"})["Location"] == home(ann)
    start(client, ann, consent=consent_of(page))
    ann.refresh_from_db()
    assert ann.visit_number == 2


def test_a_panel_s_participant_begins_none_from_their_own_page(client, done_once):
    assert "Visit 1 of 2 is done" in text(start(client, done_once))
    assert client.get(f"{home(done_once)}visit/")["Location"] == home(done_once)
    done_once.refresh_from_db()
    assert done_once.visit_number == 1


def test_a_personal_link_leads_to_all_visits(client, twice, owner):
    set_panel(twice, "prolific", {}, "keep")
    [link] = make_links(twice, ["ann"], by=owner)
    client.post(f"/s/pairs/?personal={link.key}", {"personal": link.key, "choice": "agree"})
    ann = do_all(Participant.objects.get())
    address = f"/s/pairs/?personal={link.key}"
    assert "You can start now, or come back later with the same link." in text(
        client.get(address, follow=True)
    )
    assert "1 of 2" in text(start(client, ann))
    assert Submission.objects.filter(external_id=link.key).count() == 2
    revoke_link(link, "She moved.", by=owner)
    assert "Your link was revoked" in text(client.get(home(ann)))


def test_a_link_that_was_revoked_begins_no_visit(client, twice, owner):
    [link] = make_links(twice, ["ann"], by=owner)
    client.post(f"/s/pairs/?personal={link.key}", {"personal": link.key, "choice": "agree"})
    ann = do_all(Participant.objects.get())
    revoke_link(link, "She moved.", by=owner)
    assert "This link no longer works" in text(start(client, ann))
    ann.refresh_from_db()
    assert ann.visit_number == 1
