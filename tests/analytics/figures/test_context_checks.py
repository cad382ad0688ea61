"""Checks of follow-up questions in reports: by majority, and by the models that wrote the contexts."""

import pytest

from analytics.figures.registry import FIGURES
from analytics.figures.report_view import ReportView
from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from evaluation.models import Context, Item, Query
from evaluation.services.studies.launch import launch_study
from tests.analytics.reports.answering import (
    FOLLOW_UPS,
    answered_study,
    empty_study,
    give,
    judged_by_everyone,
    new_rater,
)

pytestmark = pytest.mark.django_db
KEY = "conditions/context_checks"
CHECKS = ("important", "realistic", "complete", "diverse")


def test_by_majority_and_by_what_wrote_the_context():
    study = empty_study("context_validation")
    for number in range(3):
        query = Query.objects.create(study=study, key=f"q{number}", text=f"What about {number}?")
        for key, model in (("c1", "gemini"), ("c2", "gpt")):
            context = Context.objects.create(query=query, key=key, follow_ups=FOLLOW_UPS, source=model)
            Item.objects.create(
                study=study, key=f"q{number}-{key}", query=query, context=context, arm=study.arms.get()
            )
    launch_study(study)
    study.refresh_from_db()
    # Of gemini's questions two of three say yes to the first alone, of gpt's all to both.
    for rater in range(3):
        one = {check: {"f1": int(rater < 2), "f2": 0} for check in CHECKS}
        two = {check: {"f1": 1, "f2": 1} for check in CHECKS}
        give(study, new_rater(study, f"person {rater}"), [one, two] * 3)
    report = build_report(study, replicates=20, only=[KEY])
    records = {each["question"]: each for each in report["records"] if each["figure"] == KEY}
    assert tuple(records) == CHECKS
    for record in records.values():
        assert (record["share"]["value"], record["share"]["n"]) == (0.75, 12)
        by_source = {each["source"]: each["share"]["value"] for each in record["by_source"]}
        assert by_source == {"gemini": 0.5, "gpt": 1}
    assert "| gemini |" in report_markdown(report)
    # Whoever judges does not see who wrote a context.
    assert not any("gemini" in str(item.stimulus) for item in study.items.all())


def test_checks_with_even_splits_have_an_n_of_their_own():
    study = answered_study("context_validation", queries=1)
    for rater in range(2):
        # They are divided about whether the second question is important, and agree on everything else.
        checks = {check: {"f1": 1, "f2": 1} for check in CHECKS} | {"important": {"f1": 1, "f2": rater}}
        give(study, new_rater(study, f"person {rater}"), [checks])
    report = build_report(study, replicates=20, only=[KEY])
    [block] = FIGURES[KEY].blocks(ReportView(report))
    shares, counts = block.tables
    assert len(shares.columns) == len(counts.columns) == 2 + len(CHECKS)
    n = {
        column.label: (cell.text, cell.detail)
        for column, cell in zip(counts.columns[2:], counts.rows[0][2:], strict=True)
    }
    prompts = {each["key"]: each["prompt"] for each in report["questions"]}
    assert n == {
        prompts[check]: ("1", "1 not included") if check == "important" else ("2", "") for check in CHECKS
    }
    assert "as many say yes as no" in counts.foot


def test_checks_with_the_same_n_have_it_beside_their_shares():
    report = build_report(judged_by_everyone("context_validation"), replicates=20, only=[KEY])
    [block] = FIGURES[KEY].blocks(ReportView(report))
    [shares] = block.tables
    assert shares.columns[-1].label == "n"


def test_contexts_of_unknown_origin_are_a_row_beside_known_ones():
    study = empty_study("context_validation")
    for number, model in enumerate(("", "gpt")):
        query = Query.objects.create(study=study, key=f"q{number}", text=f"What about {number}?")
        context = Context.objects.create(query=query, key="c1", follow_ups=FOLLOW_UPS, source=model)
        Item.objects.create(study=study, key=query.key, query=query, context=context, arm=study.arms.get())
    launch_study(study)
    study.refresh_from_db()
    give(study, new_rater(study, "person"), [{check: {"f1": 1, "f2": 0} for check in CHECKS}] * 2)
    report = build_report(study, replicates=20, only=[KEY])
    assert "| not known |" in report_markdown(report)


def test_contexts_of_one_source_are_no_factor():
    report = build_report(judged_by_everyone("context_validation"), replicates=20, only=[KEY])
    found = [each for each in report["records"] if each["figure"] == KEY]
    assert found
    assert all(each["by_source"] == [] for each in found)
