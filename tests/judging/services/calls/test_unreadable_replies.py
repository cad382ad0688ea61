"""A run whose replies can't be read pauses before its money is gone, and shows one beside what was asked for."""

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from evaluation.services.tokens import make_token
from judging.backends.base import Reply, Request
from judging.models import Endpoint
from judging.services.calls.unreadable_replies import reason_to_pause
from judging.services.runs.judge_runs import start_run
from judging.services.runs.lanes import Lane
from judging.services.runs.lifecycle import resume_run
from judging.services.runs.reply_examples import unreadable_reply
from judging.services.runs.work import work_on
from tests import factories
from tests.judging import endpoint
from tests.judging.build import judged, make_judge

ASKED = Request(model="m", messages=[{"role": "user", "content": "Which is better?"}])
BABBLE = "Response 1 has its merits, yet Response 2 might be better, unless Response 1 is."


def make_once(owner):
    """A study of forty items."""
    return factories.launched_pairs("forty", 40, owner=owner)


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


# --- pausing ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("behaviour", ["babble", "empty", "truncated"])
def test_a_run_of_which_nothing_can_be_read_pauses(study, served, behaviour):
    run, worked = judged(study, make_judge(study, served, f"coin:{behaviour}", price_prompt=1))
    assert run.state == worked.state == "paused"
    assert "replies could be read" in run.reason
    assert 5 <= served.total < 15, "of forty items, and most of them three times"
    assert run.spent > 0
    assert not run.calls.filter(state="leased").exists()


def test_one_that_is_bad_later_pauses_too(study, served):
    judge = make_judge(study, served, "coin", in_flight=1, samples=3)
    served.script = ["slow=0"] * 10 + ["babble"] * 1_000
    run, _ = judged(study, judge)
    assert run.state == "paused"
    assert "of the last 50 replies could not be read" in run.reason
    assert served.total == 50
    assert run.calls.filter(outcome="ok").count() == 10


def test_a_few_bad_replies_stop_nobody(study, served):
    served.behaviours = "babble@0.2"
    run, _ = judged(study, make_judge(study, served, "coin"))
    assert run.state == "complete"


def test_refusals_can_be_read(study, served):
    run, _ = judged(study, make_judge(study, served, "coin:refusal"))
    assert run.state_text == "complete, 40 of 40 not answered"


def test_it_counts_on_where_a_worker_left(study, served, settings):
    """Workers take turns; what one saw the next one knows."""
    judge = make_judge(study, served, "coin:babble", in_flight=1)
    run = start_run(study, judge)
    run.recent = "xxxx"
    run.save()
    assert work_on(run.pk).state == "paused"
    assert served.total == 1


def test_resumed_it_begins_to_count_anew(study, served):
    judge = make_judge(study, served, "coin")
    served.behaviours = "babble"
    run, _ = judged(study, judge)
    assert (run.state, run.recent) == ("paused", "x" * len(run.recent))
    resume_run(run)
    assert (run.state, run.reason, run.recent) == ("pending", "", "")
    served.behaviours = ""
    work_on(run.pk)
    run.refresh_from_db()
    assert run.state_text == "complete"


def test_the_settings_say_when(settings):
    assert reason_to_pause("x" * 4) == ""
    assert reason_to_pause("x" * 5)
    assert reason_to_pause("." + "x" * 48) == ""
    assert reason_to_pause("." * 24 + "x" * 26) == (
        "26 of the last 50 replies could not be read. "
        "Compare the reply with the expected one, then resume or cancel."
    )
    assert reason_to_pause("." * 25 + "x" * 25) == ""
    settings.ASSAY_RUN_UNREAD_FIRST, settings.ASSAY_RUN_UNREAD_SHARE = 0, 1.0
    assert reason_to_pause("x" * 50) == ""


def test_caution_ends_with_the_first_reply_that_was_read():
    endpoint = Endpoint(max_in_flight=64)
    lane = Lane(endpoint, at_first=5)
    assert lane.places == 5
    for _ in range(50):
        lane.answered(ASKED, Reply(text="1"))
    assert lane.places == 5
    lane.trust()
    assert lane.places == 64
    slowed = Lane(endpoint, at_first=5)
    slowed.refused(None)
    slowed.trust()
    assert slowed.places == 2.5, "the server's own word holds on"
    assert Lane(endpoint, in_flight=3, at_first=5).places == 3


# --- shown ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def paused(study, served):
    run, _ = judged(study, make_judge(study, served, "coin:babble"))
    return run


def test_what_came_back_stands_beside_what_was_asked_for(paused):
    found = unreadable_reply(paused)
    assert found.raw == BABBLE
    assert '"preference": "1"' in found.expected
    assert found.error


def test_on_the_run_s_page(client, owner, paused):
    client.force_login(owner)
    page = client.get(reverse("admin:judging_run_watch", args=[paused.pk])).content.decode()
    assert "None of the first" in page
    assert BABBLE in page
    assert "&quot;preference&quot;: &quot;1&quot;" in page
    assert f'href="{reverse("admin:judging_run_resume", args=[paused.pk])}"' in page


def test_in_the_api(client, owner, paused):
    _, token = make_token(owner, name="reader")
    address = f"/api/v1/studies/{paused.study.slug}/runs/{paused.pk}/"
    found = client.get(address, headers={"Authorization": f"Bearer {token}"}).json()
    assert found["state"] == "paused"
    assert found["unread_reply"]["raw"] == BABBLE
    assert '"preference"' in found["unread_reply"]["expected"]


def test_at_the_shell(study, served, capsys):
    make_judge(study, served, "coin:babble")
    with pytest.raises(CommandError, match=r"None of the first \d replies could be read"):
        call_command("run_judge", study.slug, "--judge", "llm")
    said = capsys.readouterr().out
    assert BABBLE in said
    assert '"preference": "1"' in said
    call_command("run", "show", str(study.runs.get().pk))
    assert BABBLE in capsys.readouterr().out


def test_a_run_without_any_shows_none(client, owner, study, served):
    run, _ = judged(study, make_judge(study, served, "coin"))
    assert unreadable_reply(run) is None
    client.force_login(owner)
    assert (
        "Reply received" not in client.get(reverse("admin:judging_run_watch", args=[run.pk])).content.decode()
    )
