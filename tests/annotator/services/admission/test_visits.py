"""One person in several visits: what the next one begins with, and who has none."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotator.models import Assignment, Participant, Submission
from annotator.panels import methods_passages as recruitment
from annotator.selectors.arms import people_needed
from annotator.selectors.methods_passages import methods_passages
from annotator.selectors.participants import get_participant, last_skipped
from annotator.selectors.progress import crowd_figures
from annotator.selectors.visits import completed_visits, has_qualified
from annotator.services.admission.entry import (
    ConsentChanged,
    StudyFull,
    StudyNotOpen,
    come_again,
    consent_version,
    enter,
)
from annotator.services.admission.entry_rules import is_admitted, set_entry_rules
from annotator.services.work.leave import leave_comments, withdraw
from annotator.services.work.skip import skip
from annotator.services.work.submit import advance_participant, submit
from annotator.visit import Visit
from evaluation import design
from evaluation.models import Judgment
from evaluation.services.studies.items import withdraw_item
from evaluation.services.studies.launch import close_study, pause_study
from evaluation.services.studies.revision import revise_study
from evaluation.services.studies.verification import verify_study
from tests.annotator.services.people import ONE_ARM, count_with_checks, with_pass_mark
from tests.crowd import before, filled_in, hand_in, lapse, make_crowd_study
from tests.factories import NO_STEPS, launch, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("compiled_and_built")]


def seven_items(**fields):
    """Three for each visit, of which one person can have three."""
    return make_crowd_study("often", queries=7, arms=ONE_ARM, items_per_participant=3, visits=3, **fields)


def visit(study, session, name="ann"):
    return enter(study, Visit("prolific", name, "there", session))


def do_all(participant):
    while before(participant.token) is not None:
        hand_in(participant.token, preference="tie")
    participant.refresh_from_db()
    return participant


def of_visit(participant, number):
    return Assignment.objects.filter(participant=participant, visit_number=number)


def test_each_visit_has_other_items_and_the_last_what_is_left():
    study = seven_items()
    done = []
    for session in ("v1", "v2", "v3"):
        ann = visit(study, session)
        assert get_participant(ann.token).judged == 0
        done.append((ann.visit_number, ann.quota))
        do_all(ann)
    assert done == [(1, 3), (2, 3), (3, 1)]
    assert Judgment.objects.filter(outcome="ok").values("item").distinct().count() == 7
    assert Submission.objects.filter(outcome="completed").count() == 3
    assert visit(study, "v4").visit_number == 3
    assert Submission.objects.get(external_id="v4").is_late
    assert list(verify_study(study)) == []


def test_another_study_of_the_panel_leads_to_the_next_visit():
    study = seven_items()
    ann = do_all(visit(study, "v1"))
    again = enter(study, Visit("prolific", "ann", "another there", "v2"))
    assert (again.pk, again.visit_number) == (ann.pk, 2)
    assert Submission.objects.get(external_id="v2").external_study_id == "another there"


def test_a_study_that_one_person_does_once_has_no_second_visit(live):
    ann = do_all(visit(live, "v1"))
    again = visit(live, "v2")
    assert (again.visit_number, again.outcome) == (1, "completed")
    assert come_again(ann.token, 2).visit_number == 1


def test_visits_that_are_added_later_let_people_come_again(live):
    do_all(visit(live, "v1"))
    live.visits = 2
    live.save()
    assert visit(live, "v2").visit_number == 2


def test_nothing_left_for_them_takes_nothing_in():
    study = make_crowd_study("few", queries=3, arms=ONE_ARM, items_per_participant=3, visits=3)
    ann = do_all(visit(study, "v1"))
    with pytest.raises(StudyFull):
        visit(study, "v2")
    ann.refresh_from_db()
    assert (ann.visit_number, ann.outcome) == (1, "completed")
    assert Submission.objects.count() == 1


def test_items_that_others_have_taken_leave_a_study_full():
    study = seven_items(redundancy=1)
    ann = do_all(visit(study, "v1"))
    do_all(visit(study, "b1", "ben"))
    do_all(visit(study, "b2", "ben"))
    with pytest.raises(StudyFull):
        visit(study, "v2")
    ann.refresh_from_db()
    assert ann.outcome == "completed"


def test_a_withdrawn_item_that_they_met_is_no_longer_of_what_they_have_met():
    study = seven_items()
    ann = do_all(visit(study, "v1"))
    withdraw_item(of_visit(ann, 1).first().item)
    assert visit(study, "v2").quota == 3
    do_all(Participant.objects.get())
    assert visit(study, "v3").quota == 1


@pytest.mark.parametrize("act", [pause_study, close_study])
def test_no_visit_begins_while_the_study_is_not_live(act):
    study = seven_items()
    do_all(visit(study, "v1"))
    act(study)
    with pytest.raises(StudyNotOpen):
        visit(study, "v2")
    assert Submission.objects.count() == 1


def test_consent_is_asked_for_again_where_its_text_is_another_one():
    study = seven_items()
    do_all(enter(study, Visit("prolific", "ann", "there", "v1"), agreed_to=version_of(study)))
    agreed = Participant.objects.get().consent_version
    assert visit(study, "v2").consent_version == agreed
    do_all(Participant.objects.get())
    study = revise_study_with(study, texts={"consent": "Other words."})
    with pytest.raises(ConsentChanged):
        enter(study, Visit("prolific", "ann", "there", "v3"))
    third = enter(study, Visit("prolific", "ann", "there", "v3"), agreed_to=version_of(study))
    assert third.visit_number == 3
    assert third.consent_version == version_of(study) != agreed
    assert third.revision.number == 2


def revise_study_with(study, **changes):
    revise_study(study=study, changes=changes)
    study.refresh_from_db()
    return study


def version_of(study):
    return consent_version(study.revisions.order_by("-number")[0].spec)


def test_nobody_qualifies_twice():
    study = with_pass_mark()
    study.visits, study.items_per_participant = 2, 1
    study.save()
    ann = visit(study, "v1")
    while (at := before(ann.token)) and at.item.role == "qualification":
        hand_in(ann.token, preference="r2")
    do_all(ann)
    assert has_qualified(Participant.objects.get())
    again = visit(study, "v2")
    assert (again.step, before(again.token).item.role) == ("items", "main")


def test_practice_is_repeated_where_the_study_says_so():
    """Instructions, one training item, and three to qualify with, of which each visit needs two in two attempts."""
    study = with_pass_mark(attempts=2)
    study = revise_study_with(study, steps={"instructions": True})
    study.visits, study.items_per_participant, study.practice_each_visit = 2, 1, True
    study.save()
    for session, attempts in (("v1", (0, 1)), ("v2", (2, 3))):
        ann = visit(study, session)
        assert ann.step == "instructions"
        advance_participant(ann.token)
        for attempt, answer in zip(attempts, ("r1", "r2"), strict=True):
            for _ in range(3):
                at = before(ann.token)
                assert (at.item.role, at.attempt) == ("qualification", attempt)
                hand_in(ann.token, preference=answer)
        assert before(ann.token).item.role == "main"
        do_all(ann)
        ann.refresh_from_db()
        assert ann.outcome == "completed"
    assert list(verify_study(study)) == []


def test_who_does_not_qualify_again_ends_there():
    study = with_pass_mark()
    study.visits, study.items_per_participant, study.practice_each_visit = 2, 1, True
    study.save()
    for session, answer in (("v1", "r2"), ("v2", "r1")):
        ann = visit(study, session)
        for _ in range(3):
            hand_in(ann.token, preference=answer)
        do_all(ann)
    assert (ann.visit_number, ann.outcome) == (2, "failed_qualification")


def test_training_is_repeated_with_its_feedback():
    study = launch(
        make_study("train", queries=4, arms=ONE_ARM, checks=0, items_per_participant=1, visits=2),
        steps=NO_STEPS | {"training": True}, practice_each_visit=True,
    )  # fmt: skip
    for session, attempt in (("v1", 0), ("v2", 1)):
        ann = visit(study, session)
        at = before(ann.token)
        assert (at.item.role, at.attempt) == ("training", attempt)
        hand_in(ann.token)
        assert before(ann.token) is None  # the feedback
        advance_participant(ann.token)
        assert before(ann.token).item.role == "main"
        do_all(ann)
    assert list(verify_study(study)) == []


def test_each_visit_has_its_own_checks_at_places_of_its_own():
    study = count_with_checks(2, checks=1, allowed_failures=0)
    study.visits, study.items_per_participant = 2, 3
    study.save()
    met = {}
    for session in ("v1", "v2"):
        ann = visit(study, session)
        plan = design.check_positions(study.seed, ann.pk, 3, 1, ann.visit_number)
        judged = 0
        while (at := before(ann.token)) is not None:
            if at.item.role == "attention":
                met[ann.visit_number] = at.item_id
                assert [judged] == plan
            else:
                judged += 1
            hand_in(ann.token, preference="tie")
        ann.refresh_from_db()
        assert (judged, ann.outcome) == (3, "completed")
    assert len(set(met.values())) == 2


def test_a_check_that_is_failed_ends_the_visit_and_all_further_ones():
    study = count_with_checks(2, checks=1, allowed_failures=0)
    study.visits, study.items_per_participant = 3, 3
    study.save()
    do_all(visit(study, "v1"))
    ann = visit(study, "v2")
    while before(ann.token) is not None:
        hand_in(ann.token, preference="r1")
    ann.refresh_from_db()
    assert (ann.visit_number, ann.outcome) == (2, "failed_attention")
    assert visit(study, "v3").outcome == "failed_attention"


def test_a_skip_is_taken_back_in_its_own_visit_alone():
    study = make_crowd_study("skip", queries=3, arms=ONE_ARM, items_per_participant=2, visits=2)
    ann = visit(study, "v1")
    hand_in(ann.token)
    skip(ann.token, before(ann.token).pk)
    assert last_skipped(get_participant(ann.token)) is not None
    do_all(ann)
    assert last_skipped(get_participant(ann.token)) is None


def test_what_comes_late_from_an_earlier_visit_is_of_that_one():
    """Her first item runs out, somebody else gets it and leaves; she hands it in while she has nothing before her."""
    study = make_crowd_study("late", queries=6, arms=ONE_ARM, items_per_participant=2, visits=2, redundancy=1)
    ann = visit(study, "v1")
    late = before(ann.token)
    lapse(item=late.item)
    ben = visit(study, "b1", "ben")
    assert before(ben.token).item == late.item
    assert Assignment.objects.get(pk=late.pk).state == "expired"
    advance_participant(ann.token)
    do_all(ann)
    withdraw(ben.token)
    visit(study, "v2")
    hand_in(ann.token)
    Assignment.objects.filter(pk=before(ann.token).pk).update(state="expired", ended_at=timezone.now())
    submit(ann.token, late.pk, filled_in(late))
    ann.refresh_from_db()
    assert of_visit(ann, 1).filter(state="submitted").count() == 3
    assert (ann.outcome, before(ann.token).visit_number) == ("", 2)


def test_comments_of_each_visit_are_kept():
    study = launch(
        make_study(
            "said", queries=4, arms=ONE_ARM, training=False, checks=0, items_per_participant=2, visits=2
        ),
        steps=NO_STEPS | {"comments": True},
    )
    for session, said in (("v1", "Fine."), ("v2", "Fine again.")):
        ann = visit(study, session)
        for _ in range(2):
            hand_in(ann.token)
        leave_comments(ann.token, said)
    ann.refresh_from_db()
    assert ann.comments == "Fine.\n\nFine again."


# --- without a panel that names visits --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "ann"])
def test_from_their_own_page_where_no_panel_names_visits(name):
    study = seven_items()
    ann = do_all(enter(study, Visit("link", name)))
    for _ in range(2):
        again = come_again(ann.token, 2)
        assert (again.pk, again.visit_number, again.outcome) == (ann.pk, 2, "")
    do_all(again)
    # A page that was left open since the first visit ended.
    assert come_again(ann.token, 2).outcome == "completed"
    assert come_again(ann.token, 3).visit_number == 3
    numbers = Submission.objects.order_by("pk").values_list("visit_number", "outcome")
    assert list(numbers) == [(1, "completed"), (2, "completed"), (3, "")]


def test_their_own_page_begins_none_where_the_panel_names_them():
    study = seven_items()
    ann = do_all(visit(study, "v1"))
    assert come_again(ann.token, 2).visit_number == 1
    assert Submission.objects.count() == 1


# --- figures ----------------------------------------------------------------------------------------------------------


def test_minutes_and_spending_are_of_visits():
    study = seven_items(pay="2.00")
    now = timezone.now()
    for number, session in enumerate(("v1", "v2"), 1):
        ann = do_all(visit(study, session))
        began = now - timedelta(minutes=100 * number)
        Submission.objects.filter(external_id=session).update(
            entered_at=began, ended_at=began + timedelta(minutes=10 * number)
        )
    found = completed_visits(Participant.objects.filter(study=study))
    assert {key: stay.duration for key, stay in found.items()} == {
        (ann.pk, 1): timedelta(minutes=10),
        (ann.pk, 2): timedelta(minutes=20),
    }
    figures = crowd_figures(study)
    assert (figures["minutes"], figures["spent_people"]) == (15.0, "4.00")
    assert dict(figures["people"])["finished"] == 1
    visit(study, "v3")
    assert crowd_figures(study)["spent_people"] == "4.00"


def test_the_methods_paragraph_tells_of_visits():
    study = seven_items(pay="2.00", paid_minutes=10)
    do_all(visit(study, "v1"))
    visit(study, "v2")
    said = recruitment.methods_passages(study) | methods_passages(study)
    assert "1 completed a visit." in said["recruitment"]
    assert "paid 2.00 GBP a visit for an estimated 10 minutes" in said["pay"]
    assert "judged up to 3 items in each of up to 3 visits, no two of them" in said["assignment"]


def test_places_are_needed_for_visits():
    """Seven items with two judgments each: five visits of three, by whoever makes them; two are under way or done."""
    study = seven_items(redundancy=2)
    assert people_needed(study, timezone.now()) == 5
    do_all(visit(study, "v1"))
    visit(study, "v2")
    assert people_needed(study, timezone.now()) == 3


def test_whoever_has_done_one_visit_has_completed_the_study_for_lists():
    first = seven_items()
    do_all(visit(first, "v1"))
    visit(first, "v2")
    other = make_crowd_study("other", queries=2, arms=ONE_ARM)
    set_entry_rules(other, barred={first: "completed"}, invited={})
    assert not is_admitted(other, Visit("prolific", "ann", "elsewhere", "s"))
