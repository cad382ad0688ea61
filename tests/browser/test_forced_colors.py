"""Forced colours, as of contrast themes: what a colour, a shadow or a gradient tells is told all the same."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.browser import material, ranking
from tests.browser.conftest import PHONE, WIDE, Visitor
from tests.browser.long_items import pairwise

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def differs(shown: Locator, change: str) -> bool:
    """True if the change to the element, an expression of `node`, changes what is seen of it."""
    before = shown.screenshot(animations="disabled")
    assert shown.screenshot(animations="disabled") == before
    shown.evaluate(f"node => {{ {change} }}")
    return shown.screenshot(animations="disabled") != before


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_handle_and_what_it_holds_are_seen(new_visitor: Callable[..., Visitor], theme: str) -> None:
    visitor = new_visitor(forced_colors="active", color_scheme=theme)
    ranking.come(visitor, n=4, main=1)
    page = visitor.page
    first, second = page.locator(".entry").nth(0), page.locator(".entry").nth(1)
    expect(page.locator(".ranking.ready")).to_be_visible()
    assert differs(first, "node.querySelector('.handle').style.visibility = 'hidden'")
    assert differs(second, "node.classList.add('held')")


@pytest.mark.parametrize("window", [WIDE, PHONE], ids=["wide", "phone"])
def test_progress_is_seen(new_visitor: Callable[..., Visitor], window: dict[str, int]) -> None:
    visitor = new_visitor(forced_colors="active", viewport=window)
    visitor.go(pairwise(material.WITHOUT))
    meter = visitor.page.locator(".bar .meter")
    assert differs(meter, "node.value = node.max / 2")
    assert differs(meter, "node.value = node.max")


def test_the_active_tab_and_the_unopened_one_are_seen(new_visitor: Callable[..., Visitor]) -> None:
    visitor = new_visitor(forced_colors="active", viewport=PHONE)
    visitor.go(pairwise(material.WITHOUT))
    first, second = visitor.page.get_by_role("tab").all()
    expect(first).to_have_css("border-bottom-width", "3px")
    expect(second).to_have_css("border-bottom-width", "0px")
    assert differs(second, "node.classList.remove('unread')")
