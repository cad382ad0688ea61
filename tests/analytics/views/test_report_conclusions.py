"""The first screen of a report: findings, one plot, agreement and judges; and a line for each section below."""

import re
from datetime import date
from decimal import Decimal

import pytest
from django.urls import reverse

from analytics.figures.agreement.percentage import FIGURE as PERCENTAGE
from analytics.figures.preferences.win_rates import FIGURE as WIN_RATES
from analytics.reports import cache
from analytics.reports.build import build_report
from analytics.reports.files import report_html
from analytics.reports.page import report_page
from evaluation.extension import RaterRun
from tests.analytics.reports.judging import judge
from tests.analytics.reports.test_failures import refuse
from tests.extensions import extend

SUMMARY = re.compile(r'<section id="summary".*?</section>', re.S)
SECTIONS = re.compile(r'<section id="([^"]+)" class="part".*?<details class="fold"( open)?>', re.S)


def report_address(study, query=""):
    return reverse("analytics:study-report", args=[study.slug]) + query


@pytest.fixture
def page(client, study, owner):
    client.force_login(owner)
    return lambda query="": client.get(report_address(study, query)).content.decode()


def test_it_begins_with_conclusions_a_plot_and_agreement(page):
    text = page()
    [summary] = SUMMARY.findall(text)
    places = [summary.index(each) for each in ('class="findings"', 'class="headline"', "Krippendorff&#x27;s")]
    assert places == sorted(places)
    assert summary.count("<svg") == 2, "one plot, drawn for a wide and for a narrow window"
    assert 'href="#win-rates"' in summary


def test_each_section_is_a_line_that_opens(page, study):
    sections = dict(SECTIONS.findall(page()))
    assert {"win-rates", "agreement", "methods", "citation"} <= set(sections)
    assert set(sections.values()) == {""}
    assert re.search(r'<span class="line">\d+ tables?, \d+ plots?</span>', page())
    assert set(dict(SECTIONS.findall(page("?whole=1"))).values()) == {" open"}
    assert f'href="{report_address(study)}?whole=1"' in page()


def test_the_file_has_the_same_first_screen(study):
    text = report_html(build_report(study, replicates=20))
    assert SUMMARY.search(text)
    assert "whole=1" not in text
    assert "<script" not in text


def test_the_leaderboard_stands_once_in_the_bar(page, study):
    text = page()
    bar = text[text.index('class="bar"') : text.index("</section>")]
    assert bar.count("Leaderboard") == 1
    assert reverse("analytics:study-leaderboard", args=[study.slug]) in text


def test_a_plot_whose_figure_failed_is_named_in_its_place(page, monkeypatch, figures_may_fail):
    monkeypatch.setattr(type(WIN_RATES), "blocks", refuse)
    [summary] = SUMMARY.findall(page())
    assert "<svg" not in summary
    assert "A figure failed." in summary
    assert 'href="#failed-preferences-win_rates"' in summary
    assert "Krippendorff" in summary


def test_agreement_that_failed_is_named_too(page, monkeypatch, figures_may_fail):
    monkeypatch.setattr(type(PERCENTAGE), "facts", refuse)
    [summary] = SUMMARY.findall(page())
    assert "<svg" in summary
    assert '<a href="#failed-agreement-percentage">a figure failed</a' in summary


def test_figures_that_wait_are_named_with_their_section(page, study, settings):
    settings.ASSAY_REPORT_DEFER_JUDGMENTS = 10
    cache.compute_report(study)
    [summary] = SUMMARY.findall(page())
    assert '<a href="#agreement-deferred">not computed yet</a' in summary


def test_judges_stand_there_with_agreement_and_cost(page, study, monkeypatch):
    judge(study, raters=4, kind="judge", label="model")
    runs = {"judge-0": RaterRun(7, date(2026, 3, 1), Decimal(3))}
    extend(monkeypatch, judge_runs=lambda study: runs)
    [summary] = SUMMARY.findall(page())
    assert "Agreement with people" in summary
    assert all(f"model {number}" in summary for number in range(4))
    assert "3.0000" in summary
    assert "run 7" in summary


def test_findings_lead_their_section_s_line(study):
    report = build_report(study, replicates=20)
    report["findings"] = [
        {
            "kind": "winner",
            "supported": True,
            "about": "aspen",
            "heading": "Wins",
            "text": "",
            "anchor": "win-rates",
        }
    ]
    section = next(each for each in report_page(report).sections if each.key == "win-rates")
    assert section.finding == "aspen: Wins"


def test_the_form_of_a_view_names_raters_and_runs(page, study, monkeypatch):
    study.systems.filter(key="aspen").update(label="Aspen 7B")
    study.raters.filter(pseudonym="person-0").update(group="experts")
    [rater] = judge(study, raters=1, kind="judge", label="careful")
    study.raters.filter(pk=rater.pk).update(about={"model": "large-9", "purpose": "anchor"}, in_figures=False)
    extend(monkeypatch, judge_runs=lambda study: {rater.pseudonym: RaterRun(7, date(2026, 3, 1), Decimal(3))})
    text = page()
    assert '<option value="person-0">person 0, experts</option>' in text
    assert '<option value="aspen">Aspen 7B</option>' in text
    said = "careful 0, large-9, anchor run, not in the report, run 7 of 2026-03-01"
    assert f'<option value="{rater.pseudonym}">{said}</option>' in text
    assert "View: system Aspen 7B; without rater person 1." in page("?system=aspen&without_rater=person-1")
