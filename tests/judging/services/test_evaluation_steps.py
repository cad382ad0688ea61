"""Evaluation steps: written once by the judge's model, kept with the judge, in the ledger, within the budget."""

import io
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from evaluation import tasks
from evaluation.models import Job
from evaluation.refusals import Refused
from judging.asking.scores.evaluation_steps import build_steps_request, read_steps
from judging.backends.base import Reply
from judging.models import Judge, LedgerEntry
from judging.parsing.rejection import ReplyRejected
from judging.services import evaluation_steps
from judging.services.calls.budget import set_study_budget
from judging.services.evaluation_steps import begin_steps, latest_steps, write_steps
from judging.services.judges import current_spec, edit_judge, judge_settings
from tests.evaluation.admin.test_killed_jobs import work_and_be_killed
from tests.judging import endpoint
from tests.judging.build import judged, make_judge

TWO = ["Look at the facts.", "Look at the words."]


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def judge(study, served):
    return make_judge(
        study, served, "coin", backend="geval", price_prompt=Decimal(10), price_completion=Decimal(20)
    )


@pytest.mark.parametrize(
    "text",
    [
        "1. Look at the facts.\n2) Look at the words.",
        "- Look at the facts.\n\n* Look at the words.",
        '{"steps": ["Look at the  facts.", "2. Look at the words."]}',
        '```json\n{"steps": ["Look at the facts.", "Look at the words.", ""]}\n```',
    ],
)
def test_steps_are_read_without_their_numbers(text):
    assert read_steps(Reply(text=text)) == TWO


@pytest.mark.parametrize(
    "reply",
    [Reply(text=""), Reply(text="One line."), Reply(text="\n".join(["Look."] * 13)), Reply(text='{"steps": "Look."}'),
     Reply(text='{"steps": ["a", "b"], "score": 4}'), Reply(text="a\n" + "b" * 501),
     Reply(text="a\nb", finish_reason="length"), Reply(text="", refusal="No.")],
)  # fmt: skip
def test_what_is_no_list_of_steps_is_rejected(reply):
    with pytest.raises(ReplyRejected):
        read_steps(reply)


def test_the_request_has_the_criteria_and_the_ends_of_the_scale(judge):
    judge = edit_judge(judge, options={**judge.options, "criterion": "own", "criteria": "How kind it is."})
    for able in ({"json_schema": True}, {"json_object": True}, {}):
        request = build_steps_request(current_spec(judge.study), judge_settings(judge), capabilities=able)
        text = " ".join(message["content"] for message in request.messages)
        assert "How kind it is." in text
        assert "a score from 1 to 5" in text
        assert bool(request.schema) == bool(able.get("json_schema"))
        if request.schema:
            # Endpoints refuse a strict schema that asks for what it does not describe.
            assert list(request.schema["properties"]) == request.schema["required"] == ["steps"]


def test_steps_are_written_once_and_paid_for(judge, served):
    written = write_steps(judge)
    assert (written.pk, served.total) == (judge.pk, 1)
    assert written.options["steps"] == [endpoint.SENTENCE] * 2
    entry = LedgerEntry.objects.get(study=judge.study, purpose="generation")
    assert (entry.calls, entry.model) == (1, "coin")
    assert entry.cost == (entry.prompt_tokens * 10 + entry.completion_tokens * 20) / Decimal(1_000_000)
    judged(judge.study, written)
    own = edit_judge(written, options={**written.options, "steps": TWO})
    again = write_steps(own)
    assert (own.version, again.version, again.options["steps"]) == (2, 2, [endpoint.SENTENCE] * 2)
    assert Judge.objects.get(version=1).options["steps"] == [endpoint.SENTENCE] * 2


def test_a_model_that_was_never_asked_is_probed_first(study, served):
    judge = make_judge(study, served, "coin", backend="geval", probed=False)
    write_steps(judge)
    judge.endpoint.refresh_from_db()
    assert judge.endpoint.capabilities["coin"]["json_schema"]
    assert set(LedgerEntry.objects.values_list("purpose", flat=True)) == {"probe", "generation"}


def test_the_study_s_budget_is_kept_to(judge, served):
    set_study_budget(judge.study, Decimal("0.0001"))
    with pytest.raises(Refused, match=r"study's budget of 0\.0001 would be exceeded"):
        write_steps(judge)
    assert served.total == 0


@pytest.mark.parametrize(
    ("model", "asked", "sentence"),
    [
        ("coin:babble", 3, "No steps could be read"),
        ("coin:400", 1, "400"),
        ("coin:quota", 1, "quota|402|429"),
    ],
)
def test_what_goes_wrong_is_said_and_nothing_is_kept(study, served, settings, model, asked, sentence):
    settings.ASSAY_RUN_UNREAD = 3
    judge = make_judge(study, served, model, backend="geval")
    with pytest.raises(Refused, match=sentence):
        write_steps(judge)
    assert served.total == asked
    assert Judge.objects.get().options["steps"] == []


def test_the_command_writes_them(judge):
    out = io.StringIO()
    call_command("write_steps", judge.study.slug, "llm", stdout=out)
    assert f"2. {endpoint.SENTENCE}" in out.getvalue()
    edit_judge(Judge.objects.get(), backend="chat", options={})
    for name, sentence in (("llm", "Only G-Eval"), ("nobody", "has no judge nobody")):
        with pytest.raises(CommandError, match=sentence):
            call_command("write_steps", judge.study.slug, name, stdout=out)


# --- the page ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def sent(monkeypatch):
    ids = []
    monkeypatch.setattr(tasks.work_on_job, "delay", ids.append)
    return ids


@pytest.fixture
def page(client, owner, judge):
    client.force_login(owner)
    return reverse("admin:judging_judge_steps", args=[judge.pk])


def test_the_page_waits_for_the_worker_and_shows_the_steps(
    client, judge, page, sent, django_capture_on_commit_callbacks
):
    assert "None yet." in client.get(page).content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        client.post(page)
        client.post(page)
    assert sent == [latest_steps(judge).pk]
    waiting = client.get(page, headers={"HX-Request": "true"}).content.decode()
    assert "The model is writing the steps." in waiting
    assert "hx-get" in waiting
    tasks.work_on_job(sent[0])
    shown = client.get(page).content.decode()
    assert endpoint.SENTENCE in shown
    assert "hx-get" not in shown
    tasks.work_on_job(sent[0])
    assert LedgerEntry.objects.filter(purpose="generation").count() == 1


def test_a_judge_that_has_run_gets_its_steps_in_a_new_version(
    client, judge, page, sent, django_capture_on_commit_callbacks
):
    judged(judge.study, edit_judge(judge, options={**judge.options, "steps": TWO}))
    with django_capture_on_commit_callbacks(execute=True):
        client.post(page)
    tasks.work_on_job(sent[0])
    [new] = Judge.objects.filter(version=2)
    shown = client.get(page).content.decode()
    assert f'<a href="{reverse("admin:judging_judge_edit", args=[new.pk])}">' in shown
    assert endpoint.SENTENCE in shown


def test_the_page_says_what_was_in_the_way(client, judge, page, study):
    set_study_budget(study, Decimal("0.0001"))
    client.post(page)
    tasks.work_on_job(latest_steps(judge).pk)
    assert "would be exceeded" in client.get(page).content.decode()


def test_steps_that_no_broker_takes_are_written_later(
    client, judge, page, monkeypatch, django_capture_on_commit_callbacks
):
    with monkeypatch.context() as patch, django_capture_on_commit_callbacks(execute=True):
        patch.setattr(tasks, "send_message", lambda task, pk: False)
        client.post(page)
        said = "The job queue can&#x27;t be reached right now. The request is saved, and sent by itself once it can."
    assert said in client.get(page).content.decode()
    monkeypatch.setattr(tasks, "send_message", lambda task, pk: task(pk) or True)
    tasks.send_waiting_jobs()
    assert endpoint.SENTENCE in client.get(page).content.decode()


@pytest.mark.parametrize(
    ("module", "at"),
    [
        (tasks, "claim_job"),
        (evaluation_steps, "_readable"),
        (evaluation_steps, "_keep"),
        (evaluation_steps, "finish_job"),
    ],
)
def test_steps_whose_worker_was_killed_are_asked_for_anew(
    client, judge, page, owner, monkeypatch, module, at
):
    """Steps are the judge's once the job is done; each call is in the ledger once."""
    killed = begin_steps(judge, owner)
    work_and_be_killed(killed, monkeypatch, module, at)
    assert Judge.objects.get().options["steps"] == []
    before = LedgerEntry.objects.filter(purpose="generation").count()
    assert before == (at in ("_keep", "finish_job"))
    Job.objects.update(sent_at=timezone.now(), heartbeat_at=timezone.now() - timedelta(hours=1))
    assert "No worker answered. Start one, then ask again." in client.get(page).content.decode()
    begun = begin_steps(judge, owner)
    tasks.work_on_job(begun.pk)
    tasks.work_on_job(killed.pk)
    assert Judge.objects.get().options["steps"] == [endpoint.SENTENCE] * 2
    assert LedgerEntry.objects.filter(purpose="generation").count() == before + 1


def test_a_worker_that_was_given_up_changes_no_judge(judge, owner, monkeypatch):
    job = begin_steps(judge, owner)
    really = evaluation_steps._keep

    def slowly(*kept):
        Job.objects.update(state="failed", lease=None)
        return really(*kept)

    monkeypatch.setattr(evaluation_steps, "_keep", slowly)
    tasks.work_on_job(job.pk)
    assert Judge.objects.get().options["steps"] == []


def test_only_members_who_may_write_ask_and_only_of_judges_with_steps(
    client, judge, page, outsider, study, served
):
    plain = make_judge(study, served, "coin", name="plain")
    assert client.get(reverse("admin:judging_judge_steps", args=[plain.pk])).status_code == 404
    assert client.delete(page).status_code == 405
    client.force_login(outsider)
    assert client.get(page).status_code in (302, 403, 404)
    assert client.post(page).status_code in (302, 403, 404)
    assert not Job.objects.exists()
