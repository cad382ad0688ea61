"""Testing an endpoint from its page: a worker asks, the page says what came of it."""

import pytest
from django.urls import reverse

from evaluation.services.tokens import make_token
from judging.models import Endpoint
from judging.services import create_endpoint
from judging.tasks import test_endpoint as ask_endpoint
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


def test_it_waits_for_a_worker_and_says_where_none_comes(client, owner, endpoint, monkeypatch):
    monkeypatch.setattr(ask_endpoint, "delay", lambda pk: None)
    client.force_login(owner)
    address = reverse("admin:judging_endpoint_test", args=[endpoint.pk])
    waiting = client.post(address, {"model": "longer"}, follow=True).content.decode()
    assert "The endpoint is being tested. This takes a few seconds" in waiting
    assert "hx-get" in waiting
    fragment = client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in fragment
    endpoint.refresh_from_db()
    endpoint.tested["at"] -= 1_000
    endpoint.save()
    assert "No worker answered" in client.get(address).content.decode()


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
