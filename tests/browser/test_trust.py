"""The choice of a judge as a researcher makes it: halves, variants, the test that is opened once, and the verdict."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from judging.models import Run
from judging.services.judges import create_judge
from judging.services.runs.work import work_on
from tests.browser.conftest import Visitor
from tests.browser.looking import look
from tests.browser.test_members import let_in
from tests.browser.walking import leave_by
from tests.evaluation.admin.conftest import make_user
from tests.judging.trusting import study_with_people

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def press(page: Page, name: str) -> None:
    """Presses a button, and has what it began done by a worker."""
    leave_by(page.get_by_role("button", name=name, exact=True))
    for run in Run.objects.filter(state="pending"):
        work_on(run.pk, over_limit=True)
    page.reload()


def test_from_people_s_part_to_the_verdict(new_visitor: Callable[..., Visitor]) -> None:
    study = study_with_people(owner=make_user("ada"), sample=130)
    for name in ("longer", "random"):
        create_judge(study, name=name, backend=name)
    visitor = let_in(new_visitor(), study.members.get().user)
    visitor.go(f"/studies/{study.slug}/trust/")
    page = visitor.page
    look(visitor, "trust")
    press(page, "Draw the halves")
    for name in ("longer v1", "random v1"):
        page.locator("#tune select").first.select_option(label=name)
        press(page, "Try on the tuning half")
    expect(page.get_by_role("table")).to_have_count(1)
    look(visitor, "trust_tuned")
    chosen = page.locator("form", has=page.get_by_role("button", name="Choose this judge"))
    chosen.locator("select").select_option(label="longer v1")
    press(page, "Choose this judge")
    expect(page.get_by_text("longer v1 was chosen among 2")).to_be_visible()
    press(page, "Judge the test half")
    press(page, "Open the test half")
    expect(page.locator(".verdict")).to_have_text("May replace a person")
    look(visitor, "trust_tested")
    press(page, "Judge all items")
    expect(page.get_by_text("of their judgments saved")).to_be_visible()
    expect(page.get_by_role("link", name="Report", exact=True).last).to_be_visible()
    visitor.assert_calm()
