"""Rounds with a model: asked, answered, failed, lost, asked again; and kept beside the judgment."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotator.models import DraftRound
from annotator.services.admission.entry import enter
from annotator.services.work.draft_rounds import (
    MAX_INSTRUCTION,
    MAX_ROUNDS,
    request_round,
    rounds_left,
)
from annotator.services.work.leave import withdraw
from annotator.services.work.submit import NotYours, submit
from annotator.visit import Visit
from evaluation import tasks
from evaluation.dumps.exports.study_export import export_to
from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.lines import FileSource
from evaluation.extension import Reviser, RevisionFailed
from evaluation.forms.input.posted_fields import read_fields
from evaluation.models import Job, Judgment, Study
from evaluation.protocols.entries.sets import decisions, read_entry
from evaluation.refusals import Refused
from evaluation.services.jobs import claim_job
from tests.annotator.services.people import ONE_ARM
from tests.calibrations import FERRY, NEW, OLD, calibration_study, form, kept
from tests.crowd import before, make_crowd_study
from tests.extensions import extend

DONE, FAILED, WAITING = DraftRound.State.DONE, DraftRound.State.FAILED, DraftRound.State.WAITING
FILLED_IN = read_fields(form(kept(OLD, "r1.e1"), kept(NEW, "r1.e2")))


@pytest.fixture
def model(monkeypatch):
    """A reviser that adds an entry, or answers `gives`; `fails` makes it fail with these words or that error."""

    class Model:
        fails = gives = None
        seen = []

        def revise(self, item, entries, instruction):
            self.seen.append((item.query.key, entries, instruction))
            if self.fails is not None:
                raise self.fails
            return [*entries, FERRY] if self.gives is None else self.gives

    made = Model()
    made.seen = []
    extend(monkeypatch, alone=True, reviser=lambda: Reviser(lambda item: "a-model", made.revise))
    return made


@pytest.fixture
def study(db):
    return calibration_study({"q1": [[OLD, NEW]]})


@pytest.fixture
def token(study):
    return enter(study, Visit("link")).token


def work_on(asked):
    tasks.work_on_job(asked.job_id)


def lose_worker():
    """Its worker is silent for longer than any works."""
    Job.objects.update(sent_at=timezone.now(), heartbeat_at=timezone.now() - timedelta(hours=1))


def request(token, instruction="Add the ferry."):
    return request_round(token, before(token).pk, instruction, FILLED_IN)


def refusal(token, **options):
    with pytest.raises(Refused) as refused:
        request(token, **options)
    return refused.value.notice.removeprefix("round-")


def test_the_model_sees_the_entries_as_they_are_and_its_set_is_kept(model, token):
    asked = request(token, "  Add the ferry. ")
    assert (asked.number, asked.state, asked.model) == (1, WAITING, "a-model")
    work_on(asked)
    asked.refresh_from_db()
    assert asked.state == DONE
    assert asked.before == [kept(OLD, "r1.e1"), kept(NEW, "r1.e2")]
    assert asked.after == [*asked.before, kept(FERRY, "m1.e3")]
    assert model.seen == [("q1", asked.before, "Add the ferry.")]


def test_rows_that_are_rejected_or_could_not_be_handed_in_stay_here(model, token):
    fields = form(kept(OLD, "r1.e1"), kept(NEW, "r1.e2"), FERRY)
    fields |= {"entries.e1.keep": "0", "entries.e3.cite.9": "on"}
    asked = request_round(token, before(token).pk, "Go on.", read_fields(fields))
    assert asked.before == [kept(NEW, "r1.e2")]


def test_one_waits_at_a_time(model, token):
    first = request(token)
    assert refusal(token) == "waiting"
    work_on(first)
    assert request(token).number == 2


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RevisionFailed("The model refused."), "The model refused."),
        (
            ZeroDivisionError("internals"),
            "Something went wrong while the model was asked. You can ask again.",
        ),
    ],
)
def test_a_failed_round_says_why_and_can_be_asked_again(model, token, error, words):
    model.fails = error
    asked = request(token)
    work_on(asked)
    asked.refresh_from_db()
    assert (asked.state, asked.problem, asked.after) == (FAILED, words, [])
    assert request(token).number == 2


def test_a_round_whose_worker_was_lost_gives_way(model, token):
    lost = request(token)
    lose_worker()
    again = request(token)
    lost.refresh_from_db()
    assert (lost.state, again.number) == (FAILED, 2)
    assert "did not answer in time" in lost.problem
    # The worker comes back after all: it asks nobody, and changes nothing.
    work_on(lost)
    lost.refresh_from_db()
    assert lost.state == FAILED
    assert model.seen == []


def test_a_second_message_about_a_round_changes_nothing(model, token):
    asked = request(token)
    work_on(asked)
    work_on(asked)
    assert len(model.seen) == 1


def test_a_round_that_a_worker_has_in_hand_is_taken_by_no_other(model, token, monkeypatch):
    asked = request(token)
    answer = model.revise

    def revise(item, entries, instruction):
        work_on(asked)  # another worker, which the broker sent the message too
        return answer(item, entries, instruction)

    extend(monkeypatch, alone=True, reviser=lambda: Reviser(lambda item: "a-model", revise))
    work_on(asked)
    asked.refresh_from_db()
    assert (asked.state, len(model.seen)) == (DONE, 1)


def test_a_round_whose_worker_died_with_it_is_not_paid_for_again(model, token):
    asked = request(token)
    claim_job(asked.job_id)
    work_on(asked)
    asked.refresh_from_db()
    assert (asked.state, model.seen) == (WAITING, [])
    lose_worker()
    assert request(token).number == 2


def test_a_worker_that_was_given_up_writes_nothing(model, token, monkeypatch):
    asked = request(token)
    answer = model.revise

    def revise(item, entries, instruction):
        lose_worker()
        request(token, "Once more.")
        return answer(item, entries, instruction)

    extend(monkeypatch, alone=True, reviser=lambda: Reviser(lambda item: "a-model", revise))
    work_on(asked)
    first, second = DraftRound.objects.all()
    assert (first.state, first.after, second.state) == (FAILED, [], WAITING)
    assert Job.objects.get(pk=asked.job_id).state == "failed"


def test_so_many_rounds_and_no_more(model, token):
    for _ in range(MAX_ROUNDS):
        work_on(request(token))
    assert refusal(token) == "enough"


def test_rounds_that_failed_or_were_lost_are_not_counted(model, token):
    model.fails = RevisionFailed("The model refused.")
    for _ in range(MAX_ROUNDS + 1):
        work_on(request(token))
    model.fails = None
    request(token)
    lose_worker()
    assert rounds_left(DraftRound.objects.all()) == MAX_ROUNDS
    work_on(request(token))
    assert rounds_left(DraftRound.objects.all()) == MAX_ROUNDS - 1


def test_so_many_of_a_participant_over_the_whole_study(model, settings, db):
    settings.ASSAY_ROUNDS_PER_PARTICIPANT = 3
    token = enter(calibration_study({"q1": [[OLD, NEW]], "q2": [[OLD, NEW]]}), Visit("link")).token
    model.fails = RevisionFailed("The model refused.")
    for _ in range(3):
        work_on(request(token))
    assert refusal(token) == "spent"
    submit(token, before(token).pk, FILLED_IN)
    assert refusal(token) == "spent"


def calibrators(study, *ids):
    return [enter(study, Visit("link", external_id=each) if each else Visit("link")).token for each in ids]


def test_so_many_of_a_study_whoever_asks(model, db):
    """Who withdraws and comes back finds what was asked before counted."""
    study = calibration_study({"q1": [[OLD, NEW]], "q2": [[OLD, NEW]]}, redundancy=3, revisions_in_all=2)
    for token in calibrators(study, "a", ""):
        work_on(request(token))
        withdraw(token)
    [late] = calibrators(study, "c")
    assert refusal(late) == "study_spent"


def test_so_many_of_a_study_within_a_day(model, db):
    study = calibration_study({"q1": [[OLD, NEW]]}, redundancy=3, revisions_per_day=1)
    first, second = calibrators(study, "a", "b")
    work_on(request(first))
    assert refusal(second) == "day_spent"
    DraftRound.objects.update(asked_at=timezone.now() - timedelta(hours=25))
    assert request(second).number == 1


def test_who_came_without_an_id_asks_for_nothing_unless_the_study_says_so(model, db):
    study = calibration_study({"q1": [[OLD, NEW]]}, redundancy=3, revisions_anonymous=0)
    anonymous, named = calibrators(study, "", "a")
    assert refusal(anonymous) == "spent"
    assert request(named).number == 1
    study.revisions_anonymous = 1
    study.save()
    assert request(anonymous).number == 1
    assert Study._meta.get_field("revisions_anonymous").default == 0


def test_what_is_no_instruction(model, token):
    assert refusal(token, instruction=" \n ") == "no_instruction"
    assert refusal(token, instruction="x" * (MAX_INSTRUCTION + 1)) == "too_long"
    assert not DraftRound.objects.exists()


def test_without_a_model_nothing_is_asked(token):
    assert refusal(token) == "no_model"


def test_items_without_entries_have_nothing_to_revise(model, db):
    pairs = enter(make_crowd_study("pairs", queries=1, arms=ONE_ARM), Visit("link"))
    assert refusal(pairs.token) == "no_model"


def test_only_for_what_is_before_oneself(model, study, token):
    mine = before(token)
    other = enter(study, Visit("link")).token
    with pytest.raises(NotYours):
        request_round(other, mine.pk, "Add the ferry.", FILLED_IN)
    submit(token, mine.pk, FILLED_IN)
    with pytest.raises(Refused, match="no longer before the participant"):
        request_round(token, mine.pk, "Add the ferry.", FILLED_IN)


def test_rounds_stand_in_the_trace_of_the_judgment(model, token):
    work_on(request(token, "Add the ferry."))
    model.fails = RevisionFailed("The model refused.")
    work_on(request(token, "Now swear."))
    rows = (kept(OLD, "r1.e1"), kept(NEW, "r1.e2"), kept(FERRY, "m1.e3"))
    submit(token, before(token).pk, read_fields(form(*rows)))
    first, second = Judgment.objects.get().trace["rounds"]
    assert first == {
        "number": 1,
        "instruction": "Add the ferry.",
        "model": "a-model",
        "state": "done",
        "before": [kept(OLD, "r1.e1"), kept(NEW, "r1.e2")],
        "after": [kept(OLD, "r1.e1"), kept(NEW, "r1.e2"), kept(FERRY, "m1.e3")],
        "problem": "",
    }
    assert (second["state"], second["after"], second["problem"]) == ("failed", [], "The model refused.")


def settle(token, *rows):
    """Hands these rows in; the origins of the set as it is kept, and what became of the drafts."""
    assignment = before(token)
    submit(token, assignment.pk, read_fields(form(*rows)))
    answers = Judgment.objects.get().answers.filter(kind="entries").order_by("part")
    entries = [read_entry(answer.text) for answer in answers]
    return [entry["origins"] for entry in entries], decisions(assignment.item.stimulus, entries)


def test_what_a_revision_left_alone_is_what_it_was(model, token):
    """The draft is taken in place of one's own: both drafted entries stand as they were, one's own was added."""
    model.gives = [OLD, FERRY, NEW]
    rows = (kept(OLD, "r1.e1"), kept(NEW, "r1.e2"), FERRY)
    work_on(request_round(token, before(token).pk, "Sort them.", read_fields(form(*rows))))
    taken = (kept(OLD, "m1.e1"), kept(FERRY, "m1.e2"), kept(NEW, "m1.e3"))
    assert settle(token, *taken) == ([["r1.e1"], [], ["r1.e2"]], {"r1.e1": "accepted", "r1.e2": "accepted"})


def test_what_one_mended_oneself_and_the_model_left_alone_was_edited(model, token):
    mine = kept(OLD, "r1.e1", reason="Seen there.")
    model.gives = [mine | {"origins": []}]
    work_on(request_round(token, before(token).pk, "Go.", read_fields(form(mine))))
    assert settle(token, mine | {"origins": ["m1.e1"]}) == (
        [["r1.e1"]],
        {"r1.e1": "edited", "r1.e2": "rejected"},
    )


def test_what_a_model_mended_was_edited_and_what_it_added_is_of_the_revision(model, token):
    """Over two rounds: the first mends an entry and adds one, the second mends both of these."""
    mended = kept(NEW, "r1.e2", answers=["In 1962"])
    model.gives = [kept(OLD, "r1.e1"), mended, FERRY]
    work_on(request(token))
    rows = (kept(OLD, "m1.e1"), mended | {"origins": ["m1.e2"]}, kept(FERRY, "m1.e3"))
    second = request_round(token, before(token).pk, "Shorter.", read_fields(form(*rows)))
    assert [entry["origins"] for entry in second.before] == [["r1.e1"], ["r1.e2"], ["m1.e3"]]
    model.gives = [kept(NEW, "r1.e2", answers=["62"]), kept(FERRY, "m1.e3", answers=["ever"])]
    work_on(second)
    taken = [kept(each, f"m2.e{place}") for place, each in enumerate(model.gives, 1)]
    assert settle(token, *taken) == (
        [["r1.e2"], ["m1.e3"]],
        {"r1.e1": "rejected", "r1.e2": "edited"},
    )


def test_what_a_model_made_of_two_was_merged(model, token):
    model.gives = [kept(OLD, "r1.e1", "r1.e2")]
    work_on(request(token))
    assert settle(token, kept(OLD, "m1.e1"))[1] == {"r1.e1": "merged", "r1.e2": "merged"}


def test_gold_is_held_against_what_entries_came_from_in_the_end(model, token):
    item = before(token).item
    item.gold = {"entries": {"r1.e1": "edited"}}
    item.save()
    model.gives = [kept(OLD, "r1.e1", reason="Seen there.")]
    work_on(request(token))
    settle(token, kept(model.gives[0], "m1.e1"))
    assert Judgment.objects.get().assignment.passed is True


def test_without_rounds_the_trace_says_nothing_of_them(model, token):
    submit(token, before(token).pk, FILLED_IN)
    assert Judgment.objects.get().trace == {}


def test_rounds_leave_with_the_export_and_come_back(model, study, token, tmp_path):
    work_on(request(token))
    submit(token, before(token).pk, FILLED_IN)
    path = tmp_path / "study.jsonl"
    export_to(study, format="jsonl", path=str(path))
    again = import_dump(FileSource(path), slug="again")
    [kept_there] = Judgment.objects.filter(study=again)
    assert kept_there.trace == Judgment.objects.get(study=study).trace
    assert kept_there.trace["rounds"][0]["instruction"] == "Add the ferry."
