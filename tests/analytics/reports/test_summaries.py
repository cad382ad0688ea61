"""The strips at the top: each group of raters keeps its own, whoever else has judged."""

import pytest

from analytics.display.tables import DASH
from analytics.reports.files import report_html
from analytics.reports.markdown import report_markdown
from analytics.reports.page import report_page
from tests.analytics.reports.answering import answered_study, give, new_rater, some_answers
from tests.analytics.reports.judging import answer, judge, judged_study, main_items
from tests.analytics.reports.reading import build_report

pytestmark = pytest.mark.django_db
ONE_ARM = ({"key": "all", "label": "All items"},)


def values(facts):
    return {fact.name: fact.value for fact in facts}


@pytest.fixture
def page():
    """Six people have judged an item each; simulated raters all of them."""
    study = judged_study(queries=7, arms=ONE_ARM)
    judge(study, raters=3, kind="simulated")
    for number, item in enumerate(main_items(study)[:6]):
        rater = study.raters.create(kind="person", label=f"person {number}", pseudonym=f"person-{number}")
        answer(study, rater, item, "r1")
    report = build_report(study, replicates=50)
    return report_page(report), report


def test_few_people_do_not_hide_what_others_have(page):
    page, report = page
    assert page.leading == "People"
    assert values(page.facts) == {
        "Judgments": "6", "Agreement": DASH, "Krippendorff's \N{GREEK SMALL LETTER ALPHA}": DASH, "Excluded": "0",
    }  # fmt: skip
    (summary,) = page.others
    assert summary.label == "Simulated raters"
    found = values(summary.facts)
    assert found["Judgments"] == "21"
    assert found["Agreement"].endswith("%")
    assert found["Krippendorff's \N{GREEK SMALL LETTER ALPHA}"] != DASH
    assert {fact.tag for fact in summary.facts if fact.value != DASH} == {"simulated"}
    for text in (report_markdown(report), report_html(report)):
        assert "7 items, 3 simulated raters" in text
        assert "6 items, 6 people" in text


def test_a_group_alone_is_not_named():
    study = judged_study(queries=4, arms=ONE_ARM)
    judge(study, raters=2)
    page = report_page(build_report(study, replicates=20))
    assert page.others == ()
    assert 'class="label who"' not in report_html(build_report(study, replicates=20))


def test_a_judge_is_held_against_people():
    study = judged_study(queries=6, arms=ONE_ARM)
    judge(study, raters=3)
    judge(study, raters=1, kind="judge", label="Cedar")
    (summary,) = report_page(build_report(study, replicates=20)).others
    assert summary.label == "Cedar 0"
    assert list(values(summary.facts)) == ["Judgments", "Agreement with people"]


def test_answers_have_a_strip_for_each_group_too():
    study = answered_study("question_quality", queries=6)
    given = [some_answers(study, number) for number in range(2)]
    for number in range(2):
        give(study, new_rater(study, f"sim {number}", "simulated"), given[number])
    give(study, new_rater(study, "ann"), [given[0][0], *[None] * 5])
    page = report_page(build_report(study, replicates=20))
    assert values(page.facts)["Judgments"] == "1"
    (summary,) = page.others
    assert summary.label == "Simulated raters"
    assert values(summary.facts)["Judgments"] == "12"
    assert "Highest mean" in values(summary.facts)


def test_one_pair_of_systems_goes_by_its_names(page):
    """In tables, in the plot's hints and where labels are compared."""
    page, report = page
    section = next(each for each in page.sections if each.key == "win-rates")
    labels = [column.label for block in section.blocks for table in block.tables for column in table.columns]
    assert {"aspen", "birch"} < set(labels)
    assert not {"First", "Second"} & set(labels)
    text = report_html(report)
    assert "named first" not in text
    assert "first preferred" not in text
    assert "named first" not in report_markdown(report)
    judges = next(each for each in page.sections if each.key == "judges")
    confusions = [table for block in judges.blocks for table in block.tables if table.compact]
    assert [column.label for column in confusions[0].columns][1:] == ["aspen", "birch", "Tie", "None"]


def test_several_pairs_are_first_and_second():
    study = judged_study(queries=6, arms=ONE_ARM, systems=("aspen", "birch", "cedar"), items_per_query=3)
    judge(study, raters=2)
    page = report_page(build_report(study, replicates=20))
    section = next(each for each in page.sections if each.key == "win-rates")
    assert "First" in [column.label for column in section.blocks[0].tables[0].columns]


def test_the_page_says_what_is_counted(page):
    page, report = page
    sections = {each.key: each for each in page.sections}
    assert "an item's only judgment is its majority" in sections["win-rates"].intro
    length = sections["bias"].blocks[0].tables[1]
    assert "ties included" in length.caption
    methods = " ".join(report["methods"])
    assert "ties included" in methods
    assert "an item's only judgment is its majority" in methods
