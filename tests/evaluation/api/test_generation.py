"""Pipelines by the API: queries added, runs started and steered, products looked through, and drafts made of them."""

import json
from decimal import Decimal

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model

from evaluation.models import Study, StudyMember
from judging import tasks
from judging.generation.pipelines import PIPELINES
from judging.models import Endpoint, Product, Run
from judging.services.calls.costs import cost_of
from judging.services.endpoints.access import create_endpoint
from judging.services.endpoints.prices import set_price
from judging.services.runs.work import work_on
from tests.factories import make_study
from tests.judging import endpoint
from tests.judging.generating import Stories, contents, generated, make_endpoint, study_of_queries

# Of a single run, and not in a list of them.
TOLD_OF_ONE = ("progress", "batches", "steps")
QUERIES = [{"key": f"q{n}", "text": f"Which soup can I make on day {n}?"} for n in range(4)]
HERE = "studies/soups/generation/"
RUNS = f"{HERE}runs/"
SETTINGS = {
    "pipeline": "responses",
    "endpoint": "here",
    "models": [{"model": "aspen"}, {"model": "birch"}],
    "options": {"settings": "without"},
}


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def study(db, tmp_path, served, owner):
    make_endpoint(served)
    made = study_of_queries(tmp_path, QUERIES, slug="soups")
    made.members.create(user=owner, role="owner")
    return made


@pytest.fixture(autouse=True)
def queued(monkeypatch):
    """(run, token) of the messages that would go to a worker."""
    found = []
    monkeypatch.setattr(tasks.work_on_run, "apply_async", lambda arguments, **_: found.append(arguments))
    return found


@pytest.fixture
def run(study):
    return generated(study, "responses", models=("aspen", "birch"), options={"settings": "without"})


def history(study):
    return list(
        LogEntry.objects.filter(object_id=str(study.pk), content_type__model="study")
        .order_by("pk")
        .values_list("change_message", flat=True)
    )


# --- what there is, and what a run may cost ---------------------------------------------------------------------------


def test_pipelines_are_listed_with_what_can_be_chosen(study, as_viewer):
    found = {each["key"]: each for each in as_viewer.get(f"{HERE}pipelines/").json()}
    assert len(found) >= 9
    responses = found["responses"]
    assert [step["key"] for step in responses["steps"]][-1] == "responses"
    assert {role["name"] for role in responses["roles"]} == {"writers"}
    [settings] = [each for each in responses["options"] if each["name"] == "settings"]
    assert (settings["kind"], "without" in settings["choices"]) == ("choice", True)
    assert (responses["makes"], responses["making"][0]["name"]) == ("pairwise", "arms")
    assert found["retrieval"]["makes"] == ""


def test_an_estimate_tells_the_most_that_a_run_costs_and_starts_none(study, as_owner):
    set_price(Endpoint.objects.get(), "aspen", Decimal(1), Decimal(2))
    told = as_owner.post(f"{HERE}estimate/", {**SETTINGS, "max_queries": 3})
    assert told.status_code == 200
    assert (told.json()["queries"], told.json()["calls"]) == (3, 6)
    assert told.json()["steps"] == [{"step": "responses", "calls": 6}]
    prompts, replies = told.json()["prompt_tokens"], told.json()["completion_tokens"]
    assert prompts > 0
    assert Decimal(told.json()["cost"]) == cost_of(prompts, replies, Decimal(1), Decimal(2)) > 0
    assert Run.objects.count() == 0


def test_what_is_wrong_with_the_settings_is_named_by_its_field(study, as_owner):
    wrong = {
        **SETTINGS,
        "roles": {"writers": {"models": [{"model": "aspen", "endpoint": "nowhere"}]}, "readers": {}},
        "options": {"settings": "sometimes", "length": 3},
        "sources": [99],
    }
    for path in (RUNS, f"{HERE}estimate/"):
        refused = as_owner.post(path, wrong)
        assert (refused.status_code, refused.json()["code"]) == (409, "refused")
        named = {each["field"]: each["message"] for each in refused.json()["errors"]}
        assert named.keys() == {
            "roles.writers", "roles.readers", "options.settings", "options.length", "sources"
        }  # fmt: skip
        assert "no endpoint 'nowhere'" in named["roles.writers"]
    nothing = as_owner.post(RUNS, {**SETTINGS, "pipeline": "poems"})
    assert [each["field"] for each in nothing.json()["errors"]] == ["pipeline"]
    misshapen = as_owner.post(RUNS, {**SETTINGS, "roles": {"writers": {"temperature": 3}}, "colour": "red"})
    assert misshapen.status_code == 400
    assert misshapen.json()["code"] == "invalid"
    assert {each["field"] for each in misshapen.json()["errors"]} == {"colour"}
    hot = as_owner.post(RUNS, {**SETTINGS, "roles": {"writers": {"temperature": 3}}})
    assert [each["field"] for each in hot.json()["errors"]] == ["roles.writers.temperature"]
    assert Run.objects.count() == 0


def test_an_endpoint_that_one_may_not_know_of_is_not_there(study, as_owner, served):
    boss = get_user_model().objects.create_superuser("boss")
    create_endpoint(user=boss, name="theirs", base_url=served.url)
    hidden = as_owner.post(RUNS, {**SETTINGS, "endpoint": "theirs"}).json()["errors"]
    missing = as_owner.post(RUNS, {**SETTINGS, "endpoint": "nowhere"}).json()["errors"]
    assert hidden[0]["message"].replace("theirs", "nowhere") == missing[0]["message"]


# --- runs -------------------------------------------------------------------------------------------------------------


def test_a_run_is_started_once_by_its_key_and_followed(
    study, as_owner, as_viewer, queued, django_capture_on_commit_callbacks
):
    wanted = {**SETTINGS, "budget": "2.50", "in_flight": 3, "seed": 9, "max_queries": 2}
    assert as_owner.post(f"{HERE}estimate/", {**SETTINGS, "by_batch": True}).status_code == 200
    wanted["roles"] = {"writers": {"temperature": 0.25, "top_p": 0.9}}
    with django_capture_on_commit_callbacks(execute=True):
        started = as_owner.post(RUNS, wanted, key="nightly")
    assert started.status_code == 201
    [run] = Run.objects.all()
    assert [each[0] for each in queued] == [run.pk]
    assert as_owner.post(RUNS, wanted, key="nightly").json() == started.json()
    assert as_owner.post(RUNS, SETTINGS, key="nightly").json()["code"] == "idempotency_key_used"
    assert Run.objects.count() == 1
    assert history(study) == [f"Started {run}."]
    found = started.json()
    assert (found["id"], found["state"], found["budget"], found["in_flight"]) == (
        run.pk,
        "pending",
        "2.5000",
        3,
    )
    assert found["roles"] == [
        {
            "name": "writers",
            "models": [{"model": "aspen", "endpoint": "here"}, {"model": "birch", "endpoint": "here"}],
            "temperature": 0.25,
            "top_p": 0.9,
            "max_tokens": found["roles"][0]["max_tokens"],
        }
    ]
    work_on(run.pk, token=queued[0][1])
    done = as_viewer.get(f"{RUNS}{run.pk}/").json()
    assert (done["state"], done["progress"]["final"], done["seed"]) == ("complete", 4, 9)
    [step] = [each for each in done["steps"] if each["step"] == "responses"]
    assert (step["made"], step["failed"], step["products"], step["edited"]) == (4, 0, 4, 0)
    [listed] = as_viewer.all(RUNS, state="complete")
    assert listed == {name: value for name, value in done.items() if name not in TOLD_OF_ONE}
    assert as_viewer.all(RUNS, state="paused") == []


def test_a_run_is_paused_resumed_retried_and_sent_on(study, as_owner, served):
    run = generated(study, "responses", models=("aspen",), options={"settings": "without"}, work=False)
    served.behaviours = "400"

    def steer(act, body=None):
        return as_owner.post(f"{RUNS}{run.pk}/{act}/", body)

    assert steer("pause").json()["state"] == "paused"
    assert steer("pause").json()["code"] == "wrong_state"
    assert steer("resume", {"budget": "1.5"}).json()["budget"] == "1.5000"
    work_on(run.pk)
    failed = as_owner.get(f"{RUNS}{run.pk}/").json()
    assert [each["failed"] for each in failed["steps"]][-1] == 4
    served.behaviours = "400@0.5"
    assert steer("retry").json()["state"] == "pending"
    work_on(run.pk)
    left = [each["failed"] for each in as_owner.get(f"{RUNS}{run.pk}/").json()["steps"]][-1]
    assert 0 < left < 4
    sent_on = steer("pass-over").json()
    assert [each["passed_over"] for each in sent_on["steps"]][-1] == left
    assert steer("cancel").json()["state"] in ("cancelled", "complete")
    units = "1 unit" if left == 1 else f"{left} units"
    assert f"Passed over {units} of {run}." in history(study)


def test_later_steps_are_made_again_from_edited_products(study, as_owner, as_viewer):
    with PIPELINES.registered(Stories()):
        run = generated(study, "stories")
        here = f"{RUNS}{run.pk}/later-steps/"
        title = Product.objects.filter(unit__run=run, unit__step="choice").first()
        as_owner.put(f"{RUNS}{run.pk}/products/{title.pk}/", {"content": {"title": "Leeks at night"}})
        assert as_viewer.post(here, {"step": "choice"}).status_code == 403
        refused = as_owner.post(here, {"step": "story"}).json()
        assert (refused["code"], "No step comes after" in refused["detail"]) == ("refused", True)
        again = as_owner.post(here, {"step": "choice"}, key="again")
        assert again.status_code == 201
        assert as_owner.post(here, {"step": "choice"}, key="again").json() == again.json()
        assert Run.objects.count() == 2
        new = Run.objects.get(pk=again.json()["id"])
        work_on(new.pk)
        assert len(contents(new, "story")) == len(QUERIES)
        taken = as_owner.all(f"{RUNS}{new.pk}/products/", step="choice", which="edited")
        assert [each["edited"] for each in taken] == [{"title": "Leeks at night"}]


def test_a_run_as_batches_tells_of_its_batches(study, as_owner, settings):
    settings.ASSAY_RUN_BATCH_POLL_SECONDS = 0.02
    run = Run.objects.get(pk=as_owner.post(RUNS, {**SETTINGS, "by_batch": True}).json()["id"])
    assert run.by_batch
    work_on(run.pk, over_limit=True)
    done = as_owner.get(f"{RUNS}{run.pk}/").json()
    assert (done["state"], done["by_batch"]) == ("complete", True)
    assert [(each["calls"], each["status"]) for each in done["batches"]] == [(4, "completed")] * 2


# --- products ---------------------------------------------------------------------------------------------------------


def test_products_are_listed_by_step_query_and_what_became_of_them(run, as_owner, as_viewer):
    here = f"{RUNS}{run.pk}/products/"
    listed = as_viewer.all(here, page_size=3)
    assert len(listed) == 8
    assert len({each["id"] for each in listed}) == 8
    first = listed[0]
    assert (first["query"], first["step"], first["edited"], first["dropped"]) == (
        "q0", "responses", None, False
    )  # fmt: skip
    assert first["provenance"]["endpoint"] == "here"
    assert as_viewer.get(f"{here}{first['id']}/").json() == first
    assert {each["query"] for each in as_viewer.all(here, query="q2")} == {"q2"}
    assert as_viewer.all(here, step="nowhere") == []
    two = [each["id"] for each in listed[:2]]
    assert as_owner.post(f"{here}drop/", {"products": [*two, two[0]]}).json() == {"changed": 2}
    assert as_owner.post(f"{here}drop/", {"products": two}).json() == {"changed": 0}
    assert [each["id"] for each in as_viewer.all(here, which="dropped")] == two
    assert len(as_viewer.all(here, which="kept")) == 6
    assert as_owner.post(f"{here}restore/", {"products": two}).json() == {"changed": 2}
    assert as_viewer.all(here, which="dropped") == []
    assert as_viewer.get(here, which="lost").json()["errors"][0]["field"] == "which"


def test_several_are_dropped_or_none(run, as_owner, study):
    other = generated(study, "responses", models=("aspen",), options={"settings": "without"}, seed=5)
    foreign, own = (Product.objects.filter(unit__run=each).first().pk for each in (other, run))
    refused = as_owner.post(f"{RUNS}{run.pk}/products/drop/", {"products": [own, foreign]})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "products")
    assert not Product.objects.exclude(dropped_at=None).exists()
    assert as_owner.get(f"{RUNS}{run.pk}/products/{foreign}/").status_code == 404


def test_an_edit_stands_beside_what_was_made(run, as_owner, study):
    product = Product.objects.filter(unit__run=run).first()
    here = f"{RUNS}{run.pk}/products/{product.pk}/"
    wanted = {"system": "aspen", "text": "Leek.\x00"}
    edited = as_owner.put(here, {"content": wanted}).json()
    assert edited["edited"] == {"system": "aspen", "text": "Leek."}
    assert edited["content"] == product.content
    assert edited["edited_at"] is not None
    assert [each["id"] for each in as_owner.all(f"{RUNS}{run.pk}/products/", which="edited")] == [product.pk]
    refused = as_owner.put(here, {"content": {"text": 3}})
    assert (refused.status_code, refused.json()["code"]) == (409, "refused")
    assert as_owner.put(here, {"content": product.content}).json()["edited"] is None
    assert history(study)[0] == f"Edited product {product.pk} of {run}."


def test_a_draft_is_made_of_products(run, as_owner, owner, study):
    here = f"{RUNS}{run.pk}/studies/"
    wrong = as_owner.post(here, {"options": {"arms": "with"}, "slug": "pairs"})
    assert (wrong.status_code, wrong.json()["code"]) == (409, "refused")
    named = as_owner.post(here, {"options": {"arms": 3}}).json()["errors"]
    assert [each["field"] for each in named] == ["options.arms"]
    first = Product.objects.filter(unit__run=run).first()
    as_owner.post(f"{RUNS}{run.pk}/products/drop/", {"products": [first.pk]})
    made = as_owner.post(here, {"options": {"arms": "without"}, "slug": "pairs", "title": "Pairs"})
    assert made.status_code == 201
    assert (made.json()["slug"], made.json()["protocol"], made.json()["items"]) == ("pairs", "pairwise", 3)
    assert sum(each["n"] for each in made.json()["left_out"]) == 1
    draft = Study.objects.get(slug="pairs")
    assert (draft.status, draft.members.get().user) == ("draft", owner)
    assert history(draft) == [f"Made of {run} of {study.title}."]
    assert "There is a study 'pairs'" in as_owner.post(here, {"slug": "pairs"}).json()["detail"]


def test_a_draft_of_a_run_of_which_calls_failed_takes_a_choice(study, served, as_owner):
    served.script = ["truncated"]
    run = generated(
        study, "responses", models=("aspen", "birch"), options={"settings": "without"}, in_flight=1
    )
    here = f"{RUNS}{run.pk}/studies/"
    refused = as_owner.post(here, {"options": {"arms": "without"}})
    assert (refused.status_code, refused.json()["code"]) == (409, "refused")
    assert "q0 is in no item (responses, aspen, truncated" in refused.json()["detail"]
    assert as_owner.post(here, {"uneven": "some"}).status_code == 400
    made = as_owner.post(here, {"options": {"arms": "without"}, "uneven": "leave_out"}).json()
    assert made["items"] == 3
    assert {"reason": "queries for which calls failed", "n": 1} in made["left_out"]


# --- files ------------------------------------------------------------------------------------------------------------


def test_a_run_goes_out_as_a_file_and_comes_in_as_another(run, as_owner, owner, tmp_path):
    product = Product.objects.filter(unit__run=run).first()
    as_owner.put(f"{RUNS}{run.pk}/products/{product.pk}/", {"content": {"system": "aspen", "text": "Leek."}})
    lines = json.loads(b"".join(as_owner.get(f"{RUNS}{run.pk}/export/").streaming_content))["lines"]
    assert (lines[0]["pipeline"], len(lines)) == ("responses", 9)
    other = study_of_queries(tmp_path, QUERIES, slug="elsewhere")
    other.members.create(user=owner, role="owner")
    there = "studies/elsewhere/generation/"
    taken = as_owner.post(f"{there}import/", {"lines": lines}, key="once")
    assert (taken.status_code, taken.json()["state"]) == (201, "complete")
    assert as_owner.post(f"{there}import/", {"lines": lines}, key="once").json() == taken.json()
    assert taken.json()["options"] == run.generating.options
    products = as_owner.all(f"{there}runs/{taken.json()['id']}/products/")
    assert [each["content"] for each in products] == [line["content"] for line in lines[1:]]
    assert products[0]["edited"]["text"] == "Leek."
    made = as_owner.post(f"{there}runs/{taken.json()['id']}/studies/", {"options": {"arms": "without"}})
    assert made.json()["items"] == 4


def test_a_file_that_does_not_fit_makes_nothing(run, as_owner):
    lines = json.loads(b"".join(as_owner.get(f"{RUNS}{run.pk}/export/").streaming_content))["lines"]
    for line, change, said in (
        (0, {"assay_products": 2}, "line 1: this is no file of products"),
        (0, {"pipeline": ["responses"]}, "line 1: there is no pipeline"),
        (0, {"seed": "seven"}, "line 1: the seed"),
        (0, {"seed": 2**70}, "line 1: the seed"),
        (0, {"casts": {"writers": 3}}, "line 1: the casts"),
        (0, {"casts": {"writers": {"models": ["aspen"]}}}, "line 1: the casts"),
        (0, {"options": {"settings": ["without"]}}, "line 1: Responses are written: one of"),
        (1, {"query": ["q0"]}, "line 2: the study has no query"),
        (1, {"step": {}}, "line 2: responses has no step"),
        (2, {"content": [1]}, "line 3: content:"),
        (2, {"content": {"system": ["aspen"], "text": "x"}}, "line 3: content:"),
        (3, {"unit": "x" * 200}, "line 4: the unit's key"),
    ):
        sent = [*lines[:line], lines[line] | change, *lines[line + 1 :]]
        refused = as_owner.post(f"{HERE}import/", {"lines": sent})
        assert (refused.status_code, refused.json()["code"]) == (409, "refused"), said
        assert said in refused.json()["detail"]
        assert Run.objects.count() == 1, said


# --- queries ----------------------------------------------------------------------------------------------------------


def test_queries_are_added_to_a_draft(study, as_owner):
    new = {"key": "q9", "text": "And for guests?", "category": "dinner", "references": ["Bisque."]}
    added = as_owner.post("studies/soups/queries/", {"queries": [QUERIES[0], new]})
    assert (added.status_code, added.json()) == (201, {"new": 1, "present": 1, "total": 5})
    assert study.queries.get(key="q9").references == ["Bisque."]
    assert history(study) == ["1 query added; 1 was there before."]
    for wrong, said in (
        ([{"key": "q0", "text": "Another?"}], "other queries with these keys: q0"),
        ([{"key": "q10"}], "query 1: "),
        ([new, {**new, "text": "Other?"}], "query 2: the key 'q9' stands for another query before"),
        ([{"key": "q\x00", "text": "x"}], "query 1: contains the character U+0000"),
        ([{"key": "q11", "text": "x", "colour": "red"}], "colour"),
    ):
        refused = as_owner.post("studies/soups/queries/", {"queries": wrong})
        assert (refused.status_code, refused.json()["code"]) == (409, "refused")
        assert said in refused.json()["detail"]
    assert study.queries.count() == 5


def test_a_running_study_takes_no_queries(owner, as_owner):
    study = make_study("live", owner=owner, status="live")
    refused = as_owner.post(f"studies/{study.slug}/queries/", {"queries": QUERIES})
    assert (refused.status_code, "drafts" in refused.json()["detail"]) == (409, True)


# --- rights -----------------------------------------------------------------------------------------------------------


def test_viewers_read_and_change_nothing(run, as_viewer, as_outsider, study):
    product = Product.objects.filter(unit__run=run).first()
    one = f"{RUNS}{run.pk}/"
    reads = (
        f"{HERE}pipelines/",
        RUNS,
        one,
        f"{one}products/",
        f"{one}products/{product.pk}/",
        f"{one}export/",
    )
    for path in reads:
        assert as_viewer.get(path).status_code == 200, path
        assert as_outsider.get(path).status_code == 404, path
    writes = {
        f"{HERE}estimate/": SETTINGS,
        f"{HERE}import/": {"lines": [{}]},
        "studies/soups/queries/": {"queries": QUERIES},
        RUNS: SETTINGS,
        **{f"{one}{act}/": None for act in ("pause", "cancel", "retry", "pass-over")},
        f"{one}resume/": {},
        f"{one}studies/": {},
        f"{one}products/drop/": {"products": [product.pk]},
        f"{one}products/restore/": {"products": [product.pk]},
    }
    for path, body in writes.items():
        refused = as_viewer.post(path, body)
        assert (refused.status_code, refused.json()["code"]) == (403, "read_only"), path
        assert as_outsider.post(path, body).status_code == 404, path
    edit = {"content": {"system": "aspen", "text": "x"}}
    assert as_viewer.put(f"{one}products/{product.pk}/", edit).status_code == 403
    assert as_outsider.put(f"{one}products/{product.pk}/", edit).status_code == 404
    assert Run.objects.count() == 1
    assert history(study) == []


def test_another_study_s_run_is_not_there(run, owner, as_owner, tmp_path):
    other = study_of_queries(tmp_path, QUERIES, slug="elsewhere")
    StudyMember.objects.create(study=other, user=owner, role="owner")
    for path in ("", "products/", "export/"):
        assert as_owner.get(f"studies/elsewhere/generation/runs/{run.pk}/{path}").status_code == 404
    assert as_owner.get(f"studies/soups/runs/{run.pk}/").status_code == 404
    assert Endpoint.objects.count() == 1
