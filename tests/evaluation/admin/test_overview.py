"""The overview of a study: one set of counts, what waits for a person, and acts for who has the right."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from analytics.reports.build import build_report
from analytics.reports.overview import stopping_needs
from annotator.models import Slot
from annotator.selectors.progress import crowd_figures, crowd_needs
from annotator.services.admission.entry import StudyFull
from evaluation.admin.study.overview import progress_facts
from evaluation.models import Progress, StudyMember
from evaluation.services.exclusions import exclude
from evaluation.services.progress import progress_of
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.tasks import count_progress, send_news
from judging.models import Call, Judge, PipelineRun, Run
from judging.services.overview import judge_figures, judge_needs
from tests.crowd import before, come, hand_in, make_crowd_study
from tests.evaluation.admin.conftest import signed_in
from tests.judging.build import make_judge_run

pytestmark = pytest.mark.django_db


def page_of(user: Any, study: Any, **headers: str) -> str:
    address = reverse("admin:evaluation_study_overview", args=[study.slug])
    return " ".join(signed_in(user).get(address, headers=headers).content.decode().split())


@pytest.fixture
def full(owner: Any) -> Any:
    study = make_crowd_study(
        "full", owner=owner, queries=3, arms=PAPER_ARMS[1:2], redundancy=1, pay=Decimal("3.00")
    )
    person = come(study, "a")
    while before(person.token) is not None:
        hand_in(person.token)
    return study


def test_a_full_study_says_that_it_is_done(full: Any, owner: Any) -> None:
    page = page_of(owner, full)
    assert "Done: all 3 judgments needed from people are in." in page
    assert "newcomers read “All places are taken”" in page
    assert reverse("admin:evaluation_study_close", args=[full.slug]) in page
    assert "participants can enter at the link" not in page


def test_what_people_hold_is_not_free_until_their_time_is_over(owner: Any) -> None:
    study = make_crowd_study("held", owner=owner, queries=1, arms=PAPER_ARMS[1:2], redundancy=1)
    come(study, "a")
    page = page_of(owner, study)
    assert "Live, but no slot is free: newcomers read “All places are taken”." in page
    with pytest.raises(StudyFull):
        come(study, "b")
    Slot.objects.filter(study=study).update(leased_until=timezone.now() - timedelta(minutes=1))
    assert crowd_figures(study)["slots_free"] == 1


def test_a_full_study_is_news(full: Any, owner: Any, settings: Any, mailoutbox: Any) -> None:
    settings.EMAIL_HOST, settings.DEFAULT_FROM_EMAIL = "mail.example.org", "assay@example.org"
    owner.email = "owner@example.org"
    owner.save()
    full.members.update(wants_news=True)
    count_progress()
    send_news(full.pk)
    (sent,) = mailoutbox
    assert "All 3 judgments needed are in, and the study is not closed" in sent.body
    assert reverse("admin:evaluation_study_close", args=[full.slug]) in sent.body


@pytest.mark.parametrize(
    ("currency", "said"),
    [
        ("GBP", {"Spending": ("15.50 GBP", "people 12.00; models 3.50 of a budget of 3.00")}),
        (
            "USD",
            {
                "Spending on people": ("12.00 GBP", "without a budget"),
                "Spending on models": ("3.50 USD", "of a budget of 3.00"),
            },
        ),
        (
            "",
            {
                "Spending on people": ("12.00 GBP", "without a budget"),
                "Spending on models": ("3.50", "of a budget of 3.00"),
            },
        ),
    ],
)
def test_money_of_one_currency_alone_is_added_up(
    full: Any, settings: Any, currency: str, said: dict[str, tuple[str, str]]
) -> None:
    settings.ASSAY_CURRENCY = currency
    counted = Progress(
        study=full, figures={"spent_people": "12.00", "spent_models": "3.5", "budget_models": "3"}
    )
    facts = progress_facts(full, counted)
    assert {each.name: (each.value, each.detail) for each in facts if "Spending" in each.name} == said
    (concern,) = judge_needs(full, counted)
    assert concern.news
    assert "The budget for models, 3, is spent" in concern.text


@pytest.mark.parametrize(("budget", "is_over"), [("2.99", True), ("3.00", False), (None, False)])
def test_people_over_their_budget_are_a_caution_and_news(
    full: Any, owner: Any, budget: str | None, is_over: bool
) -> None:
    """One of them finished, at 3.00."""
    full.people_budget = budget and Decimal(budget)
    full.save()
    page = page_of(owner, full)
    said = f"People have cost 3.00 GBP, more than their budget of {budget}."
    assert (said in page) == is_over
    assert (f"of a budget of {budget}" in page) == (budget is not None)
    concerns = [each for each in crowd_needs(full, progress_of(full)) if "budget" in each.text]
    assert [each.news for each in concerns] == ([f"people budget {budget}"] if is_over else [])


def test_runs_that_stopped_are_news_beside_many_newer_ones(full: Any) -> None:
    judge = Judge.objects.create(study=full, name="longer", backend="longer")
    raters = [full.raters.create(kind="judge", label=f"longer v{number}") for number in range(10)]
    runs = [make_judge_run(judge, full.revisions.get(), rater) for rater in raters]
    pipeline = Run.objects.create(study=full, work="generation", last_subject=None)
    PipelineRun.objects.create(run=pipeline, pipeline="contexts", version="1", seed=1)
    Run.objects.filter(study=full).update(state="complete")
    stopped = [runs[0].pk, pipeline.pk]
    Run.objects.filter(pk__in=stopped).update(state="stopped", reason="Its budget is spent.")
    needs = list(judge_needs(full, Progress(study=full, figures=judge_figures(full))))
    assert {each.news for each in needs} == {f"stopped {pk}" for pk in stopped}
    assert all("Its budget is spent." in each.text for each in needs)
    assert {each.url for each in needs} == {
        reverse("admin:judging_run_change", args=[runs[0].pk]),
        reverse("admin:evaluation_study_generation_run", args=[full.slug, pipeline.pk]),
    }


def make_runs(study: Any, n: int) -> None:
    judge, _ = Judge.objects.get_or_create(study=study, name="longer", backend="longer")
    for _ in range(n):
        rater = study.raters.create(kind="judge", label=f"longer v{study.raters.count()}")
        make_judge_run(judge, study.revisions.get(), rater)


def test_runs_that_stopped_for_the_same_reason_are_shown_as_one(full: Any, owner: Any) -> None:
    make_runs(full, 4)
    Run.objects.filter(study=full).update(state="stopped", reason="Bad key.")
    last = Run.objects.latest("pk")
    Run.objects.filter(pk=last.pk).update(reason="No model.")
    needs = list(judge_needs(full, Progress(study=full, figures=judge_figures(full))))
    assert {each.text: each.news for each in needs if each.shown} == {
        "3 runs stopped: Bad key.": "",
        "longer v1, main: stopped. No model.": f"stopped {last.pk}",
    }
    assert sorted(each.news for each in needs if each.news) == sorted(
        f"stopped {pk}" for pk in Run.objects.filter(study=full).values_list("pk", flat=True)
    )
    page = page_of(owner, full)
    assert "3 runs stopped: Bad key." in page
    assert "stopped. Bad key." not in page
    assert reverse("admin:judging_run_list", args=[full.slug]) in page


def test_many_runs_cost_as_many_queries_as_few(full: Any) -> None:
    counts = []
    for n in (1, 5, 30):
        make_runs(full, n)
        with CaptureQueriesContext(connection) as queries:
            judge_figures(full)
        counts.append(len(queries))
    assert counts == [5, 5, 5]


def test_failed_and_unreadable_calls_are_counted_of_each_run(full: Any) -> None:
    make_runs(full, 2)
    first, second = Run.objects.filter(study=full).order_by("pk")
    items = list(full.items.filter(role="main"))
    for run, item, outcome in (
        (first, 0, "failed"), (first, 1, "failed"), (first, 2, "unparsed"), (second, 0, "ok"), (second, 1, "unparsed"),
    ):  # fmt: skip
        Call.objects.create(run=run, item=items[item], order="r1,r2", state="final", outcome=outcome)
    needs = list(judge_needs(full, Progress(study=full, figures=judge_figures(full))))
    assert {each.text: each.news for each in needs} == {
        "longer v1, main: 1 reply that can't be read, 2 failed calls.": f"failed {first.pk}",
        "longer v1, main: 1 reply that can't be read.": "",
    }


@pytest.mark.parametrize(
    ("status", "may_stop", "n"), [("live", True, 1), ("live", False, 0), ("closed", True, 0)]
)
def test_a_stopping_rule_that_is_met_is_news(full: Any, status: str, may_stop: bool, n: int) -> None:
    full.status = status
    figures = {"report": {"at": "2026-01-02T12:00:00+00:00", "looks": [], "facts": [], "may_stop": may_stop}}
    needs = list(stopping_needs(full, Progress(study=full, figures=figures)))
    assert [each.news for each in needs] == ["rule met"] * n


def test_what_simulated_raters_judged_is_no_work_of_people(owner: Any) -> None:
    study = make_crowd_study(
        "program", owner=owner, queries=3, arms=PAPER_ARMS[1:2], redundancy=1, simulated=True
    )
    rater = study.raters.create(kind="simulated", label="simulated 01")
    for item in study.items.filter(role="main"):
        study.judgments.create(rater=rater, item=item, revision=study.revisions.get())
    page = page_of(owner, study)
    assert "Live: simulated raters have judged it, no person yet." in page
    assert "3</b> of 3 judgments, by simulated raters" in page
    assert "<dt>Judgments by simulated raters</dt><dd><b>3</b>" in page
    assert "needed from people" not in page
    assert "Excluded of simulated raters&#x27;</dt>" in page
    assert "Done: all" not in page
    assert "the study is not closed" not in page
    listed = " ".join(signed_in(owner).get("/studies/").content.decode().split())
    assert '<span>3 of 3</span> <span class="quiet">simulated</span>' in listed
    assert "from people" not in listed


def test_an_exclusion_is_named_with_what_it_costs(full: Any, owner: Any) -> None:
    exclude(study=full, judgment=full.judgments.first(), reason="A slip.", by=owner)
    page = page_of(owner, full)
    assert "1 excluded judgment leaves its slot without one that counts." in page
    assert "Re-collect 1, about 1.00 GBP" in page
    assert "Live, but no slot is free" in page


def test_a_viewer_reads_what_is_needed_without_acts(full: Any, viewer: Any) -> None:
    StudyMember.objects.create(study=full, user=viewer, role="viewer")
    page = page_of(viewer, full)
    assert "newcomers read “All places are taken”" in page
    assert reverse("admin:evaluation_study_close", args=[full.slug]) not in page
    assert "/s/full/" in page


def test_the_numbers_alone_are_asked_for_again(full: Any, owner: Any) -> None:
    part = page_of(owner, full, HX_Request="true")
    assert part.startswith("<div") or part.startswith("{") or 'class="overview"' in part
    assert "<html" not in part
    assert 'hx-trigger="every 20s"' in part
    assert "As of" in part


def test_overview_and_report_count_the_same(mine: Any, owner: Any) -> None:
    """Excluded, of a run outside the report, skipped, of a withdrawn item: counted in neither."""
    study = mine.study
    person = come(study, "more")
    while before(person.token) is not None:
        hand_in(person.token)
    trial = study.raters.create(kind="judge", label="trial", in_figures=False)
    revision = study.revisions.get()
    for item in study.items.filter(role="main"):
        study.judgments.create(rater=trial, item=item, revision=revision)
    row = progress_of(study)
    counts = build_report(study, replicates=10)["counts"]
    assert row.n_people + row.n_judges == counts["judgments"]
    assert row.n_filled <= row.n_people
    assert row.figures["left_out"]["person"] == {"excluded": 1}
    page = page_of(owner, study)
    assert f"<dt>Judgments by people</dt><dd><b>{row.n_people}</b>" in page
    assert "<dt>Excluded of people&#x27;s</dt><dd><b>1</b>" in page


def test_what_is_missing_is_not_called_ready(editors_draft: Any, colleague: Any) -> None:
    page = signed_in(colleague).get(reverse("admin:evaluation_study_overview", args=[editors_draft.slug]))
    missing = page.context["missing"]
    assert missing
    assert f"Ready but for what is missing ({len(missing)})." in page.content.decode()
    assert "Ready to launch" not in page.content.decode()
