"""A figure that fails is left out of its report, which says so on its page and in every file; the others stand."""

import json
import logging

import pytest
from django.urls import reverse

from analytics.figures.agreement.percentage import FIGURE as PERCENTAGE
from analytics.figures.preferences.win_rates import FIGURE as WIN_RATES
from analytics.reports.build import build_report
from analytics.reports.deferred.records import completed, deferred_records
from analytics.reports.files import FORMATS
from tests.analytics.reports.judging import judge, judged_study
from tests.analytics.reports.test_one_interval import irregular
from tests.analytics.reports.validator import problems
from tests.evaluation.admin.conftest import make_user

pytestmark = pytest.mark.django_db
COMPUTED = ("compute", "tests", "settle", "findings", "methods")
SHOWN = ("facts", "blocks")


def refuse(*_):
    raise KeyError("votes")


@pytest.fixture
def owner():
    return make_user("chief", is_superuser=True)


@pytest.fixture(scope="module")
def study(around_module):
    study = judged_study(queries=12)
    judge(study, raters=3, choose=irregular)
    return study


@pytest.fixture(scope="module")
def whole(study):
    return build_report(study, replicates=20)


@pytest.fixture
def fails(monkeypatch, figures_may_fail):
    return lambda figure, what: monkeypatch.setattr(type(figure), what, refuse)


@pytest.mark.parametrize("what", COMPUTED)
def test_a_report_without_a_figure_that_fails(what, study, whole, fails, caplog):
    fails(WIN_RATES, what)
    report = build_report(study, replicates=20)
    assert report["failed"] == [{"figure": WIN_RATES.key, "error": "KeyError: 'votes'"}]
    assert problems(report) == []
    others = [each for each in whole["records"] if each["figure"] != WIN_RATES.key]
    assert [each["figure"] for each in report["records"]] == [each["figure"] for each in others]
    [logged] = {record.getMessage() for record in caplog.records if record.levelno == logging.ERROR}
    assert logged == f"The figure {WIN_RATES.key} of the study {study.slug} failed and is left out."


@pytest.mark.parametrize("what", [*COMPUTED, *SHOWN])
def test_page_and_files_say_it(what, study, owner, fails, client):
    fails(WIN_RATES, what)
    client.force_login(owner)
    page = client.get(reverse("analytics:study-report", args=[study.slug])).content.decode()
    assert "This figure could not be computed" in page
    assert "preferences/win_rates, KeyError: &#x27;votes&#x27;" in page
    assert "Percentage agreement" in page
    report = build_report(study, replicates=20)
    for name, write in FORMATS.items():
        assert ("could not be computed" in write(report)) == (name != "json"), name
    assert ("failed" in json.loads(FORMATS["json"](report))) == (what in COMPUTED)


def test_a_figure_that_waits_fails_alone(study, fails, monkeypatch):
    monkeypatch.setattr(type(PERCENTAGE), "deferred_as", "agreement of votes")
    report = build_report(study, replicates=20, defer=True)
    fails(PERCENTAGE, "compute")
    whole = completed(study, report, deferred_records(study, report, report["deferred"]))
    assert [each["figure"] for each in whole["failed"]] == [PERCENTAGE.key]
    assert PERCENTAGE.key not in {each["figure"] for each in whole["records"]}
    assert "deferred" not in whole


def test_a_failing_figure_makes_a_test_red(study, monkeypatch):
    monkeypatch.setattr(type(WIN_RATES), "compute", refuse)
    with pytest.raises(KeyError):
        build_report(study, replicates=20)
