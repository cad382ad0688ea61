"""A study's page: where it stands, and the ways on."""

import pytest
from django.urls import reverse

from evaluation.extension import StudySection
from tests.analytics.reports.judging import fail, judge, judged_study
from tests.extensions import extend


@pytest.fixture
def study(owner):
    study = judged_study("contrast", owner=owner)
    raters = judge(study, raters=2, kind="judge")
    fail(study, raters[0])
    return study


def address(study):
    return reverse("evaluation:study-detail", args=[study.slug])


def test_members_only(client, study, owner, outsider):
    assert client.get(address(study)).status_code == 302
    client.force_login(outsider)
    assert client.get(address(study)).status_code == 404
    client.force_login(owner)
    assert client.post(address(study)).status_code == 405


def test_it_counts_and_links(client, study, owner):
    client.force_login(owner)
    response = client.get(address(study))
    page = response.content.decode()
    assert [fact.value for fact in response.context["facts"]] == ["36", "72", "1"]
    assert "1 unparsed" in page
    assert "http://testserver/s/contrast/" in page
    assert reverse("analytics:study-report", args=["contrast"]) in page


def test_a_draft_has_neither_report_nor_link(client, draft, owner):
    client.force_login(owner)
    page = client.get(address(draft)).content.decode()
    assert "/s/contrast/" not in page
    # The bar of tabs leads there all the same; the page says that there is nothing yet.
    _, _, below = page.partition("<main")
    assert "report/" not in below


def test_registered_panels_are_loaded_into_it(client, study, owner, monkeypatch):
    section = StudySection("Participants", "analytics:study-report")
    extend(monkeypatch, alone=True, sections=lambda: [section])
    client.force_login(owner)
    page = client.get(address(study)).content.decode()
    assert 'hx-get="/studies/contrast/report/"' in page
    assert "Participants" in page
    assert "nonce=" in page
