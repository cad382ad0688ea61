"""Scores on their way out: beside people's answers in the report, and as columns of the exports."""

import csv
import io

import pytest

from analytics.reports.build import build_report
from evaluation.models import Item
from judging.services.judges import heuristic_judge
from tests.analytics.reports.judging import judge, judged_study
from tests.evaluation.dumps.build import export_bytes
from tests.judging import endpoint
from tests.judging.asking.test_geval import STEPS
from tests.judging.build import judged, make_judge
from tests.judging.services.runs.test_protocol_runs import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


def measured(report):
    return {
        (each["measure"], each["judge"])
        for record in report["records"]
        if record["figure"] == "judges/measures" and record["group"] == "person"
        for each in record["measures"]
    }


def test_the_report_holds_scores_against_people(owner, served):
    study = judged_study(owner=owner, queries=6)
    judge(study, raters=2)
    kinds = {
        "counter": {"backend": "constraints"},
        "graded": {"backend": "geval", "options": {"steps": STEPS, "measure": "kindness"}},
    }
    for name, fields in kinds.items():
        judged(study, make_judge(study, served, "coin", name=name, **fields))
    judged(study, heuristic_judge(study, "words"))
    found = measured(build_report(study, replicates=20))
    assert {name for name, _ in found} == {"constraints", "kindness", "words"}
    assert ("kindness", "graded v1") in found


def test_the_export_of_measures_has_a_column_for_each(owner, served):
    study = make_study("condition_calibration", owner)
    first, second = study.systems.order_by("pk")
    for item in Item.objects.filter(study=study):
        item.stimulus["query"]["references"] = [item.stimulus["responses"][1]["text"]]
        item.save()
    judged(study, make_judge(study, served, "coin", backend="entry_scores"))
    judged(study, heuristic_judge(study, "entry_overlap"))
    rows = list(csv.DictReader(io.StringIO(export_bytes(study, "measures").decode())))
    names = {"condition_score", "answer_score", "condition_score_greedy", "answer_score_greedy"}
    assert names | {"citation_recall", "answer_count_difference", "answer_count"} <= {
        column.rpartition(": ")[2] for column in rows[0]
    }
    assert {row["system"] for row in rows} == {first.key, second.key}
