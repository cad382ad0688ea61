"""Drift of a judge that ranks: its anchor runs beside its first pass and beside people."""

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from evaluation.models import Rater
from tests.analytics.reports.answering import answered_study, give, new_rater

pytestmark = pytest.mark.django_db
PARTS = ("r1", "r2", "r3")
QUERIES = 12


def in_order(*ranks):
    return [{"ranking": dict(zip(PARTS, ranks, strict=True))}] * QUERIES


def a_pass(study, number, answers):
    """One complete run of the same judge, the first of them its main one."""
    purpose = "anchor" if number else "main"
    rater = Rater.objects.create(
        study=study,
        kind="judge",
        label="cedar v1",
        pseudonym=f"judge-{number}",
        in_figures=not number,
        about={
            "judge": "cedar",
            "version": 1,
            "purpose": purpose,
            "finished": f"2026-01-0{number + 1}T00:00:00Z",
        },
    )
    give(study, rater, answers)


def test_a_judge_that_ranks_otherwise_has_drifted():
    study = answered_study("ranking", queries=QUERIES)
    give(study, new_rater(study, "person-0"), in_order(1, 2, 3))
    for number, order in enumerate([(1, 2, 3), (1, 3, 2), (1, 3, 2), (3, 2, 1)]):
        a_pass(study, number, in_order(*order))
    report = build_report(study, replicates=20, only=["judges/number_drift"])
    [record] = [each for each in report["records"] if each["figure"] == "judges/number_drift"]
    _, second, third, last = record["passes"]
    # Two of three responses changed places with their neighbour; later the first and the last one did.
    assert second["self"]["error"]["value"] == pytest.approx(2 / 3)
    assert last["self"]["error"]["value"] == pytest.approx(4 / 3)
    assert last["people"]["pearson"]["value"] == pytest.approx(-1)
    assert third["drift"]["test"]["p_value"] == 1
    assert last["drift"]["difference"]["value"] == pytest.approx(2 / 3)
    # Two later passes are one family, but the one that has not changed could have had no p-value below one.
    assert (last["drift"]["test"]["tests"], third["drift"]["test"]["least"]) == (2, 1)
    assert last["drift"]["test"]["p_corrected"] == pytest.approx(2 / 2**QUERIES)
    page = report_markdown(report)
    assert "cedar v1 had drifted by 2026-01-04" in page
    assert "places further from its first pass than those of its second pass" in page
