"""Settling by keys alone: one disagreement after another, each with its reason, on a laptop and a phone."""

import re
from itertools import cycle
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


def disputed(owner: Any, n: int, *, why: bool = True) -> Study:
    """A live study of so many pairs and one; on all but the first people differ, on the last most."""
    study = factories.launched_pairs("settled", n + 1, owner=owner, steps=factories.NO_STEPS, why=why)
    for at, item in enumerate(study.items.filter(role="main").order_by("pk")):
        tally = {"study": study, "disagreement": at / (2 * n)}
        ItemTally.objects.update_or_create(item=item, defaults=tally)
    return study


@pytest.mark.parametrize("n", [5, pytest.param(50, marks=pytest.mark.audit)])
def test_disagreements_by_keys_alone(owner: Any, visitor: Visitor, n: int) -> None:
    study = disputed(owner, n)
    let_in(visitor, owner)
    page = visitor.page
    visitor.go("/studies/settled/settle/")
    for left, key in zip(range(n, 0, -1), cycle("12t"), strict=False):
        noun = "disagreement" if left == 1 else "disagreements"
        expect(page.get_by_text(re.compile(rf"\b{left} {noun} left"))).to_be_visible()
        page.keyboard.press(key)
        page.keyboard.press("n")
        page.keyboard.type(f"It says more about it, reason {left}.")
        page.keyboard.press("Control+Enter")
    expect(page.get_by_text("0 disagreements left")).to_be_visible()
    settled = list(settled_judgments(study).order_by("pk"))
    reasons = [f"It says more about it, reason {left}." for left in range(n, 0, -1)]
    assert [each.trace["settled"]["reason"] for each in settled] == reasons
    page.keyboard.press("s")
    expect(page.get_by_text("1 item in all")).to_be_visible()
    assert visitor.complaints == []


def test_where_the_form_leaves_why_to_raters_keys_lead_to_a_line_for_the_reason(
    owner: Any, visitor: Visitor
) -> None:
    study = disputed(owner, 2, why=False)
    let_in(visitor, owner)
    page = visitor.page
    visitor.go("/studies/settled/settle/")
    for left in (2, 1):
        expect(page.get_by_text(re.compile(rf"\b{left} disagreements? left"))).to_be_visible()
        page.keyboard.press("1")
        page.keyboard.press("Control+Enter")
        expect(page.get_by_label("Reason")).to_be_focused()
        page.keyboard.type(f"Reason {left}.")
        page.keyboard.press("Enter")
    expect(page.get_by_text("0 disagreements left")).to_be_visible()
    reasons = [each.trace["settled"]["reason"] for each in settled_judgments(study).order_by("pk")]
    assert reasons == ["Reason 2.", "Reason 1."]
    assert visitor.complaints == []


@pytest.mark.parametrize("window", [None, PHONE], ids=["wide", "phone"])
def test_the_page_is_accessible_and_fits(owner: Any, visitor: Visitor, window: dict[str, int] | None) -> None:
    disputed(owner, 5, why=False)
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
