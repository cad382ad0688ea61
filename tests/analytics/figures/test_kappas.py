"""Kappa over more raters than anybody reads pair by pair: the page has its distribution, and files have the pairs."""

import numpy as np
import pytest
from django.urls import reverse

from analytics.reports.build import build_report
from analytics.reports.page import report_page
from analytics.reports.paper.archive import tables_of
from analytics.reports.paper.table_csv import table_csv
from tests.analytics.reports.answering import answered_study, drawn_answers, give, new_rater
from tests.analytics.reports.judging import judge, judged_study
from tests.analytics.reports.test_one_interval import irregular

pytestmark = pytest.mark.django_db


def report_of(raters, owner=None):
    study = judged_study(queries=12, owner=owner)
    judge(study, raters=raters, choose=irregular)
    return study, build_report(study, replicates=20, only=["agreement/kappa", "agreement/percentage"])


def tables_by_key(report):
    return {table.key: table for table in tables_of(report)}


def test_eleven_raters_are_a_distribution():
    _, report = report_of(11)
    found = tables_by_key(report)
    (row,) = found["raters-pairs-of-raters"].rows
    (record,) = [each for each in report["records"] if each["figure"] == "agreement/kappa"]
    values = [pair["kappa"]["value"] for pair in record["pairs"]]
    assert len(values) == 55
    assert [cell.text for cell in row] == [
        "People",
        *(
            f"{each:.2f}".replace("-", "\N{MINUS SIGN}")
            for each in np.quantile(values, (0, 0.25, 0.5, 0.75, 1))
        ),
        "55",
    ]
    assert len(table_csv(found["raters-pairs-of-raters-2"]).splitlines()) == 1 + 55


def test_a_bar_of_a_single_pair_leads_to_what_the_two_judged():
    _, report = report_of(11)
    (section,) = [each for each in report_page(report).sections if each.key == "raters"]
    (plot,) = [block.plot for block in section.blocks if hasattr(block.plot, "every_bar")]
    bars = list(plot.every_bar)
    assert sum(bar.n for bar in bars) == 55
    assert any(bar.n == 1 for bar in bars)
    for bar in bars:
        assert (bar.where is not None) == (bar.n == 1)
        if bar.where:
            raters = [value for name, value in bar.where.pairs if name == "rater"]
            assert len(set(raters)) == 2
            assert ("least", "2") in bar.where.pairs


def test_of_ten_raters_every_pair_is_shown():
    _, report = report_of(10)
    found = tables_by_key(report)
    assert len(found["raters-pairs-of-raters"].rows) == 45
    assert not found["raters-pairs-of-raters"].in_files
    assert "raters-pairs-of-raters-2" not in found


def test_the_page_leads_to_the_pairs(client, owner):
    study, _ = report_of(11, owner)
    client.force_login(owner)
    page = client.get(reverse("analytics:study-report", args=[study.slug])).content.decode()
    section = page[page.index('<section id="raters"') :]
    assert "Distribution of Cohen&#x27;s κ over pairs of raters" in section
    assert 'aria-label="Cohen&#x27;s κ between two raters, on the items both judged."' not in section
    assert "tables/raters-pairs-of-raters-2.csv" in section
    # Number of pairs below each bar, as it is spoken.
    assert "Distribution of kappa. People: " in section
    file = reverse("analytics:study-report-file", args=[study.slug, "report.html"])
    assert (
        'aria-label="Cohen&#x27;s κ between two raters, on the items both judged."'
        in client.get(file).getvalue().decode()
    )


def test_weights_of_ratings_have_a_row_each():
    study = answered_study("aspects", queries=12)
    for number in range(11):
        give(study, new_rater(study, f"person {number}"), drawn_answers(study, number))
    report = build_report(study, replicates=20, only=["agreement/mean_kappa"])
    rows = tables_by_key(report)["agreement-kappa-over-pairs-of-raters"].rows
    assert [row[1].text for row in rows[:3]] == ["Unweighted", "Linear", "Quadratic"]
    assert {row[-1].text for row in rows[:3]} == {"55"}
