"""Anchor runs on a schedule, and the drift of the endpoint that they show."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from evaluation.models import Rater
from evaluation.protocols import AnswerValue, Kind
from evaluation.refusals import FieldsRefused
from evaluation.services.judgments import JudgmentInput, record_judgments
from evaluation.services.studies.verification import verify_study
from judging.models import AnchorSchedule, Call, Run
from judging.services.anchors import set_anchors, start_due_anchors, stop_anchors
from judging.services.calls.budget import set_study_budget
from judging.services.judges import heuristic_judge
from judging.services.runs.work import work_on
from tests import factories
from tests.judging import endpoint
from tests.judging.build import judged, make_judge
from tests.judging.questions_study import make_questions_study

PRICES = {"price_prompt": Decimal(1_000), "price_completion": Decimal(1_000), "max_tokens": 50}


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


def make_once(owner):
    return factories.launched_pairs("twenty", 20, owner=owner)


def make_due():
    AnchorSchedule.objects.update(next_at=timezone.now())


def anchor():
    """The next anchor run, worked on to its end."""
    make_due()
    [run] = start_due_anchors()
    work_on(run.pk)
    return Run.objects.select_related("judging__rater").get(pk=run.pk)


def drift_records(study):
    return [
        each
        for each in build_report(study, only=["judges/drift"])["records"]
        if each["figure"] == "judges/drift"
    ]


def test_anchor_runs_start_by_themselves_on_the_same_items_past_the_cache(study, served):
    judge = make_judge(study, served, "coin")
    judged(study, judge)
    set_anchors(judge, every_days=7, max_items=5)
    assert served.total == 20
    first = anchor()
    assert (first.judging.purpose, first.judging.judge, first.state) == ("anchor", judge, "complete")
    schedule = AnchorSchedule.objects.get()
    assert timedelta(days=6.9) < schedule.next_at - timezone.now() < timedelta(days=7)
    assert start_due_anchors() == [], "it is not due for a week"
    second = anchor()
    assert served.total == 30
    items = [set(run.calls.values_list("item", flat=True)) for run in (first, second)]
    assert items[0] == items[1]
    assert len(items[0]) == 5
    assert not Call.objects.filter(run__in=(first, second), cached=True).exists()
    assert first.judging.rater.about["purpose"] == "anchor"
    assert not first.judging.rater.in_figures
    assert list(verify_study(study)) == []


def test_one_that_cannot_start_says_why_and_is_tried_again_the_next_day(study, served, caplog):
    judge = make_judge(study, served, "coin", **PRICES)
    set_anchors(judge, every_days=30)
    set_study_budget(study, Decimal(1))
    assert start_due_anchors() == []
    schedule = AnchorSchedule.objects.get()
    assert schedule.problem.startswith("The study's budget of 1 has 1 left; an anchor run is estimated at")
    assert "did not start" in caplog.text
    assert timedelta(hours=23) < schedule.next_at - timezone.now() < timedelta(hours=25)
    set_study_budget(study, None)
    make_due()
    [run] = start_due_anchors()
    assert AnchorSchedule.objects.get().problem == ""
    make_due()
    assert start_due_anchors() == []
    assert AnchorSchedule.objects.get().problem == f"The anchor run before it, run {run.pk}, is pending."


def test_only_a_model_can_drift_and_a_schedule_can_be_ended(study, served):
    with pytest.raises(FieldsRefused, match="Only a judge that asks a model"):
        set_anchors(heuristic_judge(study, "longer"), every_days=7)
    judge = make_judge(study, served, "coin")
    for wrong in (
        {"every_days": 0},
        {"every_days": 7, "budget": Decimal(0)},
        {"every_days": 7, "max_items": 0},
    ):
        with pytest.raises(FieldsRefused):
            set_anchors(judge, **wrong)
    set_anchors(judge, every_days=7)
    assert (stop_anchors(judge), stop_anchors(judge)) == (True, False)
    assert start_due_anchors() == []


def test_the_command_sets_shows_and_ends_a_schedule(study, served, capsys):
    make_judge(study, served, "coin")
    call_command("anchors", study.slug, "--judge", "llm", "--every", "14", "--items", "9")
    assert "llm v1: 9 items every 14 days, next " in capsys.readouterr().out
    call_command("anchors", study.slug, "--start-due")
    assert "Started run " in capsys.readouterr().out
    call_command("anchors", study.slug, "--judge", "llm", "--stop")
    with pytest.raises(CommandError, match="no schedule"):
        call_command("anchors", study.slug, "--judge", "llm", "--stop")


def test_a_schedule_is_set_and_ended_on_its_page(study, served, owner, client):
    judge = make_judge(study, served, "coin")
    client.force_login(owner)
    address = reverse("admin:judging_judge_anchors", args=[judge.pk])
    assert client.post(address, {"every_days": "0"}).status_code == 422
    assert client.post(address, {"every_days": "7", "max_items": "5", "budget": "2"}).status_code == 302
    schedule = AnchorSchedule.objects.get()
    assert (str(schedule), schedule.created_by) == ("5 items every 7 days", owner)
    AnchorSchedule.objects.update(problem="The study's budget of 1 is spent.")
    for page in (address, f"{reverse('admin:judging_judge_list', args=[study.slug])}"):
        assert "The study&#x27;s budget of 1 is spent." in client.get(page).content.decode()
    assert client.post(address, {"stop": "1"}).status_code == 302
    assert not AnchorSchedule.objects.exists()


def test_the_api_sets_shows_and_ends_a_schedule(study, served, owner):
    judge = make_judge(study, served, "coin")
    client = APIClient()
    client.force_authenticate(owner)
    address = f"/api/v1/studies/{study.slug}/judges/{judge.pk}/anchors/"
    assert client.get(address).json()["every_days"] is None
    told = client.put(address, {"every_days": 7, "max_items": 5, "budget": "2.50"}, format="json").json()
    assert (told["every_days"], told["max_items"], Decimal(told["budget"])) == (7, 5, Decimal("2.5"))
    assert client.get(address).json() == told
    assert client.put(address, {"every_days": 366}, format="json").status_code == 400
    assert client.delete(address).json()["every_days"] is None
    longer = heuristic_judge(study, "longer")
    refused = client.put(address.replace(f"/{judge.pk}/", f"/{longer.pk}/"), {"every_days": 7}, format="json")
    assert (refused.status_code, refused.json()["code"]) == (409, "refused")


def test_a_model_that_changes_is_said_to_have_drifted_and_one_that_does_not_is_not(study, served):
    judge = make_judge(study, served, "coin")
    judged(study, judge)
    assert drift_records(study) == []
    set_anchors(judge, every_days=7)
    anchor(), anchor()
    [record] = drift_records(study)
    assert [each["purpose"] for each in record["passes"]] == ["main", "anchor", "anchor"]
    assert [each["self"] and each["self"]["value"] for each in record["passes"]] == [None, 1.0, 1.0]
    assert record["passes"][2]["drift"]["test"]["p_value"] == 1
    # Another model behind the same name.
    served.seed = 5
    anchor()
    [record] = drift_records(study)
    last = record["passes"][3]
    assert last["self"]["value"] < 0.8
    assert last["self"]["low"] < last["self"]["value"] < last["self"]["high"]
    assert last["drift"]["difference"]["value"] == pytest.approx(last["self"]["value"] - 1)
    # The pass before it has no other answer, so that its test could not have found anything.
    assert last["drift"]["test"]["tests"] == 2
    assert last["drift"]["test"]["p_corrected"] == last["drift"]["test"]["p_value"]
    assert last["drift"]["test"]["p_corrected"] < 0.05
    text = report_markdown(build_report(study, only=["judges/drift"]))
    assert "llm v1 had drifted by " in text
    assert "points less often than its second pass did" in text


def test_numbers_that_change_are_said_to_have_drifted(owner, served):
    """Each pass of a scale beside the first one and beside people, who gave each question back the middle."""
    study = make_questions_study(owner, queries=14, systems=("aspen",))
    judge = make_judge(study, served, "coin", questions=["usefulness"])
    judged(study, judge)
    rater = Rater.objects.create(study=study, kind="person", pseudonym="p", label="p")
    answers = [AnswerValue("usefulness", Kind.SCALE, part="r1", number=5)]
    revision = study.revisions.get().pk
    given = [
        JudgmentInput(rater_id=rater.pk, item_id=item.pk, revision_id=revision, answers=answers)
        for item in study.items.all()
    ]
    record_judgments(study=study, batch=given)
    set_anchors(judge, every_days=7)
    anchor(), anchor()
    served.seed = 5
    anchor()
    report = build_report(study, only=["judges/number_drift"])
    [record] = [each for each in report["records"] if each["figure"] == "judges/number_drift"]
    runs = Run.objects.order_by("pk").select_related("judging__rater")
    numbers = [
        dict(run.judging.rater.judgments.values_list("item", "answers__number").order_by("item"))
        for run in runs
    ]
    first, last = numbers[0], numbers[3]
    gap = sum(abs(last[item] - first[item]) for item in first) / 14
    passes = record["passes"]
    assert passes[0]["self"] is None
    assert [each["self"]["error"]["value"] for each in passes[1:]] == [0, 0, pytest.approx(gap)]
    assert passes[1]["self"]["pearson"]["value"] == pytest.approx(1)
    away = sum(abs(number - 5) for number in last.values()) / 14
    assert passes[3]["people"]["error"]["value"] == pytest.approx(away)
    drifted = passes[3]["drift"]
    assert drifted["difference"]["value"] == pytest.approx(gap)
    assert drifted["difference"]["low"] < gap < drifted["difference"]["high"]
    assert drifted["test"]["p_corrected"] < 0.05
    text = report_markdown(report)
    assert "llm v1 had drifted by " in text
    assert "points further from its first pass than those of its second pass" in text


def test_anchor_runs_change_no_other_figure(study, served):
    judge = make_judge(study, served, "coin")
    judged(study, judge)
    before = build_report(study)
    set_anchors(judge, every_days=7)
    anchor(), anchor()
    after = build_report(study)
    assert [each["key"] for each in after["groups"]] == [each["key"] for each in before["groups"]]
    others = [each for each in after["records"] if each["figure"] != "judges/drift"]
    assert others == before["records"]
