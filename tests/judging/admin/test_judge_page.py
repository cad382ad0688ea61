"""The pages of a judge and of an endpoint: what differs from the usual and runs in sight, all settings folded."""

import re
from typing import Any

import pytest
from django.urls import reverse

from judging.models import Endpoint, Judge
from judging.services.judges import heuristic_judge
from judging.services.runs.judge_runs import start_run
from tests.evaluation.admin.conftest import signed_in
from tests.judging.admin.test_judge_form import Folds

pytestmark = pytest.mark.django_db


@pytest.fixture
def endpoint(owner: Any) -> Endpoint:
    return Endpoint.objects.create(
        name="here", base_url="https://here.example/v1", created_by=owner, requests_per_minute=60
    )


def page_of(judge: Judge, user: Any) -> str:
    return signed_in(user).get(reverse("admin:judging_judge_change", args=[judge.pk])).content.decode()


def before_settings(text: str) -> str:
    assert text.count("<summary>All settings</summary>") == 1
    return text[: text.index("<summary>All settings</summary>")]


def test_a_judge_s_page_says_what_differs(study: Any, owner: Any, endpoint: Endpoint) -> None:
    judge = Judge.objects.create(
        study=study, name="careful", endpoint=endpoint, model="large", temperature=0.7, orders="both",
        template="Read {query}.", questions=["preference"],
    )  # fmt: skip
    text = page_of(judge, owner)
    first = before_settings(text)
    for said in ("<b>large</b>", "at the endpoint here"):
        assert said in first
    shown = dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", first))
    assert shown == {
        "Temperature": "0.7",
        "Presented order": "both ways",
        "Questions": "preference",
        "Prompt of your own": "13 characters",
    }
    assert "It has not run yet." in first
    assert "Max tokens" in text[len(first) :]


def test_a_usual_judge_has_nothing_to_say_and_shows_its_run(study: Any, owner: Any) -> None:
    judge = heuristic_judge(study, "random", user=owner)
    run = start_run(study, judge, user=owner)
    first = before_settings(page_of(judge, owner))
    assert "every setting is as a judge begins" in first
    assert reverse("admin:judging_run_watch", args=[run.pk]) in first
    assert "Start a run" in first


def test_an_endpoint_begins_with_its_test_and_folds_limits(owner: Any, endpoint: Endpoint) -> None:
    address = reverse("admin:judging_endpoint_change", args=[endpoint.pk])
    text = signed_in(owner).get(address).content.decode()
    assert text.index("Test the connection") < text.index("Not tested yet.") < text.index('name="base_url"')
    assert re.search(r"requests per minute\s+60", text)
    fields = Folds(text).fields
    assert fields["base_url"] == fields["studies" if "studies" in fields else "name"] == ""
    assert fields["timeout_seconds"].startswith("Limits and price of batches")


def test_a_wrong_limit_opens_its_part(owner: Any, endpoint: Endpoint) -> None:
    address = reverse("admin:judging_endpoint_change", args=[endpoint.pk])
    response = signed_in(owner).post(
        address, {"name": "here", "base_url": endpoint.base_url, "timeout_seconds": "0"}
    )
    assert response.status_code == 200
    assert Folds(response.content.decode()).fields["timeout_seconds"] == ""
