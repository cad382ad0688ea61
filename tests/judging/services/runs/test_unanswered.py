"""A complete run with failures says so, wherever its state is shown."""

import pytest
from django.core.management import call_command
from django.urls import reverse

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from evaluation.services.tokens import make_token
from judging.selectors import judges_in_figures
from judging.services.runs.lifecycle import retry_run
from judging.services.runs.work import work_on
from tests import factories
from tests.judging import endpoint
from tests.judging.build import judged, make_judge


def make_once(owner):
    return factories.launched(owner=owner)


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def run(study, served):
    """12 calls, of which the server refuses the first three."""
    served.script = ["400"] * 3
    run, _ = judged(study, make_judge(study, served, "coin"))
    return run


SAID = "complete, 3 of 12 not answered"


def test_it_says_so_on_every_page(client, owner, study, run):
    owner.is_superuser = True
    owner.save()
    client.force_login(owner)
    changelist = f"{reverse('admin:judging_run_list', args=[study.slug])}"
    for page in (
        reverse("judging:run-list", args=[study.slug]),
        reverse("admin:judging_run_watch", args=[run.pk]),
        changelist,
    ):
        assert SAID in client.get(page).content.decode(), page


def test_it_says_so_in_the_list_at_the_shell_and_in_the_report(study, run, capsys):
    call_command("runs", study.slug)
    assert SAID in capsys.readouterr().out
    [sentence] = judges_in_figures(study)
    assert sentence.endswith("; 3 of its 12 calls were not answered.")


def test_the_command_that_ran_it_says_so(study, served, capsys):
    make_judge(study, served, "coin")
    served.script = ["400"] * 3
    call_command("run_judge", study.slug, "--judge", "llm")
    assert SAID in capsys.readouterr().out


def test_it_says_so_in_the_api(client, owner, study, run):
    _, token = make_token(owner, name="reader")
    found = client.get(
        f"/api/v1/studies/{study.slug}/runs/{run.pk}/", headers={"Authorization": f"Bearer {token}"}
    ).json()
    assert (found["state"], found["state_text"]) == ("complete", SAID)


def test_what_is_made_good_is_not_said_any_more(study, run):
    retry_run(run)
    work_on(run.pk)
    run.refresh_from_db()
    assert run.state_text == "complete"
    assert [each for each in judges_in_figures(study) if "not answered" in each] == []


def test_what_was_left_out_was_not_asked(study, served):
    judge = make_judge(study, served, "coin", own_system="aspen")
    run, _ = judged(study, judge)
    assert (run.asked, run.unanswered, run.state_text) == (0, 0, "complete")


def test_the_report_says_what_a_judgment_has_cost(study, served):
    run, _ = judged(
        study, make_judge(study, served, "coin", name="paid", price_prompt=1000, price_completion=0)
    )
    assert run.spent > 0
    [sentence] = judges_in_figures(study)
    assert sentence.endswith(f"; cost {run.spent / 12:.4g} per judgment.")
    page = report_markdown(build_report(study, replicates=0, only=["judges/replies"]))
    row = next(
        line for line in page.partition("Cost of judging")[2].splitlines() if line.startswith("| paid")
    )
    tokens = sum(run.ledger.values_list("prompt_tokens", flat=True)) + sum(
        run.ledger.values_list("completion_tokens", flat=True)
    )
    assert [each.strip() for each in row.split("|")[2:-1]] == [
        "12", f"{tokens:,}", f"{run.spent:,.4f}", f"{run.spent / 12:,.4g}"
    ]  # fmt: skip
