"""Erasing a participant: what is left, what others have, what verify says, and who may."""

import threading

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, call_command
from django.db import connection
from django.http import Http404

from annotator.models import Assignment, ClaimCursor, ErasedVisit, Participant, Slot, SlotState
from annotator.selectors.participants import get_participant
from annotator.services import erasing
from annotator.services.erasing import erase_participant, plan_erasure
from annotator.services.work.drafts import save_draft
from annotator.services.work.problem_reports import report_problem
from annotator.services.work.submit import submit
from evaluation.models import Erasure, Exclusion, ItemFlag, Judgment, Rater, Study, StudyMember
from evaluation.permissions import NoRight
from evaluation.refusals import Refused
from evaluation.selectors import counting_judgments
from evaluation.services.exclusions import exclude
from evaluation.services.notes import add_note
from evaluation.services.studies.launch import close_study
from evaluation.services.studies.verification import erased_facts, verify_study
from evaluation.services.tallies import recount
from tests.annotator.services.erased import found_in_database
from tests.annotator.services.people import ONE_ARM
from tests.crowd import before, come, filled_in, hand_in, make_crowd_study

pytestmark = pytest.mark.django_db

WORDS = "Xylophones quarrel beneath the marmalade"
REASON = "They wrote to us and asked for it."


@pytest.fixture
def study(owner):
    return make_crowd_study("live", owner=owner, queries=6, arms=ONE_ARM)


@pytest.fixture
def person(study, owner):
    """Somebody who has handed in two items, has a third at hand, and has left words wherever one can."""
    token = come(study, "prolific-id-of-ann").token
    first = before(token)
    report_problem(token, first.pk, f"{WORDS} in a report")
    hand_in(token, justification=f"{WORDS} in a reason")
    hand_in(token, justification=f"{WORDS} in a second reason")
    at_hand = before(token)
    save_draft(token, at_hand.pk, {"justification": f"{WORDS} in a draft"})
    participant = get_participant(token)
    judgment = Judgment.objects.filter(rater=participant.rater).first()
    add_note(judgment.item, text=f"They wrote: {WORDS}", by=owner, judgment=judgment)
    exclude(study=study, reason=f"It says {WORDS}", judgment=judgment, by=owner)
    return participant


def ids_of(participant):
    return (
        participant.external_id,
        f"visit-{participant.external_id}",
        participant.rater.pseudonym,
        participant.token,
    )


def erase(participant, owner, **named):
    named = {"reason": REASON, "typed": participant.rater.pseudonym, "deal_again": True, **named}
    return erase_participant(participant, by=owner, **named)


def test_nothing_of_them_is_left_and_the_others_stay(study, person, owner):
    others = [come(study, f"other-{n}").token for n in range(2)]
    for token in others:
        hand_in(token)
    ids = ids_of(person)
    assert {column for _, column, _ in found_in_database(WORDS, *ids)} >= {
        "text", "note", "draft", "reason", "change_message", "external_id", "pseudonym", "token",
    }  # fmt: skip
    theirs = set(Judgment.objects.exclude(rater=person.rater).values_list("pk", flat=True))
    assert erase(person, owner) == "Erased a participant: 2 judgments, whose slots open again."
    assert found_in_database(WORDS, *ids) == set()
    assert set(Judgment.objects.values_list("pk", flat=True)) == theirs
    assert not Exclusion.objects.exists()
    assert not ItemFlag.objects.exists()
    study.refresh_from_db()
    assert list(verify_study(study)) == []
    [said] = erased_facts(study)
    assert "1 rater with 2 judgments" in said


def test_the_act_stands_in_the_history_without_the_person(study, person, owner):
    erase(person, owner)
    lines = LogEntry.objects.order_by("pk").values_list("change_message", "user__username")
    assert list(lines)[-1] == (
        f"Erased a participant: 2 judgments, whose slots open again. Reason: {REASON}", owner.username,
    )  # fmt: skip
    assert any(said.startswith("Excluded an erased participant's judgment of ") for said, _ in lines)
    [kept] = Erasure.objects.all()
    assert (kept.by, kept.reason, kept.n_judgments, kept.is_cleared) == (owner, REASON, 2, True)


@pytest.mark.parametrize(("deal_again", "opens"), [(True, 2), (False, 0)])
def test_slots_open_again_or_are_retired(study, person, owner, deal_again, opens):
    before_it = Slot.objects.filter(study=study, state=SlotState.OPEN).count()
    erase(person, owner, deal_again=deal_again)
    states = Slot.objects.filter(study=study)
    # The one that they had at hand is given to others in either case.
    assert states.filter(state=SlotState.OPEN).count() == before_it + 1 + opens
    assert states.filter(state=SlotState.RETIRED).count() == 2 - opens
    assert not states.filter(holder__isnull=False).exists()
    assert list(verify_study(study)) == []


def test_a_slot_that_opened_again_is_judged_by_the_next(owner):
    study = make_crowd_study(
        "single", owner=owner, queries=1, arms=ONE_ARM, redundancy=1, items_per_participant=1
    )
    first = come(study, "ann").token
    hand_in(first)
    erase(get_participant(first), owner)
    second = come(study, "ann").token
    hand_in(second)
    assert counting_judgments(study).count() == 1
    assert list(verify_study(study)) == []


def test_out_of_play_they_leave_the_counts_true(study, person, owner):
    Participant.objects.filter(pk=person.pk).update(in_play=False)
    call_command("places", study.slug, "--recount")
    erase(get_participant(person.token), owner)
    assert list(verify_study(study)) == []
    assert ClaimCursor.objects.get(arm__study=study).in_play == 18


def test_figures_are_those_of_the_others(study, person, owner):
    token = come(study, "other").token
    hand_in(token)
    recount(study)
    corrections = Study.objects.get(pk=study.pk).corrections
    assert counting_judgments(study).count() == 2
    erase(person, owner)
    assert counting_judgments(study).count() == 1
    assert Study.objects.get(pk=study.pk).corrections > corrections
    recount(study)
    assert sum(study.item_tallies.values_list("n_people", flat=True)) == 1


def test_verify_finds_who_is_deleted_or_counted_as_erased_past_the_application(study, person, owner):
    erase(person, owner)
    Erasure.objects.update(n_judgments=7)
    assert list(verify_study(study)) == [
        f"Erasure {Erasure.objects.get().pk}: was changed past the application."
    ]
    call_command("seal", study.slug)
    Erasure.objects.all().delete()
    assert any("Erasure" in said and "deleted past" in said for said in verify_study(study))


def test_only_an_owner_erases_with_the_pseudonym_a_reason_and_the_choice(
    study, person, owner, colleague, outsider
):
    StudyMember.objects.create(study=study, user=colleague, role="editor")
    with pytest.raises(NoRight):
        erase(person, colleague)
    with pytest.raises(Http404):
        erase(person, outsider)
    with pytest.raises(Refused) as refused:
        erase(person, owner, reason=" ", typed="WRONG", deal_again=None)
    assert [each.split(",")[0].split(" the ")[0] for each in refused.value.problems] == [
        "Give a reason.", "Type", "Say whether",
    ]  # fmt: skip
    assert Judgment.objects.filter(rater=person.rater).count() == 2


def test_a_closed_study_asks_for_no_choice_and_retires(study, person, owner):
    close_study(study, by=owner)
    study.refresh_from_db()
    said = erase(get_participant(person.token), owner, deal_again=None)
    assert said.endswith("whose slots are retired.")


STEPS = ("_erase_copies", "_erase_way", "delete_rater", "erase_mentions", "record_erasure")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_kill_in_the_middle_leaves_everything(study, person, owner, monkeypatch, step, after):
    class Killed(BaseException):
        pass

    real = getattr(erasing, step)

    def dying(*given, **named):
        if after:
            real(*given, **named)
        raise Killed

    counts = (Judgment.objects.count(), Assignment.objects.count(), Rater.objects.count())
    with monkeypatch.context() as patch:
        patch.setattr(erasing, step, dying)
        with pytest.raises(Killed):
            erase(person, owner)
    assert (Judgment.objects.count(), Assignment.objects.count(), Rater.objects.count()) == counts
    assert list(verify_study(study)) == []
    erase(person, owner)
    assert found_in_database(WORDS, *ids_of(person)) == set()
    assert list(verify_study(study)) == []


def test_a_kill_after_it_is_finished_by_the_sweep(study, person, owner, monkeypatch, tmp_path, settings):
    with monkeypatch.context() as patch:
        patch.setattr(erasing, "clear_erasures", lambda: 0)
        erase(person, owner)
    assert not Erasure.objects.get().is_cleared
    erasing.sweep_erasures()
    assert Erasure.objects.get().is_cleared


def test_their_address_is_nobody_s_any_more(study, person, owner, client):
    token, assignment = person.token, before(person.token)
    erase(person, owner)
    assert client.get(f"/p/{token}/").status_code == 404
    with pytest.raises(Participant.DoesNotExist):
        submit(token, assignment.pk, filled_in(assignment))


def test_what_was_paid_without_a_panel_is_kept(study, person, owner):
    Study.objects.filter(pk=study.pk).update(pay="2.50")
    token = person.token
    hand_in(token)
    participant = get_participant(token)
    assert participant.outcome == "completed"
    erase(participant, owner)
    [paid] = ErasedVisit.objects.all()
    assert (str(paid.pay), paid.day, paid.digest) == ("2.50", participant.ended_at.date(), "")


def test_the_command_says_what_goes_and_erases(study, person, capsys):
    pseudonym = person.rater.pseudonym
    call_command("erase", study.slug, pseudonym, "--dry-run")
    said = capsys.readouterr().out
    assert "2 judgments with all answers" in said
    assert "backups of the database" in said
    assert Judgment.objects.filter(rater=person.rater).exists()
    with pytest.raises(CommandError, match="Say whether the slots"):
        call_command("erase", study.slug, pseudonym, "--reason", REASON)
    call_command("erase", study.slug, pseudonym, "--reason", REASON, "--retire")
    assert "Erased a participant: 2 judgments, whose slots are retired." in capsys.readouterr().out
    with pytest.raises(CommandError, match="no participant"):
        call_command("erase", study.slug, pseudonym, "--reason", REASON, "--retire")
    call_command("verify", study.slug)
    assert "1 rater with 2 judgments" in capsys.readouterr().out


def test_the_plan_changes_nothing(study, person, owner):
    counts = Judgment.objects.count(), Assignment.objects.count()
    plan = plan_erasure(person, by=owner)
    assert plan.problems == []
    assert plan.is_open
    assert (Judgment.objects.count(), Assignment.objects.count()) == counts


def test_the_plan_names_other_studies_of_theirs(study, person, owner, outsider):
    for slug, by in (("second", owner), ("third", outsider)):
        come(make_crowd_study(slug, owner=by, queries=2, arms=ONE_ARM), person.external_id)
    said = [each for each in plan_erasure(person, by=owner).stays if "erase them there" in each]
    assert said == ["what they gave in Second, where they took part, too: erase them there"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.postgres
def test_others_judge_at_the_same_time(owner):
    study = make_crowd_study(
        "busy", owner=owner, queries=12, arms=ONE_ARM, redundancy=4, items_per_participant=6
    )
    gone = [come(study, f"gone-{n}").token for n in range(3)]
    for token in gone:
        for _ in range(3):
            hand_in(token)
    errors, done = [], threading.Event()

    def judge(number):
        try:
            token = come(study, f"busy-{number}").token
            while before(token) is not None:
                hand_in(token)
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    def erase_them():
        try:
            for number, token in enumerate(gone):
                erase(get_participant(token), owner, deal_again=number != 1)
        except Exception as error:
            errors.append(error)
        finally:
            done.set()
            connection.close()

    threads = [threading.Thread(target=judge, args=(n,)) for n in range(5)]
    threads.append(threading.Thread(target=erase_them))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert done.is_set()
    assert errors == []
    study.refresh_from_db()
    assert list(verify_study(study)) == []
    assert Judgment.objects.filter(study=study).count() == Slot.objects.filter(state=SlotState.FILLED).count()
    assert found_in_database("gone-0", "gone-1", "gone-2") == set()
