"""The plan of a study as a researcher uses it: assumptions in, designs and costs out, and an address to keep."""

from collections.abc import Callable

import pytest

from evaluation.models import Study
from tests import factories
from tests.browser.conftest import Visitor
from tests.browser.looking import look
from tests.browser.test_members import let_in
from tests.browser.walking import leave_by
from tests.evaluation.admin.conftest import make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def study(db: None) -> Study:
    return factories.make_study("contrast", owner=make_user("ada"))


def test_from_assumptions_to_the_cheapest_design(new_visitor: Callable[..., Visitor], study: Study) -> None:
    visitor = let_in(new_visitor(), study.members.get().user)
    visitor.go(f"/studies/{study.slug}/plan/")
    page = visitor.page
    look(visitor, "plan")
    page.get_by_label("Expected win rate, percent").fill("58")
    page.get_by_label("Pay for one judgment").fill("0.5")
    leave_by(page.get_by_role("button", name="Plan"))
    rows = page.get_by_role("table", name="Fewest items by number of raters").get_by_role("row")
    assert rows.count() == 5
    # Where raters agree this often, every item's second judgment buys less than another item's first.
    assert "cheapest" in rows.nth(1).inner_text()
    look(visitor, "plan_made")
    page.reload()
    assert rows.count() == 5
    page.get_by_label("Wanted").select_option("width")
    page.get_by_label("Correlation of a judge with a person").fill("0.4")
    page.get_by_label("Items that the judge judges").fill("5000")
    leave_by(page.get_by_role("button", name="Plan"))
    beside = page.get_by_role("table", name="Fewest items for people by number of raters")
    assert beside.get_by_role("row").count() == 5
    look(visitor, "plan_with_judge")
    page.get_by_label("Tie votes, percent").fill("95")
    leave_by(page.get_by_role("button", name="Plan"))
    assert page.get_by_role("alert").count() == 1
    assert "between 47.5% and 52.5%" in page.locator("#id_two_votes_error").inner_text()
    look(visitor, "plan_refused")
    visitor.complaints.clear()  # the console mentions the 422
    visitor.assert_calm()
