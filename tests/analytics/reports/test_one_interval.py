"""One number has one interval wherever it stands; what is compared has the interval of its difference."""

from collections import defaultdict

import numpy as np
import pytest

from analytics.reports.files import report_html
from analytics.reports.markdown import escape, report_markdown
from analytics.reports.page import report_page
from tests.analytics.reports.answering import answered_study, give, new_rater
from tests.analytics.reports.judging import judge, judged_study
from tests.analytics.reports.reading import build_report

pytestmark = pytest.mark.django_db
ONE_ARM = ({"key": "all", "label": "All items"},)


def irregular(rater, position):
    """Labels without a pattern, so that no two different figures are equal by accident."""
    rng = np.random.default_rng([position, 7])
    usual = rng.choice(3, p=(0.55, 0.3, 0.15))
    own = np.random.default_rng([rater, position, 3])
    return ("r1", "r2", "tie")[usual if own.random() < 0.7 else own.integers(3)]


def estimates(found, path=""):
    """(path, estimate) of everything below."""
    if isinstance(found, dict):
        if {"value", "low", "high", "n"} <= found.keys():
            yield path, found
            return
        for key, each in found.items():
            yield from estimates(each, f"{path}.{key}")
    elif isinstance(found, list):
        for at, each in enumerate(found):
            yield from estimates(each, f"{path}[{at}]")


def test_equal_numbers_have_equal_intervals():
    """With one setting, one pair and judges of every item most figures stand in several places."""
    study = judged_study(queries=23, arms=ONE_ARM, baseline="birch", items_per_query=1)
    judge(study, raters=3, choose=irregular)
    judge(study, raters=1, kind="judge", choose=lambda rater, position: irregular(5, position))
    report = build_report(study, replicates=200)
    for group in report["groups"]:
        of_value = defaultdict(dict)
        for path, each in estimates(group):
            if each["value"] not in (None, 0, 1):
                of_value[round(each["value"], 12), each["n"]][path] = each["low"], each["high"]
        repeated = [places for places in of_value.values() if len(places) > 1]
        assert len(repeated) > (3 if group["kind"] == "person" else 1)
        for places in repeated:
            assert len({tuple(np.round(limits, 9)) for limits in places.values()}) == 1, places
    people = next(group for group in report["groups"] if group["kind"] == "person")
    other = next(group for group in report["groups"] if group["kind"] == "judge")
    inner = people["leave_one_out"]["inner"]
    assert other["against_people"]["inner"] == inner


def test_a_sentence_has_the_interval_of_its_table():
    study = judged_study(queries=40, arms=ONE_ARM)
    judge(study, raters=3, choose=lambda rater, position: "r2" if (position + rater) % 5 == 0 else "r1")
    report = build_report(study, replicates=200)
    (winner,) = [each for each in report["findings"] if each["kind"] == "winner"]
    rate = next(
        each["rate"]
        for each in report["groups"][0]["win_rates"]["expected"]
        if each["system"] == winner["system"]
    )
    limits = f"({rate['low'] * 100:.1f} to {rate['high'] * 100:.1f})"
    assert limits in winner["text"]
    table = next(each for each in report_page(report).sections if each.key == "win-rates").blocks[0].tables[0]
    assert limits.strip("()") in {cell.detail for cell in table.rows[0]}


@pytest.fixture
def beside():
    """People mostly agree; one judge is with them, the other is not."""
    study = judged_study(queries=30, arms=ONE_ARM)
    judge(study, raters=3, choose=irregular)
    judge(
        study, raters=1, kind="judge", label="far", choose=lambda rater, position: ("r2", "tie")[position % 2]
    )
    return build_report(study, replicates=100)


def test_a_judge_is_told_from_people_by_a_difference_and_its_test(beside):
    group = next(group for group in beside["groups"] if group["kind"] == "judge")
    found = group["against_people"]
    less = found["judge_less_people"]
    assert less["difference"]["value"] == pytest.approx(found["outer"]["value"] - found["inner"]["value"])
    assert less["difference"]["high"] < 0
    assert less["test"]["p_corrected"] == less["test"]["p_value"] < 0.05
    section = next(each for each in report_page(beside).sections if each.key == "judges")
    table = section.blocks[0].tables[0]
    labels = [column.label for column in table.columns]
    row = dict(zip(labels, table.rows[1], strict=True))
    assert row["Difference"].text.startswith("\N{MINUS SIGN}")
    assert row["Difference"].detail
    assert row["Human-human"].text
    # What is compared has one interval, and not two to be laid side by side.
    assert row["Human-human"].detail == ""
    for text in (report_markdown(beside), report_html(beside)):
        assert "Difference" in text
        assert "sign-flip test over queries" in text


def test_answers_have_the_difference_too():
    study = answered_study("context_validation", queries=12)
    for number in range(3):
        given = [{"important": {"f1": 1, "f2": int(at % 4 > 0 or number == 0)}} for at in range(12)]
        give(study, new_rater(study, f"person {number}"), given)
    llm = new_rater(study, "llm", "judge", judge="j", model="j", orders="random", samples=1)
    give(study, llm, [{"important": {"f1": 0, "f2": 0}}] * 12)
    report = build_report(study, replicates=50)
    figures = next(
        group
        for question in report["questions"]
        for group in question["groups"]
        if group["group"] == "llm" and group["against_people"]
    )
    less = figures["against_people"]["labels"]["judge_less_people"]
    assert less["difference"]["value"] < 0
    assert less["test"]["p_corrected"] < 0.05
    section = next(each for each in report_page(report).sections if each.key == "judges")
    table = next(block.tables[0] for block in section.blocks if block.heading == "Agreement with people")
    assert {"Difference", "p", "Corrected p"} <= {column.label for column in table.columns}


def uneven(rater, position):
    """Nearly always the first response, and never two raters against it at once."""
    return "r2" if position % 5 == rater else "r1"


def text_on_alpha(page):
    section = next(each for each in page.sections if each.key == "agreement")
    return tuple(each for block in section.blocks for each in block.text if "alpha" in each)


def test_uneven_labels_say_why_alpha_is_low():
    study = judged_study(queries=30, arms=ONE_ARM)
    judge(study, raters=3, choose=uneven)
    report = build_report(study, replicates=50)
    (group,) = report["groups"]
    alpha = next(each for each in group["alpha"] if each["level"] == "nominal")
    assert alpha["alpha"]["value"] < 0
    assert alpha["by_chance"] > 0.6
    page = report_page(report)
    (sentence,) = text_on_alpha(page)
    assert sentence.startswith("People: agreement is 80.0")
    assert "alpha counts only agreement beyond that" in sentence
    assert any("agreement by chance" in fact.detail for fact in page.facts)
    assert escape(sentence) in report_markdown(report)


def test_even_labels_need_no_line():
    study = judged_study(queries=30, arms=ONE_ARM)
    judge(
        study, raters=3, choose=lambda rater, position: ("r1", "r2")[(position + (position + rater) // 4) % 2]
    )
    assert text_on_alpha(report_page(build_report(study, replicates=50))) == ()


def test_uneven_answers_say_why_alpha_is_low():
    """Yes nearly always, and never two raters against it at once."""
    study = answered_study("context_validation", queries=30)
    for number in range(3):
        given = [{"important": {"f1": int(at % 5 != number), "f2": 1}} for at in range(30)]
        give(study, new_rater(study, f"person {number}"), given)
    report = build_report(study, replicates=50)
    question = next(each for each in report["questions"] if each["key"] == "important")
    (figures,) = question["groups"]
    assert figures["alpha"]["value"] < 0
    # One no in ten answers: two of them are the same in 1 - 2 * 0.1 * 0.9 of cases, a bit less without putting back.
    assert figures["by_chance"] == pytest.approx(0.819, abs=1e-3)
    page = report_page(report)
    (sentence,) = text_on_alpha(page)
    # Of f1 one rater in three says no on three items of five, so that two of three pairs differ: 1 - 0.6 * 2 / 3 / 2.
    assert "two raters give the same answer in 80.0" in sentence
    assert "alpha counts only agreement beyond that" in sentence
    assert any("agreement by chance" in fact.detail for fact in page.facts)
    assert escape(sentence) in report_markdown(report)
