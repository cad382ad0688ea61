"""Settling: labels with reasons, taken back and settled anew, in the history and in nobody's figures."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.http import Http404

from analytics.frames.study import study_frame
from evaluation.models import Judgment, Rater, StudyMember
from evaluation.permissions import NoRight
from evaluation.protocols import AnswersInvalid
from evaluation.refusals import Refused
from evaluation.selectors import counting_judgments, left_out_counts, settled_judgments
from evaluation.services.answers import load_answers
from evaluation.services.progress import refresh_progress
from evaluation.services.settling import SETTLED, settle_item, take_back
from evaluation.services.studies.verification import verify_study
from tests import factories
from tests.crowd import come, hand_in

pytestmark = pytest.mark.django_db
ANSWERS = {"preference": "r1", "justification": "It names the source."}


@pytest.fixture
def pairs(owner, colleague):
    """A live study of two pairs with an editor beside its owner."""
    study = factories.launched_pairs("settled", 2, owner=owner, steps=factories.NO_STEPS)
    StudyMember.objects.create(study=study, user=colleague, role="editor")
    return study


def lines(study):
    found = LogEntry.objects.filter(object_id=str(study.pk), content_type__model="study")
    return list(found.order_by("pk").values_list("user__username", "change_message"))


def label_of(judgment):
    return next(each.label for each in load_answers(judgment) if each.question == "preference")


def test_a_settled_label_is_a_judgment_of_a_rater_of_its_own(pairs, owner):
    one, other = pairs.items.filter(role="main")
    first = settle_item(one, ANSWERS, reason="Only it is true.", by=owner, shown=["people"])
    second = settle_item(other, ANSWERS | {"preference": "tie"}, reason="No difference.", by=owner)
    rater = Rater.objects.get(study=pairs, kind="settled")
    assert (rater.label, rater.settled_by, rater.in_figures) == ("owner", owner, False)
    assert {first.rater, second.rater} == {rater}
    assert first.trace == {SETTLED: {"reason": "Only it is true.", "shown": ["people"]}}
    assert (label_of(first), label_of(second)) == ("r1", "tie")
    assert lines(pairs)[-2:] == [
        ("owner", f"Settled item {one.key}. Reason: Only it is true."),
        ("owner", f"Settled item {other.key}. Reason: No difference."),
    ]
    assert list(verify_study(pairs)) == []


def test_without_a_reason_it_is_what_the_form_asks_for_in_words(pairs, owner):
    item = pairs.items.filter(role="main")[0]
    long = "It names the source. " * 100
    judgment = settle_item(item, ANSWERS | {"justification": long}, by=owner)
    assert judgment.trace[SETTLED]["reason"] == long[:1_000]


def test_two_members_settle_the_same_item(pairs, owner, colleague):
    item = pairs.items.filter(role="main")[0]
    settle_item(item, ANSWERS, reason="So it is.", by=owner)
    settle_item(item, ANSWERS | {"preference": "r2"}, reason="It is not.", by=colleague)
    assert sorted(label_of(each) for each in settled_judgments(pairs)) == ["r1", "r2"]


def test_settling_anew_keeps_what_was_first_and_gives_the_new_reason(pairs, owner):
    item = pairs.items.filter(role="main")[0]
    settle_item(item, ANSWERS, reason="So it is.", by=owner)
    judgment = settle_item(item, ANSWERS | {"preference": "r2"}, reason="I misread it.", by=owner)
    judgment.refresh_from_db()
    assert Judgment.objects.filter(study=pairs).count() == 1
    assert label_of(judgment) == "r2"
    assert judgment.trace[SETTLED]["reason"] == "I misread it."
    assert judgment.trace["first_answers"][0]["label"] == "r1"
    settle_item(item, ANSWERS | {"preference": "r2"}, reason="A better reason.", by=owner)
    judgment.refresh_from_db()
    assert judgment.trace[SETTLED]["reason"] == "A better reason."
    assert list(verify_study(pairs)) == []


def test_a_label_that_is_taken_back_stays_on_record_and_is_settled_again(pairs, owner):
    item = pairs.items.filter(role="main")[0]
    judgment = settle_item(item, ANSWERS, reason="So it is.", by=owner)
    take_back(judgment, by=owner, reason="Too soon.")
    assert not settled_judgments(pairs)
    assert Judgment.objects.filter(pk=judgment.pk).exists()
    assert lines(pairs)[-1] == ("owner", f"Excluded owner's judgment of {item}. Reason: Too soon.")
    settle_item(item, ANSWERS, reason="After all.", by=owner)
    assert [each.pk for each in settled_judgments(pairs)] == [judgment.pk]
    assert list(verify_study(pairs)) == []


def test_settled_labels_are_in_no_group_and_fill_no_place(pairs, owner):
    item = pairs.items.filter(role="main")[0]
    participant = come(pairs)
    hand_in(participant.token)
    before = refresh_progress(pairs)
    settle_item(item, ANSWERS, reason="So it is.", by=owner)
    after = refresh_progress(pairs)
    for name in ("n_people", "n_judges", "n_filled", "last_activity"):
        assert getattr(after, name) == getattr(before, name), name
    assert after.figures["left_out"] == before.figures["left_out"] == {}
    assert counting_judgments(pairs).count() == 1
    assert left_out_counts(pairs) == {}
    assert [group.key for group in study_frame(pairs).groups] == ["person"]


def test_what_can_not_be_settled_is_refused_and_nothing_is_written(pairs, owner):
    main = pairs.items.filter(role="main")[0]
    draft = factories.make_study("a-draft", owner=owner, queries=1)
    unasked = factories.launched_pairs("unasked", 1, owner=owner, why=False).items.get()
    cases = [
        (unasked, ANSWERS, " \n", Refused, "needs a reason"),
        (main, {"justification": "None."}, "So.", AnswersInvalid, None),
        (draft.items.filter(role="main")[0], ANSWERS, "So.", Refused, "once the study is launched"),
    ]
    for item, answers, reason, error, said in cases:
        with pytest.raises(error, match=said):
            settle_item(item, answers, reason=reason, by=owner)
    assert not Rater.objects.filter(kind="settled").exists()


def test_settling_is_for_editors_and_taking_back_for_whoever_settled_and_owners(
    pairs, owner, colleague, outsider
):
    item = pairs.items.filter(role="main")[0]
    viewer = get_user_model().objects.create_user("viewer")
    StudyMember.objects.create(study=pairs, user=viewer, role="viewer")
    for who, error in ((viewer, NoRight), (outsider, Http404)):
        with pytest.raises(error):
            settle_item(item, ANSWERS, reason="So it is.", by=who)
    of_owner = settle_item(item, ANSWERS, reason="So it is.", by=owner)
    of_editor = settle_item(item, ANSWERS, reason="So it is.", by=colleague)
    with pytest.raises(Refused, match="Only an owner"):
        take_back(of_owner, by=colleague)
    take_back(of_editor, by=owner)
    assert [each.pk for each in settled_judgments(pairs)] == [of_owner.pk]


def test_only_settled_labels_are_taken_back(pairs, owner):
    participant = come(pairs)
    given = hand_in(participant.token).judgment
    with pytest.raises(Refused, match="no settled label"):
        take_back(given, by=owner)
