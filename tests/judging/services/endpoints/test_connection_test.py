"""Testing an endpoint from its page: a worker asks, the page says what came of it."""

import html
from datetime import timedelta
from importlib import import_module

import pytest
from django.apps import apps
from django.urls import reverse
from django.utils import timezone

from evaluation import tasks
from evaluation.models import Job
from evaluation.services.tokens import make_token
from judging.models import Endpoint, LedgerEntry
from judging.services.endpoints import connection_test
from judging.services.endpoints.access import create_endpoint
from judging.services.endpoints.connection_test import begin_test, last_test
from tests.evaluation.admin.test_killed_jobs import work_and_be_killed
from tests.evaluation.api.conftest import Caller
from tests.judging.endpoint import serve


@pytest.fixture(scope="module")
def server():
    with serve() as served:
        yield served


@pytest.fixture(autouse=True)
def at_once(settings):
    settings.CELERY_TASK_ALWAYS_EAGER = True
    settings.ASSAY_RUN_BACKOFF_SECONDS = 0.01
    settings.ASSAY_RUN_ATTEMPTS = 2


@pytest.fixture
def endpoint(server, settings, owner):
    settings.ASSAY_ENDPOINTS_ALLOWED = ["http://127.0.0.1:*"]
    server.reset()
    return create_endpoint(user=owner, name="here", base_url=server.url)


@pytest.fixture
def press(client, owner, endpoint, django_capture_on_commit_callbacks):
    """Presses the button and gives the page that follows."""
    client.force_login(owner)

    def press(model="", **asked):
        with django_capture_on_commit_callbacks(execute=True):
            client.post(reverse("admin:judging_endpoint_test", args=[endpoint.pk]), {"model": model, **asked})
        return client.get(reverse("admin:judging_endpoint_test", args=[endpoint.pk])).content.decode()

    return press


def test_a_member_tests_what_the_list_allows(press, client, endpoint):
    change = client.get(reverse("admin:judging_endpoint_change", args=[endpoint.pk])).content.decode()
    assert "Test the connection" in change
    page = press()
    assert "longer answered in" in page, "the first model that it lists"
    assert "<dt>JSON with a schema</dt><dd>yes</dd>" in page
    assert "<dt>Log-probabilities</dt><dd>yes</dd>" in page
    assert Endpoint.objects.get().capabilities["longer"]["json_schema"] is True


def test_what_the_model_can_not_do_is_said(press):
    page = press("longer:no_json_schema:deaf_logprobs")
    assert "<dt>JSON with a schema</dt><dd>no</dd>" in page
    assert "<dt>Log-probabilities</dt><dd>no</dd>" in page


@pytest.mark.parametrize(
    ("kind", "model", "said"),
    [
        ("embedding", "longer", "<dt>Embeddings</dt><dd>yes, 64 dimensions</dd>"),
        ("embedding", "longer:404", "The endpoint knows no such model or path"),
        ("perplexity", "longer", "<dt>Log-probabilities of a given text</dt><dd>yes, by echo</dd>"),
        ("perplexity", "longer:no_completions", "gives no log-probabilities of a text: The endpoint has no"),
        ("fun", "longer", "An endpoint can&#x27;t be tested for &#x27;fun&#x27;"),
    ],
)
def test_it_is_tested_for_what_judges_of_other_kinds_ask(press, kind, model, said):
    page = press(model, kind=kind)
    assert said in page
    if "yes" in said:
        assert f"{model} answered in" in page
        assert f'<option value="{kind}" selected>' in page
        assert set(Endpoint.objects.get().capabilities) == {model}


def test_the_api_tests_an_endpoint_too(owner, colleague, endpoint, django_capture_on_commit_callbacks):
    address = "endpoints/here/test/"
    mine, others = (Caller(make_token(user, name="t")[1]) for user in (owner, colleague))
    assert mine.get(address).json()["state"] == ""
    with django_capture_on_commit_callbacks(execute=True):
        asked = mine.post(address, {"model": "longer", "kind": "embedding"})
    assert (asked.status_code, asked.json()["state"]) == (200, "asking")
    found = mine.get(address).json()
    assert (found["state"], found["model"], found["problem"]) == ("done", "longer", "")
    assert found["able"] == {"embeddings": 64}
    assert others.get(address).status_code == 404
    endpoint.open_to_all = True
    endpoint.save()
    assert others.post(address, {}).status_code == 403


def test_an_answer_that_is_no_reply_is_paid_for(press, server):
    press("longer:401:billed")
    entry = LedgerEntry.objects.get()
    assert [entry.prompt_tokens, entry.completion_tokens] == server.reported == [100, 20]


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        ("401", "refused the key"),
        ("404", "no such model"),
        ("500", "500: told to answer 500"),
        ("large=5", "too large"),
    ],
)
def test_what_goes_wrong_is_said(press, behaviour, said):
    page = press(f"longer:{behaviour}")
    assert said in page
    assert Endpoint.objects.get().capabilities == {}


def test_an_endpoint_that_is_gone_is_said_to_be_once(press, endpoint):
    Endpoint.objects.update(base_url="http://127.0.0.1:9/v1")
    page = press("longer")
    problem = Endpoint.objects.get().tested["problem"]
    assert problem
    assert page.count(html.escape(problem)) == 1
    assert "not listed" in page


def test_it_waits_for_a_worker_and_says_where_none_comes(
    client, owner, endpoint, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.setattr(tasks, "send_message", lambda task, pk: True)
    client.force_login(owner)
    address = reverse("admin:judging_endpoint_test", args=[endpoint.pk])
    with django_capture_on_commit_callbacks(execute=True):
        client.post(address, {"model": "longer"})
    waiting = client.get(address).content.decode()
    assert "The endpoint is being tested. This takes a few seconds" in waiting
    assert "hx-get" in waiting
    fragment = client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in fragment
    again = client.post(address, {"model": "coin"}, follow=True).content.decode()
    assert "The endpoint is being tested already." in again
    Job.objects.update(heartbeat_at=timezone.now() - timedelta(hours=1))
    assert "No worker answered" in client.get(address).content.decode()
    assert Job.objects.get().parameters["model"] == "longer"


def test_a_place_that_is_not_allowed_is_not_asked(press, settings, server):
    settings.ASSAY_ENDPOINTS_ALLOWED = []
    page = press("longer")
    assert f"add {server.url} to the setting ASSAY_ENDPOINTS_ALLOWED" in page
    assert server.connections == 0


def test_it_is_for_who_made_it_and_superusers(client, colleague, endpoint):
    client.force_login(colleague)
    address = reverse("admin:judging_endpoint_test", args=[endpoint.pk])
    assert client.get(address).status_code == 404
    assert client.post(address).status_code == 404
    assert client.put(address).status_code == 405


def test_a_test_that_no_broker_takes_is_kept_and_said(
    client, owner, endpoint, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.setattr(tasks, "send_message", lambda task, pk: False)
    client.force_login(owner)
    address = reverse("admin:judging_endpoint_test", args=[endpoint.pk])
    with django_capture_on_commit_callbacks(execute=True):
        client.post(address, {"model": "longer"})
    said = (
        "The job queue can&#x27;t be reached right now. The test is saved, and starts by itself once it can."
    )
    assert said in client.get(address).content.decode()
    monkeypatch.undo()
    tasks.send_waiting_jobs()
    assert "longer answered in" in client.get(address).content.decode()


@pytest.mark.parametrize(
    ("module", "at"),
    [
        (tasks, "claim_job"),
        (connection_test, "_open"),
        (connection_test, "_chat"),
        (connection_test, "finish_job"),
    ],
)
def test_a_test_whose_worker_was_killed_is_begun_anew(endpoint, owner, monkeypatch, module, at):
    """What its calls took is in the ledger once, whether it was seen to the end or not."""
    killed = begin_test(endpoint, "longer", by=owner)
    work_and_be_killed(killed, monkeypatch, module, at)
    endpoint.refresh_from_db()
    assert (endpoint.tested, endpoint.capabilities, last_test(endpoint).state) == ({}, {}, "asking")
    before = LedgerEntry.objects.count()
    assert before == (at == "finish_job")
    Job.objects.update(sent_at=timezone.now(), heartbeat_at=timezone.now() - timedelta(hours=1))
    tasks.work_on_job(begin_test(endpoint, "longer", by=owner).pk)
    tasks.work_on_job(killed.pk)
    test = last_test(endpoint)  # of a row that was read before it ended
    assert (test.state, test.found["able"]["json_schema"]) == ("done", True)
    assert LedgerEntry.objects.count() == before + 1


def test_what_breaks_on_our_side_is_said(press, monkeypatch):
    def fail(*asked):
        raise ValueError("a bug")

    monkeypatch.setattr(connection_test, "_open", fail)
    assert "Something went wrong on our side" in press("longer")


def test_a_new_place_forgets_the_test_of_the_old_one(press, client, endpoint, server, owner):
    press("longer")
    under_way = begin_test(Endpoint.objects.get(), "longer", by=owner)
    fields = {"name": "here", "base_url": "http://127.0.0.1:9/v1", "timeout_seconds": 9, "max_in_flight": 1}
    form = {f"prices-{name}": 0 for name in ("TOTAL_FORMS", "INITIAL_FORMS")}
    address = reverse("admin:judging_endpoint_change", args=[endpoint.pk])
    saved = client.post(address, {**fields, "batch_price_factor": 1, **form})
    assert saved.status_code == 302, saved.context["errors"]
    tasks.work_on_job(under_way.pk)
    moved = Endpoint.objects.get()
    assert (moved.tested, moved.capabilities, last_test(moved).state) == ({}, {}, "")


def test_whoever_lost_the_endpoint_does_not_test_it(endpoint, colleague, server):
    job = begin_test(endpoint, "longer", by=colleague)
    tasks.work_on_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.message) == ("failed", "The endpoint is no longer there for who asked.")
    assert server.connections == 0


@pytest.mark.parametrize(
    ("stored", "kept"),
    [
        ({"state": "done", "at": 1.5, "model": "longer", "tokens": 9}, {"model": "longer", "tokens": 9}),
        ({"state": "asking", "at": 1.5, "model": "longer"}, {}),
    ],
)
def test_the_migration_keeps_what_a_test_found(endpoint, stored, kept):
    Endpoint.objects.update(tested=stored)
    import_module("judging.migrations.0003_job_rows").keep_findings(apps, None)
    assert Endpoint.objects.get().tested == kept
