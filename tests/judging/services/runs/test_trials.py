"""One item before a judge's first run, from the button that starts it."""

import pytest
from django.urls import reverse

from judging.models import Run
from judging.services.judges import heuristic_judge
from judging.services.runs.trials import needs_trial
from judging.services.runs.work import work_on
from judging.tasks import work_on_run
from tests import factories
from tests.judging import endpoint
from tests.judging.build import judged, make_judge


def make_once(owner):
    return factories.launched(owner=owner)


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture(autouse=True)
def sent(monkeypatch):
    messages = []
    monkeypatch.setattr(work_on_run, "apply_async", lambda args, countdown=None: messages.append(args))
    return messages


@pytest.fixture
def start(client, owner):
    """Presses the button on the page that starts a run, and gives the page that follows."""
    client.force_login(owner)

    def press(judge, button="start", **fields):
        address = reverse("admin:judging_judge_start", args=[judge.pk])
        return client.post(address, {"purpose": "main", button: "1", **fields}, follow=True)

    return press


def test_the_first_press_tries_one_item_and_the_second_starts(client, study, served, start):
    judge = make_judge(study, served, "coin")
    page = start(judge, max_items="9", budget="1.5")
    tried = Run.objects.get()
    assert (tried.judging.purpose, tried.judging.max_items, str(tried.budget)) == ("trial", 1, "1.5000")
    assert "The model is being asked about one item." in page.content.decode()
    assert "hx-get" in page.content.decode()
    work_on(tried.pk)
    address = page.redirect_chain[-1][0]
    fragment = client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in fragment
    assert "Answers read" in fragment
    assert "preference: r" in fragment
    assert "hx-get" not in fragment
    kept = client.get(address).content.decode()
    assert 'name="max_items" value="9"' in kept
    assert 'name="budget" value="1.5"' in kept
    asked = served.total
    page = start(judge, max_items="9", budget="1.5")
    run = Run.objects.get(judging__purpose="main")
    assert run.judging.max_items == 9
    work_on(run.pk)
    run.refresh_from_db()
    assert (run.state_text, served.total) == ("complete", asked + 8), "what was tried is not paid for twice"


def test_a_reply_that_can_not_be_read_starts_nothing(client, study, served, start):
    judge = make_judge(study, served, "coin:babble")
    page = start(judge)
    work_on(Run.objects.get().pk)
    shown = client.get(page.redirect_chain[-1][0]).content.decode()
    assert "Response 1 has its merits" in shown
    assert "Expected reply" in shown
    assert "Try one item again" in shown
    start(judge)
    assert set(Run.objects.values_list("judging__purpose", flat=True)) == {"trial"}
    assert "Start the run anyway" in shown
    start(judge, "anyway")
    assert Run.objects.filter(judging__purpose="main").count() == 1


def test_a_judge_that_was_read_before_and_a_heuristic_need_no_try(study, served, start):
    judge = make_judge(study, served, "coin")
    assert needs_trial(judge)
    judged(study, judge)
    assert not needs_trial(judge)
    start(judge)
    start(heuristic_judge(study, "longer"))
    assert Run.objects.filter(judging__purpose="trial").count() == 0
    assert Run.objects.count() == 3


def test_another_judge_s_try_is_not_shown(client, study, served, start):
    other, _ = judged(study, make_judge(study, served, "coin", name="other"))
    judge = make_judge(study, served, "coin")
    start(judge)
    address = reverse("admin:judging_judge_start", args=[judge.pk])
    for number in (str(other.pk), "x", "999999", ""):
        assert "One item, tried" not in client.get(address, {"try": number}).content.decode()
