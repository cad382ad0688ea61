"""Judges and runs from the shell."""

import io
import json
import os
import signal
import threading
import time

import pytest
from django.core.management import CommandError, call_command

from judging.models import Endpoint, Judge, Run
from judging.services.judges import heuristic_judge
from judging.services.runs.judge_runs import start_run
from judging.services.runs.lifecycle import pause_run
from judging.tasks import work_on_run
from tests import factories
from tests.judging import endpoint
from tests.judging.build import ABLE


def make_once(owner):
    return factories.launched(owner=owner)


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def llm(study, served):
    say("add_endpoint", "here", url=served.url)
    Endpoint.objects.update(capabilities={"coin": ABLE})
    say(
        "add_judge",
        "contrast",
        "llm",
        endpoint="here",
        model="coin",
        price_prompt="1000",
        price_completion="1000",
    )
    return Judge.objects.get(name="llm")


@pytest.fixture
def sent(monkeypatch):
    messages = []
    monkeypatch.setattr(work_on_run, "apply_async", lambda args, countdown=None: messages.append(args))
    return messages


def say(*command, **options):
    out = io.StringIO()
    call_command(*command, stdout=out, **options)
    return out.getvalue()


def test_a_heuristic_needs_nothing_but_its_name(study):
    said = say("run_judge", "contrast", "--judge", "longer")
    assert "longer v1: complete. Calls: 12 ok; 0 left." in said
    assert "complete  12 of 12 calls (12 ok), 0 tokens, cost 0.0000, in the figures" in say(
        "runs", "contrast"
    )


def test_a_model_s_run_says_what_it_took(llm):
    said = say("run_judge", "contrast", "--judge", "llm", "--yes")
    assert "llm v1: complete. Calls: 12 ok; 0 left." in said
    assert "0 calls from the cache" in said
    assert Run.objects.get().judging.purpose == "main"


def test_the_estimate_starts_nothing(llm, served):
    said = say("run_judge", "contrast", "--judge", "llm", "--estimate")
    assert "12 items, 12 calls" in said
    assert "prompt tokens (from 12 items' prompts)" in said
    assert "calls in flight" in said
    assert (Run.objects.count(), served.total) == (0, 0)


def test_an_unfinished_run_goes_on(llm, served):
    with pytest.raises(CommandError, match="The budget of 5 would be exceeded"):
        say("run_judge", "contrast", "--judge", "llm", "--budget", "5")
    run = Run.objects.get()
    assert run.state == "stopped"
    said = say("run_judge", "contrast", "--judge", "llm", "--budget", "500")
    assert f"Run {run.pk} of llm v1 is resumed." in said
    assert Run.objects.get().state == "complete"


def test_a_trial_on_a_few_items(llm):
    say("run_judge", "contrast", "--judge", "llm", "--purpose", "trial", "--items", "3", "--in-flight", "2")
    run = Run.objects.get()
    assert (run.judging.purpose, run.in_flight, run.calls.count()) == ("trial", 2, 3)
    assert run.judging.rater.in_figures is False


def test_failures_are_tried_again(llm, served, settings):
    settings.ASSAY_RUN_ATTEMPTS = 1
    served.behaviours = "500@0.5"
    say("run_judge", "contrast", "--judge", "llm")
    failed = Run.objects.get().calls.filter(outcome="failed").count()
    assert failed > 0
    served.behaviours = ""
    said = say("run_judge", "contrast", "--judge", "llm", "--retry-failed")
    assert f"Retrying {failed} calls of run" in said
    assert set(Run.objects.get().calls.values_list("outcome", flat=True)) == {"ok"}


def test_ctrl_c_pauses_and_the_same_command_goes_on(llm, served):
    served.latency = 0.2

    def interrupt():
        deadline = time.monotonic() + 20
        while served.total < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    said = say("run_judge", "contrast", "--judge", "llm", "--in-flight", "1")
    thread.join()
    run = Run.objects.get()
    assert f"Paused; the same command resumes run {run.pk}." in said
    assert run.state == "paused"
    assert 0 < run.calls.filter(state="final").count() < 12
    served.latency = 0
    assert "complete" in say("run_judge", "contrast", "--judge", "llm")
    assert set(run.calls.values_list("outcome", flat=True)) == {"ok"}
    assert served.total <= 12, "nothing is asked twice"


def test_in_the_background_it_is_left_to_the_workers(llm, sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        said = say("run_judge", "contrast", "--judge", "llm", "--background")
    run = Run.objects.get()
    assert "is left to the workers" in said
    assert [args[0] for args in sent] == [run.pk]
    assert run.state == "pending"


def test_the_bar_goes_to_standard_error(llm, capsys):
    say("run_judge", "contrast", "--judge", "llm", "--progress")
    assert "12/12" in capsys.readouterr().err


def test_a_run_is_steered(study, sent, django_capture_on_commit_callbacks):
    run = start_run(study, heuristic_judge(study, "longer"))
    assert "is paused" in say("run", "pause", str(run.pk))
    with django_capture_on_commit_callbacks(execute=True):
        assert "is pending" in say("run", "resume", str(run.pk))
    assert [args[0] for args in sent] == [run.pk]
    assert "is cancelled" in say("run", "cancel", str(run.pk))
    with pytest.raises(CommandError, match="can't become paused"):
        say("run", "pause", str(run.pk))
    with pytest.raises(CommandError, match="There is no run 999"):
        say("run", "pause", "999")


def test_the_list_tells_why_a_run_stands_still(study):
    assert "No judge or pipeline has run" in say("runs", "contrast")
    run = start_run(study, heuristic_judge(study, "longer"))
    pause_run(run)
    Run.objects.update(state="stopped", reason="The endpoint's quota is used up.")
    assert "quota is used up" in say("runs", "contrast")


def test_a_judge_that_has_run_becomes_a_new_version(llm):
    say("run_judge", "contrast", "--judge", "llm", "--yes")
    said = say(
        "add_judge", "contrast", "llm", temperature=0.5, questions="preference", extra='{"top_p": 0.9}'
    )
    assert "llm v2" in said
    newest = Judge.objects.get(version=2)
    assert (newest.temperature, newest.questions, newest.extra) == (0.5, ["preference"], {"top_p": 0.9})


def test_a_template_is_read_from_a_file(llm, tmp_path):
    template = tmp_path / "prompt.txt"
    template.write_text("{query}\n{context}\n{responses}\n{format}")
    say("add_judge", "contrast", "llm", template=str(template))
    assert Judge.objects.get(name="llm").template == template.read_text()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["run_judge", "nowhere", "--judge", "longer"], "There is no study 'nowhere'"),
        (
            ["run_judge", "contrast", "--judge", "nobody"],
            "no judge 'nobody'; there are: .*random, shorter, longer",
        ),
        (["run_judge", "contrast", "--judge", "longer", "--budget", "much"], "not an amount of money"),
        (["run_judge", "contrast", "--judge", "longer", "--items", "0"], "must be more than zero"),
        (
            ["run_judge", "contrast", "--judge", "longer", "--retry-failed"],
            "no run of longer v1 to retry",
        ),
        (["runs", "nowhere"], "There is no study"),
        (
            ["add_judge", "contrast", "llm", "--endpoint", "there", "--model", "m"],
            "There is no endpoint 'there'",
        ),
        (["add_judge", "contrast", "llm", "--model", "m"], "needs an endpoint"),
        (["add_judge", "contrast", "llm", "--backend", "longer", "--extra", "{"], "not JSON"),
        (["add_judge", "contrast", "llm", "--backend", "longer", "--price-prompt", "x"], "not a price"),
        (["add_judge", "contrast", "llm", "--template", "/nowhere/at/all"], "No such file"),
        (["add_endpoint", "a", "--url", "ftp://127.0.0.1"], "base_url"),
        (["add_endpoint", "a", "--url", "http://127.0.0.1/v1", "--key-name", "SECRET_KEY"], "ASSAY_KEY_"),
    ],
)
def test_what_can_t_be_is_said(study, command, said):
    with pytest.raises(CommandError, match=said.replace("(", r"\(")):
        say(*command)
    assert not Run.objects.exists()


def test_a_draft_can_t_be_judged(owner):
    factories.make_study("draft", owner=owner)
    with pytest.raises(CommandError, match="launch the study first"):
        say("run_judge", "draft", "--judge", "longer")


def test_what_the_endpoint_is_sent_holds_no_key_in_what_is_said(study, served, monkeypatch):
    monkeypatch.setenv("ASSAY_KEY_TEST", "sk-very-secret-value")
    served.require_key = "another"
    say("add_endpoint", "here", url=served.url, key_name="ASSAY_KEY_TEST")
    say("add_judge", "contrast", "llm", endpoint="here", model="coin:echo_key")
    Endpoint.objects.update(capabilities={"coin:echo_key": ABLE})
    with pytest.raises(CommandError) as stopped:
        say("run_judge", "contrast", "--judge", "llm")
    told = str(stopped.value) + say("runs", "contrast") + json.dumps(list(Run.objects.values("reason")))
    assert "secret" not in told
    assert served.authorizations == {"Bearer sk-very-secret-value"}
