"""Going on after leaving while the study is paused: what takes no place is theirs again."""

import pytest

from annotator.models import Assignment, AssignmentState
from annotator.panels.services.arrivals import read_arrival
from annotator.panels.services.personal_links import make_links, restore_link, revoke_link
from annotator.services.admission.entry import enter
from annotator.services.work.submit import advance_participant
from evaluation.services.studies.launch import close_study, pause_study, resume_study
from tests.annotator.services.people import count_with_checks, now_of, with_pass_mark
from tests.crowd import before, hand_in

pytestmark = pytest.mark.django_db


def come_by_link(study):
    [link] = make_links(study, ["Ann"])
    return link, enter(study, read_arrival(study, {"personal": link.key}).visit).token


def leave_and_come_back(link):
    """What they had is given back, and they go on."""
    revoke_link(link, "By mistake.")
    assert not Assignment.objects.filter(state=AssignmentState.RESERVED).exists()
    link.refresh_from_db()
    restore_link(link, "It was a mistake.")
    enter(link.study, read_arrival(link.study, {"personal": link.key}).visit)


def test_a_qualification_is_gone_on_with_while_paused():
    """With one of two that count left out, nobody could pass who got one of the others wrong."""
    study = with_pass_mark()
    link, token = come_by_link(study)
    first = before(token)
    pause_study(study)
    leave_and_come_back(link)
    assert before(token) == first
    for preference in ("r2", "r1", "r2"):
        hand_in(token, preference=preference)
    assert now_of(token) == ("items", "")


def test_a_check_is_met_again_while_paused():
    study = count_with_checks(1, checks=1)
    link, token = come_by_link(study)
    while (check := before(token)).item.role != "attention":
        hand_in(token)
    pause_study(study)
    leave_and_come_back(link)
    assert before(token) == check


def test_an_item_is_not_while_paused_for_its_place_is_anybodys(live):
    link, token = come_by_link(live)
    pause_study(live)
    leave_and_come_back(link)
    assert (now_of(token), before(token)) == (("items", ""), None)
    resume_study(live)
    advance_participant(token)
    assert before(token) is not None


def test_a_closed_study_gives_nothing_back():
    study = with_pass_mark()
    link, token = come_by_link(study)
    close_study(study)
    leave_and_come_back(link)
    assert (now_of(token), before(token)) == (("done", "full"), None)


def test_nobody_is_through_with_a_check_that_they_gave_back():
    """As who came back during a pause was, before they had it again at once."""
    study = count_with_checks(1, checks=1)
    _, token = come_by_link(study)
    while (check := before(token)).item.role != "attention":
        hand_in(token)
    given_back = {"state": AssignmentState.RETURNED, "ended_at": check.reserved_at}
    Assignment.objects.filter(pk=check.pk).update(**given_back)
    advance_participant(token)
    met = []
    while (assignment := before(token)) is not None:
        met.append(assignment.item)
        hand_in(token, preference="tie")
    assert check.item in met
    assert now_of(token) == ("done", "completed")
