"""Judges minus people in reports: of preferences by pair, and of ratings, choices and picks."""

import pytest

from analytics.figures.families import NOT_ALL
from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from tests.analytics.reports.answering import answered_study, give, items_of, judged_by_everyone, new_rater
from tests.analytics.reports.judging import judge, judged_study

pytestmark = pytest.mark.django_db
KEY = "replacement/differences"


def cells(report, group="judge-0"):
    found = {
        record["question"]: record["cells"]
        for record in report["records"]
        if record["figure"] == KEY and record["group"] == group
    }
    assert found
    return found


def test_expected_win_rates_by_setting(owner):
    study = judged_study(owner=owner)
    judge(study, raters=2, choose=lambda rater, position: "r1" if rater else "tie")
    judge(study, raters=1, kind="judge", choose=lambda rater, position: "r2")
    report = build_report(study, replicates=20, only=[KEY])
    [found] = cells(report).values()
    assert len(found) == len(report["study"]["arms"])
    for cell in found:
        assert (cell["people"]["value"], cell["judge"]["value"]) == (0.75, 0)
        assert cell["difference"]["value"] == -0.75
        assert cell["test"]["p_value"] < 0.05
        # What findings go by is corrected with all that a whole report could say.
        assert (cell["test"]["p_corrected"], cell["test"]["undefined"]) == (None, NOT_ALL)
    assert {record["group"] for record in report["records"] if record["figure"] == KEY} == {"judge-0"}
    assert "Judges minus people" in report_markdown(report)


def test_ratings_overall_and_by_system():
    study = answered_study("custom")
    people, own = new_rater(study, "person-0"), new_rater(study, "judge-0", "judge")
    parts = ("r1", "r2", "r3")
    give(
        study,
        people,
        [{"coherence": dict.fromkeys(parts, 3), "sound": dict.fromkeys(parts, 1)}] * len(items_of(study)),
    )
    give(
        study,
        own,
        [{"coherence": {"r1": 5, "r2": 3, "r3": 3}, "sound": dict.fromkeys(parts, 0)}] * len(items_of(study)),
    )
    found = cells(build_report(study, replicates=20, only=[KEY]))
    differences = {cell["system"]: cell["difference"]["value"] for cell in found["coherence"]}
    assert differences == pytest.approx({None: 2 / 3, "aspen": 2, "birch": 0, "cedar": 0})
    assert [cell["difference"]["value"] for cell in found["sound"]] == [-1, -1, -1, -1]


def test_mean_ranks_by_system():
    study = answered_study("ranking", queries=6)
    orders = {"person-0": (1, 2, 3), "person-1": (2, 1, 3), "judge-0": (3, 2, 1)}
    for name, order in orders.items():
        ranking = {"ranking": dict(zip(("r1", "r2", "r3"), order, strict=True))}
        # The last item is the people's alone.
        answers = [ranking] * 5 + [None if name == "judge-0" else ranking]
        give(study, new_rater(study, name, name.split("-")[0]), answers)
    report = build_report(study, replicates=20, only=[KEY])
    [found] = cells(report).values()
    seen = {cell["system"]: (cell["people"]["value"], cell["judge"]["value"]) for cell in found}
    assert seen == {"aspen": (1.5, 3), "birch": (1.5, 2), "cedar": (3, 1)}
    assert [cell["difference"]["value"] for cell in found] == [1.5, 0.5, -2]
    assert [
        (part["n"], cell["difference"]["n"]) for cell in found for part in cell["difference"]["left_out"]
    ] == [(1, 5)] * 3
    # Five queries that all say the same are one of 32 on either side; three systems are one family.
    assert [cell["test"]["p_value"] for cell in found] == [2 / 32] * 3
    page = report_markdown(report)
    assert "mean rank of each system's responses" in page
    assert "1 items that only people ranked" not in page


def test_people_who_rank_alike_have_the_interval_that_stands_elsewhere():
    report = build_report(
        judged_by_everyone("ranking", kinds={"aspen": "model", "birch": "model", "cedar": "model"}),
        replicates=20,
        only=[KEY, "rankings/ranks"],
    )
    [ranks] = [
        record["by_system"]
        for record in report["records"]
        if (record["figure"], record["group"]) == ("rankings/ranks", "person")
    ]
    single = [key for key in (group["key"] for group in report["groups"]) if key.startswith("judge ")]
    [found] = cells(report, single[0]).values()
    for cell, each in zip(found, ranks, strict=True):
        here, there = cell["people"], each["mean_rank"]
        assert (here["value"], here["low"], here["high"]) == pytest.approx(
            (there["value"], there["low"], there["high"])
        )


def test_picks_and_choices_sum_to_no_difference():
    """What a judge gives to one system or option it takes from the others."""
    for protocol in ("aspects", "justification_coding", "custom"):
        study = judged_by_everyone(protocol, slug=protocol.replace("_", "-"))
        report = build_report(study, replicates=20, only=[KEY])
        forms = {question["key"]: question["form"] for question in report["questions"]}
        for record in report["records"]:
            if record["figure"] == KEY and forms[record["question"]] in ("picks", "choice"):
                values = [cell["difference"]["value"] for cell in record["cells"]]
                assert sum(values) == pytest.approx(0)
