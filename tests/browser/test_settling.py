"""Settling by keys alone: one disagreement after another, each with its reason, on a laptop and a phone."""

from typing import Any

import pytest
from playwright.sync_api import expect

from evaluation.models import ItemTally, Study
from evaluation.selectors import settled_judgments
from tests import factories
from tests.browser.axe import run_axe
from tests.browser.conftest import PHONE, Visitor
from tests.browser.test_members import let_in
from tests.browser.walking import resize

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def pairs(owner: Any) -> Study:
    """A live study of six pairs; on all but the first people differ, on the last most."""
    study = factories.launched_pairs("settled", 6, owner=owner, steps=factories.NO_STEPS)
    for at, item in enumerate(study.items.filter(role="main").order_by("pk")):
        ItemTally.objects.update_or_create(item=item, defaults={"study": study, "disagreement": at / 10})
    return study


def test_five_disagreements_by_keys_alone(pairs: Study, owner: Any, visitor: Visitor) -> None:
    let_in(visitor, owner)
    page = visitor.page
    visitor.go("/studies/settled/settle/")
    for left, key in zip(range(5, 0, -1), "12t12", strict=True):
        noun = "disagreement" if left == 1 else "disagreements"
        expect(page.get_by_text(f"{left} {noun} left")).to_be_visible()
        page.keyboard.press(key)
        page.keyboard.press("n")
        page.keyboard.type("It says more about it.")
        page.keyboard.press("Control+Enter")
        expect(page.get_by_label("Reason")).to_be_focused()
        page.keyboard.type(f"Reason {left}.")
        page.keyboard.press("Enter")
    expect(page.get_by_text("0 disagreements left")).to_be_visible()
    settled = list(settled_judgments(pairs).order_by("pk"))
    assert [each.trace["settled"]["reason"] for each in settled] == [f"Reason {n}." for n in range(5, 0, -1)]
    page.keyboard.press("s")
    expect(page.get_by_text("1 item in all")).to_be_visible()
    assert visitor.complaints == []


@pytest.mark.parametrize("window", [None, PHONE], ids=["wide", "phone"])
def test_the_page_is_accessible_and_fits(
    pairs: Study, owner: Any, visitor: Visitor, window: dict[str, int] | None
) -> None:
    if window:
        resize(visitor.page, window)
    let_in(visitor, owner)
    visitor.go("/studies/settled/settle/?show=people")
    page = visitor.page
    assert run_axe(page).response["violations"] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Settle and continue").click()
    expect(page.locator("#settle-reason-e")).to_have_text("A settled label needs a reason.")
    assert run_axe(page).response["violations"] == []
