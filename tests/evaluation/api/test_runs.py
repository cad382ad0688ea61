"""Judges and runs: seen by members, started and steered by those who may change the study, never twice by one key."""

import json
from decimal import Decimal

import pytest
from django.contrib.auth import get_user_model

from evaluation.models import ApiRequest, StudyMember
from judging import tasks
from judging.models import Judge, Run, RunState
from judging.services.endpoints.access import create_endpoint
from judging.services.judges import create_judge, heuristic_judge
from judging.services.runs.lifecycle import pause_run
from judging.services.runs.work import work_on
from tests.analytics.reports.judging import judged_study
from tests.evaluation.api.conftest import Caller
from tests.factories import make_study

RUNS = "studies/contrast/runs/"
SECRET = "sk-never-to-be-seen"
ADDRESS = "https://models.internal:8000/v1"


@pytest.fixture
def queued(monkeypatch):
    """(run, token) of the messages that would go to a worker."""
    found = []
    monkeypatch.setattr(tasks.work_on_run, "apply_async", lambda arguments, **_: found.append(arguments))
    return found


@pytest.fixture
def longer(study):
    return heuristic_judge(study, "longer")


@pytest.fixture
def llm(study, monkeypatch):
    monkeypatch.setenv("ASSAY_KEY_MODELS", SECRET)
    boss = get_user_model().objects.create_superuser("boss")
    endpoint = create_endpoint(user=boss, name="models", base_url=ADDRESS, key_name="ASSAY_KEY_MODELS")
    return create_judge(study, name="llm", endpoint=endpoint, model="small-1", price_prompt=Decimal("0.15"))


@pytest.fixture
def run(as_owner, longer):
    return Run.objects.get(pk=as_owner.post(RUNS, {"judge": longer.pk}).json()["id"])


def runs():
    return Run.objects.count()


# Of a single run, and not in a list of them.
TOLD_OF_ONE = ("progress", "batches", "unread_reply")

# --- endpoints and judges -------------------------------------------------------------------------------------------


def test_where_an_endpoint_is_only_superusers_see(llm, as_owner, call):
    [seen] = as_owner.get("endpoints/").json()["results"]
    assert seen == {
        "name": "models", "max_in_flight": 16, "requests_per_minute": None, "tokens_per_minute": None,
        "batch_price_factor": "1", "local": False, "base_url": None, "key_name": None,
    }  # fmt: skip
    root = call(get_user_model().objects.create_superuser("root"))
    [seen] = root.get("endpoints/").json()["results"]
    assert (seen["base_url"], seen["key_name"]) == (ADDRESS, "ASSAY_KEY_MODELS")
    nobody = call(get_user_model().objects.create_user("of-no-study"))
    assert nobody.get("endpoints/").json()["results"] == []


def test_no_key_and_no_address_is_in_any_answer(llm, longer, run, as_owner):
    paths = [
        "endpoints/", "studies/", "studies/contrast/", "studies/contrast/judges/", f"studies/contrast/judges/{llm.pk}/",
        f"studies/contrast/judges/{llm.pk}/estimate/", "studies/contrast/raters/", RUNS, f"{RUNS}{run.pk}/", "schema/",
    ]  # fmt: skip
    for path in paths:
        answer = as_owner.get(path)
        assert answer.status_code == 200, path
        text = answer.content.decode()
        assert SECRET not in text
        assert "models.internal" not in text
        assert "ASSAY_KEY_MODELS" not in text
        assert as_owner.token not in text


def test_judges_are_listed_with_their_settings(llm, longer, as_owner, as_viewer):
    found = as_viewer.all("studies/contrast/judges/")
    assert {judge["name"]: judge["endpoint"] for judge in found} == {"llm": "models", "longer": None}
    [first] = [judge for judge in found if judge["name"] == "llm"]
    assert first == as_owner.get(f"studies/contrast/judges/{llm.pk}/").json()
    assert (first["version"], first["model"], first["temperature"]) == (1, "small-1", 0.0)
    assert first["price_prompt"].startswith("0.15")


def test_another_study_s_judge_is_not_there(longer, owner, as_owner):
    other = judged_study("other", owner=owner, queries=1)
    for path in (f"judges/{longer.pk}/", f"judges/{longer.pk}/estimate/", "judges/999999/"):
        assert as_owner.get(f"studies/{other.slug}/{path}").status_code == 404


def test_an_estimate_says_what_a_run_would_take(llm, longer, as_viewer, as_owner):
    free = as_viewer.get(f"studies/contrast/judges/{longer.pk}/estimate/").json()
    assert (free["items"], free["calls"], free["seconds"], Decimal(free["cost"])) == (36, 36, None, 0)
    told = as_owner.get(f"studies/contrast/judges/{llm.pk}/estimate/", max_items=10, in_flight=4).json()
    assert (told["items"], told["in_flight"]) == (10, 4)
    assert told["prompt_tokens"] > 0
    for bad in ({"max_items": 0}, {"max_items": "many"}, {"in_flight": 1025}):
        assert as_owner.get(f"studies/contrast/judges/{llm.pk}/estimate/", **bad).status_code == 400


def test_a_draft_has_nothing_to_estimate_or_run(owner, as_owner):
    judge = heuristic_judge(make_study("draft", owner=owner), "longer")
    for answer in (
        as_owner.get(f"studies/draft/judges/{judge.pk}/estimate/"),
        as_owner.post("studies/draft/runs/", {"judge": judge.pk}),
    ):
        assert answer.status_code == 409
        assert answer.json()["code"] == "refused"
        assert "launch the study first" in answer.json()["detail"]


# --- starting -------------------------------------------------------------------------------------------------------


def test_a_run_is_started_followed_and_found_in_the_judgments(
    longer, as_owner, queued, django_capture_on_commit_callbacks
):
    wanted = {"judge": longer.pk, "purpose": "trial", "budget": "2.50", "max_items": 5.0, "in_flight": 3}
    with django_capture_on_commit_callbacks(execute=True):
        answer = as_owner.post(RUNS, wanted)
    assert answer.status_code == 201
    started = answer.json()
    assert started["judge"] == {"id": longer.pk, "name": "longer", "version": 1}
    assert (started["state"], started["purpose"], started["max_items"], started["in_flight"]) == (
        "pending", "trial", 5, 3,
    )  # fmt: skip
    assert Decimal(started["budget"]) == Decimal("2.5")
    assert {run for run, _ in queued} == {started["id"]}
    assert started["progress"]["total"] == 5

    work_on(started["id"], token=queued[0][1])
    path = f"{RUNS}{started['id']}/"
    done = as_owner.get(path).json()
    assert (done["state"], done["progress"]["final"]) == ("complete", 5)
    assert done["progress"]["outcomes"] == [{"outcome": "ok", "n": 5}]
    assert len(as_owner.all("studies/contrast/judgments/", rater=done["rater"])) == 5
    [listed] = as_owner.get(RUNS).json()["results"]
    assert listed == {name: value for name, value in done.items() if name not in TOLD_OF_ONE}
    assert done["unread_reply"] is None
    assert as_owner.get(RUNS, state="running").json()["results"] == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"judge": None}, "judge"),
        ({"judge": "1"}, "judge"),
        ({"judge": True}, "judge"),
        ({"judge": 1.5}, "judge"),
        ({"judge": 10**30}, "judge"),
        ({"judge": 999_999}, "judge"),
        ({"purpose": "fun"}, "purpose"),
        ({"purpose": 1}, "purpose"),
        ({"budget": 2.5}, "budget"),
        ({"budget": "0"}, "budget"),
        ({"budget": ""}, "budget"),
        ({"budget": " "}, "budget"),
        ({"budget": "0.00"}, "budget"),
        ({"budget": "-1"}, "budget"),
        ({"budget": "1e9"}, "budget"),
        ({"budget": "NaN"}, "budget"),
        ({"max_items": 0}, "max_items"),
        ({"max_items": 2**31}, "max_items"),
        ({"in_flight": 0}, "in_flight"),
        ({"max_item": 5}, "max_item"),
    ],
)
def test_bad_input_starts_nothing_and_names_the_field(longer, as_owner, change, field):
    answer = as_owner.post(RUNS, {"judge": longer.pk} | change)
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == [field]
    assert runs() == 0


def test_another_study_s_judge_can_t_be_run(study, owner, as_owner):
    other = judged_study("other", owner=owner, queries=1)
    judge = heuristic_judge(other, "longer")
    assert as_owner.post(RUNS, {"judge": judge.pk}).json()["errors"][0]["field"] == "judge"
    assert runs() == 0


def test_only_who_may_change_the_study_starts_and_steers(
    run, longer, as_viewer, as_outsider, as_nobody, colleague, as_owner
):
    actions = [(RUNS, {"judge": longer.pk}), *((f"{RUNS}{run.pk}/{step}/", None) for step in STEPS)]
    for path, body in actions:
        assert as_nobody.post(path, body).status_code == 401
        assert as_outsider.post(path, body).status_code == 404
        refusal = as_viewer.post(path, body)
        assert (refusal.status_code, refusal.json()["code"]) == (403, "read_only")
    assert runs() == 1
    run.refresh_from_db()
    assert run.state == RunState.PENDING
    StudyMember.objects.filter(user=colleague).update(role="editor")
    assert as_viewer.post(RUNS, {"judge": longer.pk}).status_code == 201


# --- once -----------------------------------------------------------------------------------------------------------


def test_the_same_key_starts_one_run(longer, as_owner):
    first = as_owner.post(RUNS, {"judge": longer.pk}, key="nightly-1")
    second = as_owner.post(RUNS, {"judge": longer.pk}, key="nightly-1")
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    assert runs() == 1
    as_owner.post(RUNS, {"judge": longer.pk}, key="nightly-2")
    as_owner.post(RUNS, {"judge": longer.pk})
    assert runs() == 3


def test_a_key_stands_for_one_request(longer, as_owner):
    as_owner.post(RUNS, {"judge": longer.pk}, key="a")
    other = as_owner.post(RUNS, {"judge": longer.pk, "max_items": 3}, key="a")
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_used")
    assert runs() == 1


def test_keys_are_everybody_s_own(longer, as_owner, call, colleague, study, owner):
    StudyMember.objects.create(study=study, user=colleague, role="editor")
    as_owner.post(RUNS, {"judge": longer.pk}, key="a")
    call(colleague).post(RUNS, {"judge": longer.pk}, key="a")
    assert runs() == 2
    call(owner).post(RUNS, {"judge": longer.pk}, key="a")
    assert runs() == 2, "another token of the same user"


def test_a_request_that_was_refused_leaves_its_key_free(study, longer, as_owner):
    study.status = "draft"
    study.save()
    assert as_owner.post(RUNS, {"judge": longer.pk}, key="a").status_code == 409
    study.status = "live"
    study.save()
    assert as_owner.post(RUNS, {"judge": longer.pk}, key="a").status_code == 201


def test_a_key_is_forgotten_after_a_day(longer, as_owner):
    as_owner.post(RUNS, {"judge": longer.pk}, key="a")
    ApiRequest.objects.update(created_at="2020-01-01T00:00:00Z")
    as_owner.post(RUNS, {"judge": longer.pk}, key="a")
    assert runs() == 2
    assert ApiRequest.objects.count() == 1


@pytest.mark.parametrize("key", [" ", "a b", "a" * 256, "\N{LATIN SMALL LETTER U WITH DIAERESIS}", "a\x00"])
def test_a_strange_key_is_refused(longer, as_owner, key):
    answer = as_owner.post(RUNS, {"judge": longer.pk}, key=key)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "Idempotency-Key"
    assert runs() == 0


# --- steering -------------------------------------------------------------------------------------------------------

STEPS = ("pause", "resume", "cancel")


def test_a_run_is_paused_resumed_and_cancelled(run, as_owner, queued, django_capture_on_commit_callbacks):
    path = f"{RUNS}{run.pk}/"
    assert as_owner.post(f"{path}pause/").json()["state"] == "paused"
    with django_capture_on_commit_callbacks(execute=True):
        resumed = as_owner.post(f"{path}resume/", {"budget": "9", "in_flight": 2}).json()
    assert (resumed["state"], resumed["in_flight"]) == ("pending", 2)
    assert Decimal(resumed["budget"]) == 9
    assert {each for each, _ in queued} == {run.pk}
    assert as_owner.post(f"{path}cancel/").json()["state"] == "cancelled"
    assert as_owner.get(path).json()["finished_at"]


def test_resuming_without_a_word_changes_nothing_else(run, as_owner):
    pause_run(run)
    for body in ({}, None):
        answer = as_owner.post(f"{RUNS}{run.pk}/resume/", body)
        assert answer.status_code == 200
        assert (answer.json()["budget"], answer.json()["in_flight"]) == (None, None)
        pause_run(Run.objects.get(pk=run.pk))


@pytest.mark.parametrize(
    "body", [{"budget": "0"}, {"budget": ""}, {"in_flight": "2"}, {"judge": 1}, [], "text"]
)
def test_a_bad_resume_leaves_the_run_as_it_is(run, as_owner, body):
    pause_run(run)
    assert as_owner.post(f"{RUNS}{run.pk}/resume/", body).status_code == 400
    run.refresh_from_db()
    assert run.state == RunState.PAUSED


def test_what_the_state_forbids_is_a_conflict(run, as_owner):
    path = f"{RUNS}{run.pk}/"
    assert as_owner.post(f"{path}resume/").status_code == 409
    as_owner.post(f"{path}cancel/")
    for step in STEPS:
        answer = as_owner.post(f"{path}{step}/")
        assert (answer.status_code, answer.json()["code"]) == (409, "wrong_state")


@pytest.mark.parametrize("step", STEPS)
def test_steering_is_by_post_and_of_this_study_s_runs(run, as_owner, owner, step):
    judged_study("other", owner=owner, queries=1)
    assert as_owner.get(f"{RUNS}{run.pk}/{step}/").status_code == 405
    assert as_owner.post(f"studies/other/runs/{run.pk}/{step}/").status_code == 404
    for missing in ("999999", str(10**30)):
        assert as_owner.post(f"{RUNS}{missing}/{step}/").status_code == 404


def test_runs_are_listed_newest_first_page_by_page(longer, as_owner):
    made = [as_owner.post(RUNS, {"judge": longer.pk}).json()["id"] for _ in range(5)]
    assert [run["id"] for run in as_owner.all(RUNS, page_size=2)] == made[::-1]


def test_lists_cost_the_same_however_long(longer, llm, run, as_owner, django_assert_num_queries):
    for path, rows in ((RUNS, 1), ("studies/contrast/judges/", 1)):
        for size in (1, 100):
            with django_assert_num_queries(3 + rows):
                as_owner.get(path, page_size=size)


def test_a_judge_that_ran_is_still_described(run, as_owner):
    assert Judge.objects.get().judge_runs.exists()
    body = json.loads(as_owner.get(f"{RUNS}{run.pk}/").content)
    assert body["judge"]["name"] == "longer"
    assert Caller().get(f"{RUNS}{run.pk}/").status_code == 401
