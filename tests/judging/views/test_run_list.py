"""The runs on a study's page: who sees them, who steers them, and what they say."""

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from evaluation.models import StudyMember
from judging.models import Run
from judging.services.judges import heuristic_judge
from judging.services.runs.judge_runs import start_run
from judging.services.runs.lifecycle import pause_run
from judging.services.runs.work import work_on
from judging.tasks import work_on_run
from tests import factories

ACTS = {"pause": "paused", "resume": "pending", "cancel": "cancelled"}
HTMX = {"HX-Request": "true"}


def make_once(owner):
    return factories.launched(owner=owner)


@pytest.fixture
def run(study):
    return start_run(study, heuristic_judge(study, "longer"))


@pytest.fixture
def viewer(study, colleague):
    StudyMember.objects.create(study=study, user=colleague, role="viewer")
    return colleague


@pytest.fixture
def sent(monkeypatch):
    messages = []
    monkeypatch.setattr(work_on_run, "apply_async", lambda args, countdown=None: messages.append(args))
    return messages


def listing(study):
    return reverse("judging:run-list", args=[study.slug])


def act_on(name, run):
    return reverse(f"judging:run-{name}", args=[run.study.slug, run.pk])


def test_the_study_s_page_loads_the_runs(client, owner, study):
    client.force_login(owner)
    assert f'hx-get="{listing(study)}"' in client.get(f"/studies/{study.slug}/").content.decode()


def test_only_members_see_runs(client, study, run, outsider, viewer):
    assert client.get(listing(study)).status_code == 302
    client.force_login(outsider)
    assert client.get(listing(study)).status_code == 404
    client.force_login(viewer)
    assert client.get(listing(study)).status_code == 200
    assert client.post(listing(study)).status_code == 405


def test_it_shows_where_a_run_stands_and_asks_again_while_it_is_active(client, owner, study, run):
    client.force_login(owner)
    fragment = client.get(listing(study), headers=HTMX).content.decode()
    assert "<html" not in fragment
    assert 'hx-trigger="every 2s"' in fragment
    assert "0 / 12" in fragment
    work_on(run.pk)
    fragment = client.get(listing(study), headers=HTMX).content.decode()
    assert "12 / 12" in fragment
    assert "in the figures" in fragment
    assert "hx-trigger" not in fragment
    assert "<html" in client.get(listing(study)).content.decode()


def test_no_run_yet(client, owner, study):
    client.force_login(owner)
    assert "No judge has run" in client.get(listing(study)).content.decode()


def test_a_reason_is_shown(client, owner, study, run):
    Run.objects.update(state="stopped", reason="The endpoint's quota is <used> up.")
    client.force_login(owner)
    page = client.get(listing(study), headers=HTMX).content.decode()
    assert "The endpoint&#x27;s quota is &lt;used&gt; up." in page
    assert act_on("resume", run) in page


def test_a_viewer_sees_no_buttons(client, viewer, study, run):
    client.force_login(viewer)
    assert "<button" not in client.get(listing(study), headers=HTMX).content.decode()


@pytest.mark.parametrize("act", ACTS)
def test_whoever_may_not_steer(client, act, study, run, outsider, viewer):
    client.post(act_on(act, run))
    client.force_login(outsider)
    assert client.post(act_on(act, run)).status_code == 404
    client.force_login(viewer)
    assert client.post(act_on(act, run)).status_code == 403
    run.refresh_from_db()
    assert run.state == "pending"


@pytest.mark.parametrize("act", ACTS)
def test_only_posts_steer_and_only_runs_of_the_study(client, act, owner, study, run):
    client.force_login(owner)
    assert client.get(act_on(act, run)).status_code == 405
    other = factories.launch(factories.make_study("other", owner=owner))
    elsewhere = reverse(f"judging:run-{act}", args=[other.slug, run.pk])
    assert client.post(elsewhere).status_code == 404
    assert client.post(reverse(f"judging:run-{act}", args=[study.slug, 9_999])).status_code == 404
    run.refresh_from_db()
    assert run.state == "pending"


@pytest.mark.parametrize(("act", "state"), ACTS.items())
@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "fragment"])
def test_a_writer_steers(
    client, owner, study, run, sent, act, state, headers, django_capture_on_commit_callbacks
):
    if act == "resume":
        pause_run(run)
    client.force_login(owner)
    with django_capture_on_commit_callbacks(execute=True):
        response = client.post(act_on(act, run), headers=headers)
    assert response.status_code == (200 if headers else 302)
    run.refresh_from_db()
    assert run.state == state
    assert [args[0] for args in sent] == ([run.pk] if act == "resume" else [])
    said = LogEntry.objects.get(object_id=str(study.pk), content_type__model="study")
    assert (said.user, act in said.change_message.lower(), str(run) in said.change_message) == (
        owner,
        True,
        True,
    )


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "fragment"])
def test_what_can_not_be_is_said(client, owner, study, run, headers):
    work_on(run.pk)
    client.force_login(owner)
    response = client.post(act_on("pause", run), headers=headers, follow=True)
    assert "A run that is complete can&#x27;t become paused." in response.content.decode()
