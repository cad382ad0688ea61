"""Single entries of responses with their scores, beside the reference, in the report and in its views."""

import pytest

from analytics.display.tables import DASH
from analytics.figures.entries.scores import MOST_QUERIES
from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from analytics.reports.page import report_page
from evaluation.dumps.imports.scores import import_scores
from evaluation.filters import Filters
from evaluation.models import Item, Rater
from evaluation.protocols.entries.sets import write_set
from tests.analytics.reports.answering import answered_study, judged_by_everyone

pytestmark = pytest.mark.django_db
KEY, SPREAD = "entries/scores", "judges/measure_spread"
QUERIES = MOST_QUERIES + 2
REFERENCE = {"condition": "As meant", "answers": [], "citations": [], "reason": "", "origins": []}


def records(report, figure):
    return [record for record in report["records"] if record["figure"] == figure]


def with_scores(study, tmp_path):
    """Scores of both entries of every response by three systems, and the same number for every query."""
    number = {"aspen": (0.1, 0.2), "birch": (0.3, 0.5), "cedar": (0.9, 0.35)}
    lines = ["item,system,part,name,score"]
    for item in Item.objects.filter(study=study, role="main"):
        lines += [
            f"{item.key},{response['system']},e{at},condition,{score}"
            for response in item.stimulus["responses"]
            for at, score in enumerate(number[response["system"]], 1)
        ]
        # Of the answers, one entry alone.
        lines.append(f"{item.key},aspen,e2,answer,0.75")
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(lines))
    import_scores(study, path, judge="DeepEval", low=0.0, high=1.0)
    return study


@pytest.fixture
def study(tmp_path):
    study = answered_study("condition_calibration", queries=QUERIES)
    for item in Item.objects.filter(study=study):
        item.stimulus["query"]["references"] = [{"entries": [REFERENCE]}]
        item.save()
    return with_scores(study, tmp_path)


def cases(report):
    [record] = records(report, KEY)
    [judge] = record["judges"]
    return judge


def test_entries_stand_with_their_texts_in_the_order_of_their_sets(study):
    judge = cases(build_report(study, replicates=20, only=[KEY, SPREAD]))
    assert [each["measure"] for each in judge["measures"]] == ["condition", "answer"]
    assert (judge["judge"], judge["queries"], len(judge["cases"])) == ("DeepEval", QUERIES, MOST_QUERIES)
    case = judge["cases"][1]
    assert (case["query"], case["text"], case["reference"]) == ("q1", "What about 1?", ["As meant"])
    assert [
        (each["system"], each["entry"], each["condition"], each["scores"]) for each in case["entries"]
    ] == [
        ("aspen", 1, "Case 1: aspen on 1.", [0.1, None]),
        ("aspen", 2, "Case 2: aspen on 1.", [0.2, 0.75]),
        ("birch", 1, "Case 1: birch on 1.", [0.3, None]),
        ("birch", 2, "Case 2: birch on 1.", [0.5, None]),
        ("cedar", 1, "Case 1: cedar on 1.", [0.9, None]),
        ("cedar", 2, "Case 2: cedar on 1.", [0.35, None]),
    ]


def test_each_score_has_its_band(study):
    text = report_markdown(build_report(study, replicates=20, only=[KEY, SPREAD]))
    for row in (
        f"| Reference | As meant | {DASH} | {DASH} |",
        f"| aspen | Case 1: aspen on 0. | 0.10 | {DASH} | Below 0.20 |",
        "| aspen | Case 2: aspen on 0. | 0.20 | 0.75 | 0.20 to 0.35 |",
        f"| birch | Case 2: birch on 0. | 0.50 | {DASH} | 0.50 and above |",
        f"| cedar | Case 2: cedar on 0. | 0.35 | {DASH} | 0.35 to 0.50 |",
    ):
        assert row in text
    assert f"Of {QUERIES} queries, the first {MOST_QUERIES} are shown" in text
    assert text.count("the first 5 are shown") == 1


def test_only_the_first_query_is_open(study):
    blocks = [
        block
        for section in report_page(build_report(study, replicates=20, only=[KEY, SPREAD])).sections
        for block in section.blocks
        if block.heading.startswith("Scores of entries")
    ]
    assert [block.folded for block in blocks] == [False, *[True] * (MOST_QUERIES - 1)]


def test_a_view_has_the_queries_that_it_chooses(study):
    chosen = Filters.parse(study, {"query": [f"q{QUERIES - 1}"]})
    judge = cases(build_report(study, replicates=20, filters=chosen, only=[KEY, SPREAD]))
    assert [case["query"] for case in judge["cases"]] == [f"q{QUERIES - 1}"]
    assert judge["queries"] == 1


def test_means_and_bands_are_over_single_entries(study):
    [record] = records(build_report(study, replicates=20, only=[KEY, SPREAD]), SPREAD)
    [condition, answer] = record["measures"]
    found = {cell["system"]: cell for cell in condition["cells"]}
    assert found["aspen"]["mean"]["value"] == pytest.approx(0.15)
    assert (found["aspen"]["mean"]["n"], found["aspen"]["mean"]["unit"]) == (
        2 * QUERIES,
        "entries of responses",
    )
    assert [band["value"] for band in found["cedar"]["bands"]] == [0, 0, 0.5, 0.5]
    assert sum(found["cedar"]["counts"]) == 2 * QUERIES
    assert [(cell["system"], cell["mean"]["n"]) for cell in answer["cells"]] == [("aspen", QUERIES)]


def test_a_judge_that_compares_with_a_system_has_that_system_s_set_as_reference(study):
    rater = Rater.objects.get(study=study, label="DeepEval")
    rater.about = {**rater.about, "reference_from": "birch"}
    rater.save()
    [case, *_] = cases(build_report(study, replicates=20, only=[KEY, SPREAD]))["cases"]
    assert case["reference"] == ["Case 1: birch on 0.", "Case 2: birch on 0."]


def test_it_stands_once_beside_the_answers_of_people(tmp_path):
    study = with_scores(judged_by_everyone("condition_calibration"), tmp_path)
    report = build_report(study, replicates=20, only=[KEY, SPREAD])
    assert len(records(report, KEY)) == 1
    [case, *_] = cases(report)["cases"]
    assert case["reference"] == []
    assert len(case["entries"]) == 6


def test_a_response_without_entries_has_no_rows(study):
    item = Item.objects.filter(study=study).order_by("pk").first()
    item.stimulus["responses"][0]["text"] = write_set([])
    item.save()
    [case, *_] = cases(build_report(study, replicates=20, only=[KEY, SPREAD]))["cases"]
    assert {each["system"] for each in case["entries"]} == {"birch", "cedar"}
