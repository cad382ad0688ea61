"""A study under way may add and withdraw items, and keeps its invariants."""

import json
from functools import partial
from io import StringIO
from threading import Thread

import orjson
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotator.models import Slot, SlotState
from evaluation.dumps.imports.added_items import add_items, preview_items
from evaluation.dumps.lines import FileSource
from evaluation.models import Item, Judgment, Query, Response, Study
from evaluation.refusals import Refused, WrongState
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.items import withdraw_item
from evaluation.services.studies.launch import close_study, launch_study
from evaluation.services.studies.verification import verify_study
from evaluation.services.tokens import make_token
from evaluation.tasks import work_on_job
from judging.services.calls.creation import CallCreator
from judging.services.estimates.run_estimate import estimate
from judging.services.judges import heuristic_judge
from judging.services.runs.judge_runs import start_run
from judging.services.runs.judge_workload import JudgeWorkload
from judging.services.runs.lifecycle import cancel_run
from judging.services.runs.work import work_on
from tests import factories
from tests.crowd import before, come, hand_in, make_crowd_study
from tests.evaluation.admin.conftest import signed_in


def record(query, arm="NoCtxGen-NoCtxEval", systems=("aspen", "birch"), **more):
    return {
        "key": f"{query}-late",
        "arm": arm,
        "query": {"key": query, "text": f"What about {query}?", "category": "even"},
        "context": {"key": "c", "follow_ups": [{"question": "For whom?", "answers": ["A"], "answer": "A"}]},
        "responses": [{"system": system, "text": f"{system} says."} for system in systems],
    } | more


@pytest.fixture
def file(tmp_path):
    def write(*records):
        path = tmp_path / "items.jsonl"
        path.write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in records))
        return FileSource(path)

    return write


def frozen(study):
    return dict(study.items.values_list("key", "stimulus_hash"))


def test_added_items_come_in_as_a_revision_of_their_own(study, file):
    before, old_hash, first = frozen(study), study.study_hash, study.revisions.get()
    source = file(record("late"), record("later", systems=("aspen", "cedar")))
    preview = preview_items(source, study)
    assert (preview.items, preview.new_queries, preview.new_systems, preview.places) == (2, 2, ("cedar",), 6)
    assert preview.first["query"]["key"] == "late"
    assert frozen(study) == before  # a preview changes nothing
    assert not Study.objects.exclude(pk=study.pk).exists()

    addition, revision = add_items(source, study)
    assert addition == preview
    study.refresh_from_db()
    after = frozen(study)
    assert {key: after.pop(key) for key in before} == before
    assert set(after) == {"late-late", "later-late"}
    assert (revision.number, revision.spec) == (2, first.spec)
    assert len({revision.hash, first.hash, revision.items_hash}) == 3
    assert study.study_hash != old_hash
    first.refresh_from_db()
    assert first.hash == first.spec_hash
    open_slots = Slot.objects.filter(item__key__endswith="-late", state=SlotState.OPEN)
    assert open_slots.count() == 2 * study.redundancy
    others = Slot.objects.exclude(item__key__endswith="-late")
    arm = study.arms.get(key="NoCtxGen-NoCtxEval")
    assert min(open_slots.values_list("rank", flat=True)) > max(
        others.filter(arm=arm).values_list("rank", flat=True)
    )
    assert list(verify_study(study)) == []
    Item.objects.filter(key="late-late").update(revision_number=1)
    assert "Revision 2: its hash does not cover the items that came with it." in list(verify_study(study))


def test_queries_and_responses_that_are_there_are_used(study, file):
    counted = [Query.objects.count(), Response.objects.count()]
    item = study.items.filter(arm__key="NoCtxGen-NoCtxEval", role="main").first()
    response = item.responses.get(system__key="aspen")
    follow_ups = item.context.follow_ups
    known = record(
        item.query.key,
        context={"key": "c", "follow_ups": follow_ups},
        responses=[{"system": "aspen", "text": response.text}, {"system": "cedar", "text": "New."}],
    )
    addition, _ = add_items(file(known), study)
    assert (addition.new_queries, addition.new_responses) == (0, 1)
    assert [Query.objects.count(), Response.objects.count()] == [counted[0], counted[1] + 1]
    added = study.items.get(key=known["key"])
    assert (added.query, added.context) == (item.query, item.context)
    assert response in added.responses.all()
    assert list(verify_study(study)) == []


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"key": "q0-NoCtxGen-NoCtxEval-aspen-birch"}, "items never change"),
        ({"query": {"key": "q0", "text": "Other words?"}}, "Query q0: its text, category differs"),
        ({"arm": "elsewhere"}, "the study has no arm 'elsewhere'"),
        ({"responses": [{"system": "aspen", "text": "Alone."}]}, "needs exactly 2 responses, has 1"),
        ({"role": "training"}, "a training item needs gold"),
        (
            {"query": {"key": "q0", "text": "What about q0?", "category": "even"}},
            "Response aspen of query q0: the study has one of that key, which differs.",
        ),
    ],
)
def test_one_bad_item_keeps_all_out(study, file, changed, sentence):
    before, study_hash = frozen(study), study.study_hash
    source = file(record("fine"), record("late") | changed)
    for act in (preview_items, add_items):
        with pytest.raises(Refused, match=sentence):
            act(source, study)
    study.refresh_from_db()
    assert (frozen(study), study.study_hash, study.revisions.count()) == (before, study_hash, 1)
    assert [Study.objects.count(), Query.objects.filter(key="fine").count()] == [1, 0]


def test_only_a_study_that_is_under_way_takes_items(study, file):
    close_study(study)
    with pytest.raises(WrongState, match="this one is closed"):
        add_items(file(record("late")), study)


def test_a_study_with_a_stopping_rule_takes_no_items(study, file):
    study.stopping = {"figure": "win_rate"}
    study.save()
    with pytest.raises(Refused, match="items can't be added"):
        add_items(file(record("late")), study)
    assert not study.items.filter(key="late-late").exists()


def test_the_same_participant_stays_the_same_rater(owner, file):
    study = make_crowd_study("growing", queries=2, arms=PAPER_ARMS[:1], redundancy=1, items_per_participant=2)
    ann, bert = come(study, "ann"), come(study, "bert")  # each has one of the two places before them
    add_items(file(record("late")), study)
    assert hand_in(ann.token).judgment.item.key != "late-late"
    assert hand_in(ann.token).judgment.item.key == "late-late"
    hand_in(bert.token)
    judgments = Judgment.objects.filter(study=study)
    assert set(judgments.values_list("rater", "revision__number")) == {(ann.rater_id, 1), (bert.rater_id, 1)}
    assert list(verify_study(study)) == []


# --- a further system -------------------------------------------------------------------------------------------------


@pytest.fixture
def leaderboard(db):
    """Six systems, each pair judged on two queries, in one arm without contexts and one with."""
    study = factories.make_study(
        "board", queries=2, arms=[PAPER_ARMS[0], PAPER_ARMS[2]], systems=tuple("abcdef"), items_per_query=15,
        training=False, checks=0, baseline="a", pay="1.50", items_per_participant=2, redundancy=2,
    )  # fmt: skip
    launch_study(study)
    return study


def responses(tmp_path, *lines):
    path = tmp_path / "responses.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def run(*args):
    out = StringIO()
    call_command("add_items", "board", *args, stdout=out)
    return out.getvalue()


def test_a_seventh_system_meets_the_six(leaderboard, tmp_path):
    before = frozen(leaderboard)
    path = responses(
        tmp_path,
        {"query": "q0", "text": "g on q0"},
        {"query": "q0", "text": "g on q0, told", "context": "c"},
        {"query": "q1", "text": "g on q1"},
    )
    against_baseline = run(path, "--system", "g", "--against", "baseline", "--dry-run")
    assert "3 items on 2 queries. New queries: 0." in against_baseline
    assert "New systems: g. New responses: 3." in against_baseline
    assert "Pay for that work: 4.50 GBP." in against_baseline
    assert "Not compared: 1 query, by arm and context, without a response of g" in against_baseline
    assert frozen(leaderboard) == before

    said = run(path, "--system", "g", "--family", "new", "--yes")
    assert "Added 18 items as revision 2." in said
    leaderboard.refresh_from_db()
    added = leaderboard.items.filter(revision_number=2)
    pairs = {tuple(each["system"] for each in item.stimulus["responses"]) for item in added}
    assert pairs == {(each, "g") for each in "abcdef"}
    texts = {(item.arm.key, item.query.key, item.stimulus["responses"][1]["text"]) for item in added}
    assert texts == {
        ("NoCtxGen-NoCtxEval", "q0", "g on q0"), ("CtxGen-CtxEval", "q0", "g on q0, told"),
        ("NoCtxGen-NoCtxEval", "q1", "g on q1"),
    }  # fmt: skip
    assert leaderboard.systems.get(key="g").family == "new"
    assert {key: value for key, value in frozen(leaderboard).items() if key in before} == before
    assert list(verify_study(leaderboard)) == []
    with pytest.raises(CommandError, match="has a system 'g' already"):
        run(path, "--system", "g", "--yes")


def test_faults_of_responses_are_named_by_their_lines(leaderboard, tmp_path):
    path = responses(
        tmp_path,
        {"query": "q0", "text": "one"},
        {"query": "q0", "text": "two"},
        {"query": "q9", "text": "one"},
        {"query": "q1", "answer": "one"},
    )
    with pytest.raises(CommandError) as caught:
        run(path, "--system", "g", "--yes")
    said = str(caught.value)
    for sentence in (
        "line 2: a second response to 'q0'",
        "line 3: query: no item of the study is about 'q9'",
        "line 4: answer: a response has no such field",
        "line 4: text: is missing",
        "Nothing was added.",
    ):
        assert sentence in said
    assert leaderboard.revisions.count() == 1


def test_a_withdrawn_item_is_given_to_nobody(study):
    item = study.items.filter(role="main").first()
    withdraw_item(item)
    assert set(item.slots.values_list("state", flat=True)) == {SlotState.RETIRED}
    study.refresh_from_db()
    assert study.corrections == 1
    assert list(verify_study(study)) == []


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_claims_and_additions_at_once(tmp_path):
    """Claims, judgments and two additions in threads: every place is given once, and all invariants hold."""
    study = make_crowd_study("busy", queries=6, arms=PAPER_ARMS[:1], redundancy=2, items_per_participant=5)
    people = [come(study, f"p{n}") for n in range(4)]
    errors = []

    def work(act):
        try:
            act()
        except Exception as error:  # reported by the test, which threads can't fail
            errors.append(error)
        finally:
            connection.close()

    def judge(person):
        while before(person.token) is not None:
            hand_in(person.token)

    def add(key):
        path = tmp_path / f"{key}.jsonl"
        path.write_bytes(orjson.dumps(record(key)) + b"\n")
        add_items(FileSource(path), Study.objects.get(pk=study.pk))

    acts = [partial(judge, each) for each in people] + [partial(add, key) for key in ("one", "two")]
    threads = [Thread(target=work, args=[act]) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    study.refresh_from_db()
    assert [each.number for each in study.revisions.all()] == [1, 2, 3]
    assert sorted(study.items.filter(revision_number__gt=1).values_list("key", flat=True)) == [
        "one-late",
        "two-late",
    ]
    assert list(verify_study(study)) == []


def test_notes_on_added_items_come_along(study, file):
    add_items(file(record("late", notes=[{"text": "Not in the first file."}])), study)
    assert list(study.notes.values_list("item__key", "text")) == [("late-late", "Not in the first file.")]


def test_a_judge_s_next_run_covers_only_what_is_new(study, file, owner):
    judge = heuristic_judge(study, "longer", user=owner)
    run = start_run(study, judge, user=owner)
    work_on(run.pk)
    judged = set(Judgment.objects.values_list("pk", flat=True))
    add_items(file(record("late"), record("later")), study)
    assert estimate(study, judge).items == 2
    again = start_run(study, judge, user=owner)
    assert (again.pk, again.state) == (run.pk, "pending")
    work_on(again.pk)
    new = Judgment.objects.exclude(pk__in=judged)
    assert sorted(new.values_list("item__key", flat=True)) == ["late-late", "later-late"]
    assert set(new.values_list("rater", "rater__in_figures")) == {(run.judging.rater_id, True)}
    assert list(verify_study(study)) == []
    # Nothing is new: the next one is a run of its own.
    assert start_run(study, judge, user=owner).pk != run.pk


@pytest.mark.parametrize("begun", [True, False])
def test_an_extension_that_is_cancelled_leaves_the_complete_run(study, file, owner, begun):
    judge = heuristic_judge(study, "longer", user=owner)
    run = start_run(study, judge, user=owner)
    work_on(run.pk)
    n = Judgment.objects.count()
    add_items(file(record("late")), study)
    again = start_run(study, judge, user=owner)
    if begun:
        CallCreator(again, JudgeWorkload(again)).create_batch()
    cancel_run(again)
    run.refresh_from_db()
    assert (run.state, run.judging.rater.in_figures, Judgment.objects.count()) == ("complete", True, n)
    assert list(verify_study(study)) == []
    assert start_run(study, judge, user=owner).pk == run.pk  # it can be had later


def test_by_page_and_api(study, owner, tmp_path, settings):
    settings.ASSAY_JOB_FILES = str(tmp_path / "jobs")
    study.members.get_or_create(user=owner, defaults={"role": "owner"})
    client = signed_in(owner)
    address = reverse("admin:evaluation_study_add_items", args=[study.slug])

    def work(at, **data):
        """The page of the job that a form begins or goes on with, once a worker has been at it."""
        client.post(at, data)
        job = study.jobs.latest("pk")
        work_on_job(job.pk)
        page = client.get(reverse("admin:evaluation_job_watch", args=[job.pk])).content.decode()
        return job, " ".join(page.split())

    _, wrong = work(address, file=upload(record("late", arm="x")), against="all")
    assert "Nothing was added. 1 error found." in wrong
    assert "the study has no arm" in wrong
    lines = [{"query": "q0", "text": "New."}, {"query": "q1", "text": "New too."}]
    job, shown = work(address, file=upload(*lines), system="cedar", against="all")
    assert "8 items on 2 queries. New queries: 0." in shown
    assert "New systems: cedar." in shown
    assert study.revisions.count() == 1
    _, done = work(reverse("admin:evaluation_job_confirm", args=[job.pk]))
    assert "Added 8 items as revision 2." in done
    overview = client.get(reverse("admin:evaluation_study_overview", args=[study.slug])).content.decode()
    assert "8 items added" in " ".join(overview.split())

    headers = {"Authorization": f"Bearer {make_token(owner, name='t')[1]}"}
    api = f"/api/v1/studies/{study.slug}/additions/"

    def send(**body):
        answer = Client().post(api, body, "application/json", headers=headers)
        return answer.status_code, answer.json()

    status, body = send(items=[record("late")], preview=True)
    assert (status, body["items"], body["revision"], body["places"]) == (200, 1, None, 3)
    status, body = send(items=[record("late")])
    assert (status, body["revision"], len(body["revision_hash"])) == (201, 3, 64)
    # Far more than what other addresses of the API take.
    status, body = send(items=[{"query": "q0", "text": "Long. " * 50_000}], system="dill")
    assert (status, body["new_systems"]) == (201, ["dill"])
    status, body = send(items=[record("late")])
    assert (status, body["code"]) == (409, "refused")
    assert "Item late-late: the study has an item of that key" in body["detail"]
    study.refresh_from_db()
    assert list(verify_study(study)) == []


def upload(*records):
    return SimpleUploadedFile("items.jsonl", b"".join(orjson.dumps(each) + b"\n" for each in records))
