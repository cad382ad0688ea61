"""Several judges run together: at the shell, on the admin's pages and on the study's page."""

from decimal import Decimal

import pytest
from django.core.management import CommandError
from django.urls import reverse

from evaluation.models import StudyMember
from judging.models import Run, RunGroup
from judging.services.calls.budget import group_spent
from judging.services.groups.run_groups import start_runs
from judging.services.judges import heuristic_judge
from judging.services.runs.lifecycle import pause_run
from judging.services.runs.work import work_on
from judging.tasks import work_on_run
from tests import factories
from tests.judging import endpoint
from tests.judging.build import make_judge
from tests.judging.management.test_run_judge import say

PRICES = {"price_prompt": Decimal(1_000), "price_completion": Decimal(1_000), "max_tokens": 50}


def make_once(owner):
    return factories.launched(owner=owner)


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def judges(study, served):
    return [make_judge(study, served, name=name, **PRICES) for name in ("first", "second")]


@pytest.fixture
def sent(monkeypatch):
    messages = []
    monkeypatch.setattr(work_on_run, "apply_async", lambda args, countdown=None: messages.append(args))
    return messages


@pytest.fixture
def browser(client, owner):
    client.force_login(owner)
    return client


def together(*judges):
    return f"{reverse('admin:judging_judge_together')}?ids={','.join(str(judge.pk) for judge in judges)}"


# --- the shell --------------------------------------------------------------------------------------------------------


BOTH = ("run_judge", "contrast", "--judge", "first", "--judge", "second")


def test_the_estimate_tells_each_and_all(judges, served):
    told = say(*BOTH, "--judge", "shorter", "--estimate")
    assert [line for line in told.splitlines() if line.endswith(":")] == [
        "first v1:",
        "second v1:",
        "shorter v1:",
    ]
    assert told.splitlines()[-1].startswith("All together: 36 calls, ")
    assert (Run.objects.count(), served.total) == (0, 0)


def test_all_are_worked_on_within_their_budget_and_the_same_command_goes_on(judges):
    with pytest.raises(CommandError) as stopped:
        say(*BOTH, "--budget", "6", "--yes")
    lines = str(stopped.value).splitlines()
    assert [line.split(":")[0] for line in lines] == ["first v1", "second v1"]
    assert all("The budget of these judges together of 6 would be exceeded" in line for line in lines)
    group = RunGroup.objects.get()
    assert 0 < group_spent(group) <= 6
    assert "2 judges together: " in say("runs", "contrast")
    assert " spent of a budget of 6\n" in say("runs", "contrast")
    said = say(*BOTH, "--budget", "1000")
    assert "Runs of first v1, second v1 together are resumed." in said
    assert said.count(": complete. Calls: 12 ok; 0 left.") == 2
    assert RunGroup.objects.get().budget == 1_000
    say(*BOTH)
    assert RunGroup.objects.count() == 2, "a group that came to its end is not taken up again"


def test_what_was_paused_goes_on_and_nothing_else(judges, study):
    other = start_runs(study, [judges[0], heuristic_judge(study, "longer")])
    group = start_runs(study, judges)
    for run in group.runs.all():
        pause_run(run)
    say(*BOTH)
    assert set(group.runs.values_list("state", flat=True)) == {"complete"}
    assert set(other.runs.values_list("state", flat=True)) == {"pending"}


def test_they_are_left_to_the_workers(judges, sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        said = say(*BOTH, "--background")
    assert {run for run, _ in sent} == set(Run.objects.values_list("pk", flat=True))
    assert said.count("is left to the workers") == 2


def test_one_that_can_t_run_keeps_all_from_it(judges, study):
    type(judges[0].endpoint).objects.update(trust="", base_url="http://elsewhere.example/v1")
    with pytest.raises(CommandError, match="first v1: The endpoint here is not allowed"):
        say(*BOTH, "--judge", "random")
    assert not Run.objects.exists()


# --- the admin --------------------------------------------------------------------------------------------------------


def test_judges_are_chosen_on_their_page(browser, study, judges, outsider):
    address = f"{reverse('admin:judging_judge_list', args=[study.slug])}"
    assert 'value="run_selected"' in browser.get(address).content.decode()
    chosen = {"action": "run_selected", "_selected_action": [judge.pk for judge in judges]}
    assert browser.post(address, chosen)["Location"] == together(*judges[::1])
    one = browser.post(address, chosen | {"_selected_action": [judges[0].pk]})
    assert one["Location"] == reverse("admin:judging_judge_start", args=[judges[0].pk])
    StudyMember.objects.filter(study=study).update(role="viewer")
    assert 'value="run_selected"' not in browser.get(address).content.decode()
    assert browser.get(together(*judges)).status_code == 403


def test_one_page_estimates_and_starts_them_all(
    browser, study, judges, sent, django_capture_on_commit_callbacks
):
    page = together(*judges, heuristic_judge(study, "shorter"))
    shown = browser.get(page).content.decode()
    assert "Start 3 runs" in shown
    assert "All together" in shown
    assert "Not tried yet: first v1, second v1." in shown
    assert browser.post(page, {"purpose": "main", "max_items": 2}).status_code == 200
    assert browser.post(page, {"purpose": "main", "budget": "0", "start": 1}).status_code == 422
    assert not Run.objects.exists()
    with django_capture_on_commit_callbacks(execute=True):
        answer = browser.post(page, {"purpose": "main", "budget": "6", "max_items": 9, "start": 1})
    group = RunGroup.objects.get()
    assert answer["Location"] == reverse("admin:judging_run_group", args=[group.pk])
    assert {run for run, _ in sent} == set(group.runs.values_list("pk", flat=True))
    assert (group.budget, group.runs.count()) == (6, 3)
    assert (
        "Started 3 runs together: first v1, second v1, shorter v1 (main, at most 6 together)."
        in browser.get(answer["Location"]).content.decode()
    )


def test_the_page_says_which_can_t_run_and_leads_on_without_them(browser, study, judges):
    type(judges[0].endpoint).objects.update(trust="", base_url="http://elsewhere.example/v1")
    able = [heuristic_judge(study, "random"), heuristic_judge(study, "shorter")]
    page = together(*judges, *able)
    shown = browser.get(page).content.decode()
    assert shown.count("Can&#x27;t run.") + shown.count("Can't run.") == 2
    assert "is not allowed" in shown
    assert 'name="start"' not in shown
    assert together(*able) in shown
    assert browser.post(page, {"purpose": "main", "start": 1}).status_code == 422
    assert not Run.objects.exists()
    for unknown in ("", "x", "1,x", "999999", f"{judges[0].pk},999999"):
        address = f"{reverse('admin:judging_judge_together')}?ids={unknown}"
        assert browser.get(address).status_code == 404


def test_a_group_s_page_shows_its_spending_and_a_larger_budget_resumes_it(
    browser, study, judges, sent, django_capture_on_commit_callbacks
):
    group = start_runs(study, judges, budget=Decimal(6))
    address = reverse("admin:judging_run_group", args=[group.pk])
    assert 'hx-trigger="every 2s"' in browser.get(address).content.decode(), "while they are active"
    for run in group.runs.all():
        work_on(run.pk)
    shown = browser.get(address, headers={"HX-Request": "true"}).content.decode()
    assert f"<b>{group_spent(group):.4f}</b>" in shown
    assert "of 6.0000" in shown
    assert shown.count("The budget of these judges together of 6 would be exceeded") == 2
    assert "every 2s" not in shown
    run = group.runs.first()
    watch = browser.get(reverse("admin:judging_run_watch", args=[run.pk])).content.decode()
    assert "Shares a budget of 6 with other judges; together they have spent" in watch
    runs = browser.get(f"{reverse('admin:judging_run_list', args=[study.slug])}").content.decode()
    assert runs.count(address) == 2
    change = reverse("admin:judging_run_group_budget", args=[group.pk])
    assert browser.post(change, {"budget": "-3"}).status_code == 422
    with django_capture_on_commit_callbacks(execute=True):
        browser.post(change, {"budget": "600"})
    assert {run for run, _ in sent} == set(group.runs.values_list("pk", flat=True))
    assert set(group.runs.values_list("state", flat=True)) == {"pending"}
    assert "Resumed 2 of them." in browser.get(address).content.decode()
    browser.post(change, {"budget": ""})
    assert RunGroup.objects.get().budget is None


def test_the_study_s_page_shows_a_group_above_its_runs(browser, study, judges):
    start_runs(study, [heuristic_judge(study, "longer"), heuristic_judge(study, "shorter")])
    group = start_runs(study, judges, budget=Decimal(6))
    for run in group.runs.all():
        work_on(run.pk)
    shown = browser.get(reverse("judging:run-list", args=[study.slug])).content.decode()
    assert shown.count("2 judges together") == 2
    assert " ".join(shown.split()).count("of a budget of 6") == 1
    assert shown.index("2 judges together") < shown.index("second v1") < shown.index("shorter v1")
