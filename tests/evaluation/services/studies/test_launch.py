"""Launch: what it refuses, what it leaves behind then, and how it is resumed; the life of a study after it."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotator.models import Slot
from annotator.services.slots import deal as slot_service
from evaluation import tasks
from evaluation.canonical import canonical_hash
from evaluation.models import Item, Job, Query, Response, Status, Study
from evaluation.refusals import Refused, WrongState
from evaluation.services.jobs import begin_job, claim_job
from evaluation.services.studies import freeze
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.launch import (
    ABANDONED_AFTER,
    close_study,
    launch_study,
    pause_study,
    reopen_study,
    resume_study,
)
from evaluation.services.studies.verification import verify_study
from tests.extensions import extend
from tests.factories import make_item, make_study


class CutShort(BaseException):
    """As when the process is killed: nothing gets a chance to tidy up."""


def stored(study):
    return Study.objects.get(pk=study.pk)


def frozen_parts(study):
    """The traces of a launch: revisions, frozen items, slots."""
    items = Item.objects.filter(study=study)
    frozen = items.exclude(stimulus=None) | items.exclude(stimulus_hash="") | items.exclude(start_order=None)
    return study.revisions.count(), frozen.count(), Slot.objects.filter(study=study).count()


def test_launch_freezes_hashes_and_deals(draft):
    launch_study(draft)
    study = stored(draft)
    assert (study.status, study.launching_since) == (Status.LIVE, None)
    assert len(study.study_hash) == 64
    items = study.items.all()
    assert all(canonical_hash(item.stimulus) == item.stimulus_hash for item in items)
    # 4 queries in 3 arms at redundancy 3; training and attention items have no places.
    assert frozen_parts(study) == (1, 18, 36)
    assert not Slot.objects.exclude(item__role="main").exists()
    assert list(verify_study(study)) == []


def test_what_is_stored_is_frozen_and_not_what_the_caller_read_before(draft):
    Study.objects.filter(pk=draft.pk).update(title="Mended", seed=99, redundancy=2)
    launch_study(draft)
    spec = stored(draft).revisions.get().spec
    assert (spec["title"], spec["seed"]) == ("Mended", 99)
    assert Slot.objects.filter(study=draft).count() == 24


def refused(study):
    with pytest.raises(Refused) as refusal:
        launch_study(study)
    study = stored(study)
    assert (study.status, study.launching_since, study.study_hash) == (Status.DRAFT, None, "")
    assert not study.is_frozen
    assert frozen_parts(study) == (0, 0, 0)
    return refusal.value.problems


def test_an_empty_study_is_told_all_that_it_lacks(owner):
    study = make_study("empty", owner=owner, queries=0, arms=(), training=False, checks=0)
    study.questions.all().delete()
    study.steps |= {"qualification": {"pass_mark": 2}}
    study.save()
    assert refused(study) == [
        "The study has no arm.",
        "The study has no questions.",
        "The study has no items.",
        "The pass mark is 2, but there are 0 qualification items.",
    ]


def test_every_item_with_a_problem_is_named_and_nothing_stays_frozen(draft):
    arm, query = draft.arms.first(), Query.objects.get(key="q0")
    systems = list(draft.systems.all())
    make_item(draft, query, None, arm, systems[:1], key="lonely")
    with_context = draft.arms.get(key="NoCtxGen-CtxEval")
    make_item(draft, query, None, with_context, systems, key="bare")
    Query.objects.filter(key="q3").update(text=" ")
    problems = refused(draft)
    assert "Item lonely: responses: needs exactly 2 responses, has 1" in problems
    assert "Item bare: context: arm 'NoCtxGen-CtxEval' shows a context, and this item has none" in problems
    assert sum("the query has no text" in problem for problem in problems) == 3
    assert len(problems) == 5

    Query.objects.filter(key="q3").update(text="Mended.")
    Item.objects.filter(key__in=["lonely", "bare"]).delete()
    launch_study(stored(draft))
    assert stored(draft).status == Status.LIVE


def test_gold_is_asked_for_where_it_is_needed(draft):
    Item.objects.filter(study=draft, key="train-CtxGen-CtxEval").update(gold=None)
    assert refused(draft) == ["Item train-CtxGen-CtxEval: a training item needs gold."]


@pytest.mark.parametrize(
    ("gold", "problem"),
    [
        ({"preference": ["r3"]}, "gold.preference: 'r3' is not one of r1, r2, tie"),
        ({"note": "Either."}, "gold: says neither which response is better nor what is satisfied"),
        ({"satisfied": {"f9.r1": 1}}, "gold.satisfied: no such part: 'f9.r1'"),
        ({"satisfied": {"f1.r1": 2}}, "gold.satisfied.f1.r1: 2 is not one of 0, 1"),
        ({"mood": 1, "preference": "r1"}, "gold.mood: this study has no such question in this arm"),
    ],
)
def test_gold_that_can_t_be_met_is_refused(draft, gold, problem):
    Item.objects.filter(study=draft, key="train-CtxGen-CtxEval").update(gold=gold)
    assert refused(draft) == [f"Item train-CtxGen-CtxEval: {problem}"]


def test_gold_may_not_ask_for_a_checklist_that_the_arm_does_not_show(draft):
    Item.objects.filter(study=draft, key="train-NoCtxGen-NoCtxEval").update(gold={"satisfied": {"f1.r1": 1}})
    assert refused(draft) == ["Item train-NoCtxGen-NoCtxEval: gold.satisfied: no such part: 'f1.r1'"]


def test_a_hook_that_fails_leaves_a_draft(draft, monkeypatch):
    def fail(study):
        raise RuntimeError("the disk is full")

    extend(monkeypatch, launch=fail)
    with pytest.raises(RuntimeError, match="the disk is full"):
        launch_study(draft)
    assert frozen_parts(draft) == (0, 0, 0)
    assert not stored(draft).is_frozen


def cut_short(study, monkeypatch, module, name, after):
    """Launches, and is killed at the so-many-th call of the function."""
    original, calls = getattr(module, name), []

    def killed(*args, **kwargs):
        calls.append(args)
        if len(calls) > after:
            raise CutShort
        return original(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(module, name, killed)
        with pytest.raises(CutShort):
            launch_study(study)
    assert stored(study).is_frozen


@pytest.mark.parametrize(
    ("module", "name", "after", "left"),
    [
        (freeze, "freeze_item", 11, (1, 10, 0)),
        (slot_service, "_append_in_arm", 2, (1, 18, 24)),
        (Slot.objects, "bulk_create", 2, (1, 18, 8)),
    ],
    ids=["while freezing", "between two arms", "while dealing"],
)
def test_a_launch_that_was_cut_short_is_resumed(draft, monkeypatch, settings, module, name, after, left):
    settings.ASSAY_BATCH_SIZE = 5
    monkeypatch.setattr(slot_service, "BATCH", 4)
    cut_short(draft, monkeypatch, module, name, after)
    assert frozen_parts(draft) == left

    with pytest.raises(WrongState, match="already being launched"):
        launch_study(stored(draft))
    without_break(draft)
    study = stored(draft)
    assert (study.status, study.launching_since) == (Status.LIVE, None)
    assert frozen_parts(study) == (1, 18, 36)
    assert list(verify_study(study)) == []


def without_break(study):
    """Launches once more, after the time in which the first launch could still be at it."""
    silent(study)
    launch_study(stored(study))


@pytest.fixture
def worker(monkeypatch):
    """Starts a worker, which does at once what it is sent."""
    monkeypatch.setattr(tasks.send_waiting_jobs, "delay", tasks.send_waiting_jobs)
    monkeypatch.setattr(tasks.send_waiting_jobs, "apply_async", lambda arguments, countdown: None)
    monkeypatch.setattr(tasks.work_on_job, "delay", tasks.work_on_job)
    return tasks.look_for_jobs


def silent(study):
    """The time has passed in which whoever launched could still be at it."""
    waited = timezone.now() - ABANDONED_AFTER - timedelta(seconds=1)
    Study.objects.filter(pk=study.pk).update(launching_since=waited)
    Job.objects.update(heartbeat_at=waited)


@pytest.mark.parametrize("by_worker", [True, False])
def test_a_launch_that_was_killed_is_said_to_be_unfinished_and_a_worker_s_start_finishes_it(
    draft, owner, monkeypatch, settings, worker, capsys, by_worker
):
    settings.ASSAY_BATCH_SIZE = 5
    if by_worker:
        claim_job(begin_job(kind="launch", slug=draft.slug, study=draft, by=owner).pk)
    cut_short(draft, monkeypatch, freeze, "freeze_item", 11)
    with pytest.raises(CommandError, match=r"^1 check failed\.$"):
        call_command("verify", draft.slug)
    assert capsys.readouterr().out.startswith("The launch is unfinished")

    worker()
    assert stored(draft).status == Status.DRAFT  # it may be at it still
    silent(draft)
    worker()
    assert stored(draft).status == Status.LIVE
    assert frozen_parts(draft) == (1, 18, 36)
    call_command("verify", draft.slug)
    assert Job.objects.get().state == Job.State.DONE


def test_a_rehearsal_that_was_killed_is_not_launched(draft, monkeypatch, worker):
    cut_short(draft, monkeypatch, freeze, "freeze_item", 11)
    Study.objects.filter(pk=draft.pk).update(rehearsal_of=make_study("original"), simulated=True)
    silent(draft)
    worker()
    assert stored(draft).status == Status.DRAFT


@pytest.mark.parametrize("module_and_name", [(freeze, "freeze_item"), (slot_service, "_append_in_arm")])
def test_a_launch_that_was_taken_over_stops_and_undoes_nothing(draft, monkeypatch, module_and_name):
    module, name = module_and_name
    original = getattr(module, name)

    def slow(*args, **kwargs):
        """So slow that another process launches the study meanwhile."""
        monkeypatch.setattr(module, name, original)
        without_break(draft)
        return original(*args, **kwargs)

    monkeypatch.setattr(module, name, slow)
    with pytest.raises(WrongState, match="taken over"):
        launch_study(draft)
    assert stored(draft).status == Status.LIVE
    assert stored(draft).revisions.count() == 1
    assert not stored(draft).items.filter(stimulus=None).exists()


def test_a_launch_that_is_interrupted_by_hand_leaves_a_draft(draft, monkeypatch):
    def interrupted(study):
        raise KeyboardInterrupt

    monkeypatch.setattr("evaluation.services.studies.launch.assign_orders", interrupted)
    with pytest.raises(KeyboardInterrupt):
        launch_study(draft)
    assert frozen_parts(draft) == (0, 0, 0)
    assert not stored(draft).is_frozen


def test_a_resumed_launch_that_is_refused_leaves_a_draft(draft, monkeypatch):
    cut_short(draft, monkeypatch, slot_service, "_append_in_arm", 1)
    # Somebody took its questions away meanwhile.
    draft.questions.all().delete()
    with pytest.raises(Refused, match="no questions"):
        without_break(draft)
    assert frozen_parts(draft) == (0, 0, 0)
    assert not stored(draft).is_frozen


def test_a_resumed_launch_deals_the_same(draft, monkeypatch, owner):
    cut_short(draft, monkeypatch, slot_service, "_append_in_arm", 1)
    without_break(draft)
    other = make_study("other", owner=owner)
    launch_study(other)
    rows = [
        list(Slot.objects.filter(study=each).order_by("item__key", "k").values_list("item__key", "k", "order", "rank"))
        for each in (draft, other)
    ]  # fmt: skip
    assert rows[0] == rows[1]


def test_launching_twice_is_refused_and_changes_nothing(draft):
    launch_study(draft)
    before = frozen_parts(draft), stored(draft).study_hash
    with pytest.raises(WrongState, match="Only a draft"):
        launch_study(stored(draft))
    assert (frozen_parts(draft), stored(draft).study_hash) == before


@pytest.mark.parametrize(
    ("steps", "status"),
    [
        ([pause_study], Status.PAUSED),
        ([pause_study, resume_study], Status.LIVE),
        ([close_study], Status.CLOSED),
        ([pause_study, close_study], Status.CLOSED),
        ([close_study, reopen_study], Status.LIVE),
    ],
)
def test_life_cycle(study, steps, status):
    for step in steps:
        step(study)
    assert study.status == stored(study).status == status


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (None, resume_study),
        (pause_study, pause_study),
        (close_study, resume_study),
        (pause_study, reopen_study),
    ],
)
def test_what_the_life_cycle_does_not_allow(study, first, then):
    if first:
        first(study)
    before = stored(study).status
    with pytest.raises(WrongState):
        then(study)
    assert stored(study).status == before


def test_a_draft_can_t_be_paused(draft):
    with pytest.raises(WrongState):
        pause_study(draft)


def test_an_empty_response_is_a_response(draft):
    Response.objects.filter(query__key="q0").update(text="")
    launch_study(draft)
    item = Item.objects.filter(study=draft, query__key="q0").first()
    assert [response["html"] for response in item.stimulus["responses"]] == ["", ""]


def test_a_question_that_no_form_can_ask_is_refused(draft):
    draft.questions.create(key="fluency", kind="scale", prompt="How fluent?", position=9)
    with pytest.raises(Refused, match=r"questions\.fluency: a scale needs low and high"):
        launch_study(draft)
    draft.refresh_from_db()
    assert (draft.status, draft.launching_since) == (Status.DRAFT, None)


def test_a_batch_of_many_items_with_responses_of_their_own(db):
    """SQLite's expressions hold a thousand terms, and a batch has more responses than that."""
    study = make_study("many", queries=501, arms=PAPER_ARMS[:1], training=False, checks=0)
    launch_study(study)
    assert stored(study).status == Status.LIVE
    assert Item.objects.filter(study=study).exclude(stimulus_hash="").count() == 501
