"""Shares among chosen answers and groups of people: named on the design page, read in the report."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from playwright.sync_api import expect

from analytics.reports.cache import compute_report
from evaluation.models import Study
from evaluation.services.studies.creation import add_arms, create_study
from tests.browser.conftest import WIDE, Visitor
from tests.browser.looking import look
from tests.browser.test_admin import sign_in
from tests.browser.walking import leave_by
from tests.evaluation.dumps import build
from tests.rehearsal import own_forms
from tests.rehearsal.test_own_forms import GROUPS, of_facts, stated

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LINE = "precision | Precision | correct = yes | relevant = yes"


@pytest.fixture
def ada() -> None:
    get_user_model().objects.create_user("ada", password="a-long-password-of-ada", is_staff=True)


@pytest.fixture
def draft(ada: None) -> Study:
    owner = get_user_model().objects.get(username="ada")
    needs = {"query": True, "least": 1, "most": 2}
    study = create_study(slug="facts", title="Facts", protocol="custom", owner=owner, needs=needs)
    add_arms(study, [{"key": "all", "label": "All items"}])
    for position, row in enumerate(own_forms.fact_rows()):
        study.questions.create(position=position, **row)
    return study


def test_a_share_is_named_below_the_questions(new_visitor: Callable[..., Visitor], draft: Study) -> None:
    visitor = new_visitor(viewport=WIDE)
    page = visitor.page
    sign_in(visitor)
    where = f"/studies/{draft.slug}/design/?page=questions"
    visitor.go(where)
    page.locator(".further > summary").click()
    lines = page.locator("#id_shares")
    # A line that is none is said at its field, and one of what no question has beside the preview.
    lines.fill("precision, correct = yes")
    expect(page.locator(".field-shares .live-error")).to_contain_text("Line 1: 1 parts, and a share has 4")
    lines.fill(LINE.replace("relevant = yes", "relevant = maybe"))
    expect(page.locator("#preview-notes")).to_contain_text("'maybe' is no answer to 'relevant'")
    lines.fill(LINE)
    expect(page.locator("#preview-notes")).not_to_contain_text("maybe")
    leave_by(page.get_by_role("button", name="Save", exact=True))
    draft.refresh_from_db()
    assert [each["key"] for each in draft.shares] == ["precision"]
    visitor.go(where)
    assert page.locator("#id_shares").input_value() == LINE
    visitor.assert_calm()
    look(visitor, "design-shares")


def test_shares_and_groups_in_the_report(
    new_visitor: Callable[..., Visitor], ada: None, tmp_path: Path
) -> None:
    raters = [{"rater": rater, "group": group} for rater, group in GROUPS.items()]
    head = own_forms.header(own_forms.fact_rows(), {"query": True, "least": 2, "most": 2}, raters=raters)
    head["spec"] |= {"shares": [own_forms.PRECISION, own_forms.SUPPORT]}
    items = [stated(n, of_facts(n)) for n in range(1, 13)]
    owner = get_user_model().objects.get(username="ada")
    study = build.read_in(build.write(tmp_path / "facts.jsonl", head, *items), slug="facts", owner=owner)
    compute_report(study)
    visitor = new_visitor(viewport=WIDE)
    page = visitor.page
    sign_in(visitor)
    visitor.go("/studies/facts/report/?whole=1")
    shares = page.locator("#shares")
    assert "The share of “Yes” to “Is it correct?” among “Yes” to “Is it relevant?”" in shares.inner_text()
    assert shares.locator("table").count() == 2
    assert "Shares of groups of people" in page.locator("#groups").inner_text()
    visitor.assert_calm()
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    look(visitor, "report-shares")
    # A view of one group leaves its figures alone.
    page.get_by_label("Group of people").select_option("experts")
    leave_by(page.get_by_role("button", name="Show this view"))
    assert "group=experts" in page.url
    assert "of people those in group experts" in page.locator("body").inner_text()
