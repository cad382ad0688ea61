"""Acts on runs, their money and their products: the history has its line whichever way one comes in, and nothing
happens without the right to it."""

import html
import re
from decimal import Decimal

import pytest
from django.contrib.admin.models import LogEntry
from django.core.exceptions import PermissionDenied
from django.core.management import CommandError, call_command
from django.urls import reverse
from rest_framework.test import APIClient

from evaluation.models import StudyMember
from evaluation.refusals import Refused
from evaluation.services.history import SERVER
from judging import tasks
from judging.acts import act_on, begin_run, begin_runs, change_group_budget
from judging.models import Product, Run, RunState
from judging.services.groups.run_groups import start_runs
from judging.services.judges import heuristic_judge
from judging.services.runs.judge_runs import start_run
from judging.services.runs.lifecycle import pause_run
from judging.services.runs.work import work_on
from tests.factories import launched
from tests.judging import endpoint
from tests.judging.build import make_judge
from tests.judging.generating import generated, make_endpoint, study_of_queries

# The state before and after, and what the history says.
STATES = {
    "pause": (RunState.PENDING, RunState.PAUSED, "Paused"),
    "resume": (RunState.PAUSED, RunState.PENDING, "Resumed"),
    "cancel": (RunState.PENDING, RunState.CANCELLED, "Cancelled"),
}


def make_once(owner):
    return launched(owner=owner)


@pytest.fixture
def run(study):
    return start_run(study, heuristic_judge(study, "longer"))


@pytest.fixture(autouse=True)
def sent(monkeypatch):
    messages = []
    monkeypatch.setattr(
        tasks.work_on_run, "apply_async", lambda args, countdown=None: messages.append(args[0])
    )
    return messages


def history(study):
    lines = LogEntry.objects.filter(object_id=str(study.pk), content_type__model="study").order_by("pk")
    return [(line.user.username, line.change_message) for line in lines]


def by_members_page(client, owner, run, act):
    client.force_login(owner)
    assert client.post(reverse(f"judging:run-{act}", args=[run.study.slug, run.pk])).status_code == 302


def by_admin_page(client, owner, run, act):
    client.force_login(owner)
    address = reverse(f"admin:judging_run_{act}", args=[run.pk])
    assert client.post(address, {"reason": ""}).status_code == 302


def by_api(client, owner, run, act):
    member = APIClient()
    member.force_authenticate(owner)
    answer = member.post(f"/api/v1/studies/{run.study.slug}/runs/{run.pk}/{act}/", {}, format="json")
    assert answer.status_code == 200, answer.content


def by_command(client, owner, run, act):
    call_command("run", act, run.pk)


@pytest.mark.parametrize("way", [by_members_page, by_admin_page, by_api, by_command])
@pytest.mark.parametrize("act", STATES)
def test_an_act_leaves_one_line_whichever_way_it_comes_in(
    client, owner, run, sent, way, act, django_capture_on_commit_callbacks
):
    before, after, said = STATES[act]
    if before == RunState.PAUSED:
        pause_run(run)
    with django_capture_on_commit_callbacks(execute=True):
        way(client, owner, run, act)
    run.refresh_from_db()
    assert run.state == after
    who = SERVER if way is by_command else owner.username
    assert history(run.study) == [(who, f"{said} {run}.")]
    assert sent == ([run.pk] if act == "resume" else [])


def start_by_api(client, owner, study, judge):
    member = APIClient()
    member.force_authenticate(owner)
    answer = member.post(f"/api/v1/studies/{study.slug}/runs/", {"judge": judge.pk}, format="json")
    assert answer.status_code == 201, answer.content


def start_by_page(client, owner, study, judge):
    client.force_login(owner)
    filled = {"purpose": "main", "anyway": "1"}
    answer = client.post(reverse("admin:judging_judge_start", args=[judge.pk]), filled)
    assert answer.status_code == 302, answer.content.decode()


def start_by_command(client, owner, study, judge):
    call_command("run_judge", study.slug, judge=["longer"], background=True)


@pytest.mark.parametrize("way", [start_by_page, start_by_api, start_by_command])
def test_a_start_leaves_one_line_whichever_way_it_comes_in(
    client, owner, study, sent, way, django_capture_on_commit_callbacks
):
    judge = heuristic_judge(study, "longer")
    with django_capture_on_commit_callbacks(execute=True):
        way(client, owner, study, judge)
    run = Run.objects.get()
    who = SERVER if way is start_by_command else owner.username
    assert history(study) == [(who, f"Started {run} (main).")]
    assert sent == [run.pk]


# --- budgets ----------------------------------------------------------------------------------------------------------


def study_budget_by_api(client, owner, study):
    member = APIClient()
    member.force_authenticate(owner)
    answer = member.put(f"/api/v1/studies/{study.slug}/spending/", {"budget": "7"}, format="json")
    assert answer.status_code == 200, answer.content


def study_budget_by_page(client, owner, study):
    client.force_login(owner)
    answer = client.post(reverse("admin:judging_judge_budget", args=[study.slug]), {"amount": "7"})
    assert answer.status_code == 302, answer.content.decode()


def study_budget_by_command(client, owner, study):
    call_command("set_budget", study.slug, "7")


@pytest.mark.parametrize("way", [study_budget_by_page, study_budget_by_api, study_budget_by_command])
def test_a_study_s_budget_leaves_one_line_whichever_way_it_comes_in(client, owner, study, way):
    way(client, owner, study)
    who = SERVER if way is study_budget_by_command else owner.username
    assert history(study) == [(who, "Set the study's budget to 7.")]


def group_budget_by_api(client, owner, group):
    member = APIClient()
    member.force_authenticate(owner)
    address = f"/api/v1/studies/{group.study.slug}/run-groups/{group.pk}/"
    answer = member.put(address, {"budget": "7"}, format="json")
    assert answer.status_code == 200, answer.content


def group_budget_by_page(client, owner, group):
    client.force_login(owner)
    answer = client.post(reverse("admin:judging_run_group_budget", args=[group.pk]), {"budget": "7"})
    assert answer.status_code == 302, answer.content.decode()


def group_budget_by_command(client, owner, group):
    judges = [f"--judge={run.judging.judge.name}" for run in group.runs.order_by("pk")]
    call_command("run_judge", group.study.slug, *judges, budget="7", background=True)


@pytest.mark.parametrize("way", [group_budget_by_page, group_budget_by_api, group_budget_by_command])
def test_a_budget_of_several_runs_leaves_one_line_whichever_way_it_comes_in(client, owner, study, way):
    with endpoint.serve() as served:
        judges = [make_judge(study, served, name=name) for name in ("one", "two")]
        group = start_runs(study, judges, budget=Decimal(6))
        LogEntry.objects.all().delete()
        way(client, owner, group)
    group.refresh_from_db()
    assert group.budget == 7
    who = SERVER if way is group_budget_by_command else owner.username
    assert history(study)[:1] == [(who, "Set the budget of 2 runs together to 7.")]
    assert sum("budget" in line for _, line in history(study)) == 1


# --- products ---------------------------------------------------------------------------------------------------------


def drop_by_api(client, owner, run, product):
    member = APIClient()
    member.force_authenticate(owner)
    address = f"/api/v1/studies/{run.study.slug}/generation/runs/{run.pk}/products/drop/"
    answer = member.post(address, {"products": [product]}, format="json")
    assert answer.status_code == 200, answer.content


def drop_by_page(client, owner, run, product):
    client.force_login(owner)
    address = reverse("admin:evaluation_study_generation_run", args=[run.study.slug, run.pk])
    assert client.post(address, {"product": [product], "drop": "1"}).status_code == 302


def drop_by_command(client, owner, run, product):
    call_command("generate", run.study.slug, run=run.pk, drop=[product])


@pytest.mark.parametrize("way", [drop_by_page, drop_by_api, drop_by_command])
def test_dropped_products_leave_one_line_whichever_way_they_are_dropped(db, client, owner, tmp_path, way):
    with endpoint.serve() as served:
        make_endpoint(served)
        soups = study_of_queries(tmp_path, [{"key": "q1", "text": "Which soup?"}], slug="soups")
        made = generated(soups, "responses", options={"settings": "without"})
    StudyMember.objects.create(study=soups, user=owner, role="editor")
    way(client, owner, made, Product.objects.first().pk)
    who = SERVER if way is drop_by_command else owner.username
    assert history(soups) == [(who, f"Dropped 1 product of {made}.")]


def shown_history(client, address):
    """The table of a run's page: by whom, and what, the latest first."""
    page = client.get(address).content.decode()
    rows = re.findall(r"<td><bdi>(.*?)</bdi></td>\s*<td>(.*?)</td>", page)
    return [(who, html.unescape(what)) for who, what in rows]


def test_the_page_of_a_judge_s_run_shows_what_was_done_to_it(client, owner, study):
    run = begin_run(study, heuristic_judge(study, "longer"), by=owner)
    other = begin_run(study, heuristic_judge(study, "shorter"), by=owner)
    act_on(run, "pause", by=owner, reason="Too <dear>.")
    act_on(other, "pause", by=owner)
    call_command("run", "resume", run.pk)
    call_command("run", "cancel", run.pk)
    client.force_login(owner)
    assert shown_history(client, reverse("admin:judging_run_watch", args=[run.pk])) == [
        (SERVER, f"Cancelled {run}."),
        (SERVER, f"Resumed {run}."),
        (owner.username, f"Paused {run}. Reason: Too <dear>."),
        (owner.username, f"Started {run} (main)."),
    ]


def test_the_page_of_a_run_that_was_started_with_others_shows_what_was_done_to_all(client, owner, study):
    with endpoint.serve() as served:
        judges = [make_judge(study, served, name=name) for name in ("one", "two")]
        group, said = begin_runs(study, judges, by=owner, budget=Decimal(6))
        changed = change_group_budget(group, Decimal(7), by=owner)
    client.force_login(owner)
    for run in group.runs.all():
        shown = shown_history(client, reverse("admin:judging_run_watch", args=[run.pk]))
        assert shown == [(owner.username, changed), (owner.username, said)]


def test_the_page_of_a_pipeline_s_run_shows_what_was_done_to_it(db, client, owner, tmp_path):
    with endpoint.serve() as served:
        make_endpoint(served)
        soups = study_of_queries(tmp_path, [{"key": "q1", "text": "Which soup?"}], slug="soups")
        made = generated(soups, "responses", options={"settings": "without"})
    StudyMember.objects.create(study=soups, user=owner, role="editor")
    drop_by_command(client, owner, made, Product.objects.get().pk)
    client.force_login(owner)
    address = reverse("admin:evaluation_study_generation_run", args=[soups.slug, made.pk])
    assert shown_history(client, address) == [(SERVER, f"Dropped 1 product of {made}.")]


def test_what_is_refused_leaves_nothing(owner, run, sent, django_capture_on_commit_callbacks):
    work_on(run.pk)
    with django_capture_on_commit_callbacks(execute=True):
        for act in ("pause", "resume", "cancel", "retry"):
            with pytest.raises(Refused):
                act_on(run, act, by=owner)
        with pytest.raises(CommandError):
            call_command("run", "pause", run.pk)
    run.refresh_from_db()
    assert (run.state, history(run.study), sent) == (RunState.COMPLETE, [], [])


def test_who_may_only_look_does_nothing(study, run, colleague):
    StudyMember.objects.create(study=study, user=colleague, role="viewer")
    for act in ("pause", "cancel"):
        with pytest.raises(PermissionDenied):
            act_on(run, act, by=colleague)
    with pytest.raises(PermissionDenied):
        begin_run(study, run.judging.judge, by=colleague)
    run.refresh_from_db()
    assert (run.state, history(study)) == (RunState.PENDING, [])


def test_a_reason_stands_behind_the_sentence(owner, run):
    assert act_on(run, "pause", by=owner, reason=" Too dear. ") == f"Paused {run}."
    assert history(run.study) == [(owner.username, f"Paused {run}. Reason: Too dear.")]


def test_nobody_logs_in_as_the_server(run, client):
    call_command("run", "pause", run.pk)
    entry = LogEntry.objects.latest("pk")
    assert (entry.user.is_active, entry.user.is_staff, entry.user.has_usable_password()) == (
        False,
        False,
        False,
    )


def test_runs_of_pipelines_are_listed_and_steered_by_the_same_commands(db, tmp_path, capsys):
    with endpoint.serve() as served:
        make_endpoint(served)
        soups = study_of_queries(tmp_path, [{"key": "q1", "text": "Which soup?"}], slug="soups")
        made = generated(soups, "responses", options={"settings": "without"}, work=False)
    call_command("runs", "soups")
    assert f"{made.pk:>5}  {made.generating!s:<24} pipeline pending" in capsys.readouterr().out
    call_command("run", "pause", made.pk)
    assert capsys.readouterr().out == f"Run {made.pk}: {made.generating} is paused.\n"
    call_command("run", "show", made.pk)
    assert history(soups) == [(SERVER, f"Paused {made}.")]
