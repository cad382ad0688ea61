"""Rankings with equals, without scripts, and in every state on a desk and a phone, light and dark."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotator.services.admission.entry import enter
from annotator.visit import Visit
from evaluation.models import Judgment
from tests.browser.axe import run_axe
from tests.browser.conftest import PHONE, WIDE, Visitor
from tests.browser.ranking import (
    SUBMIT,
    come,
    entry,
    hand_in,
    middle,
    now,
    settled,
    shown,
)
from tests.browser.test_item import wait_for_saved
from tests.browser.walking import leave_by
from tests.protocol_factories import make_ranking_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SHOTS = Path(__file__).resolve().parent.parent.parent / "screenshots"


# --- equals -----------------------------------------------------------------------------------------------------


def test_equals_where_the_study_allows_them(visitor: Visitor) -> None:
    participant = come(visitor, n=4, main=1, ties=True)
    page = visitor.page
    a, b, c, d = shown(participant)
    expect(entry(page, a).locator(".tie")).not_to_be_visible()
    entry(page, c).locator(".tie").click()
    expect(entry(page, c).locator(".tie")).to_have_attribute("aria-pressed", "true")
    assert page.locator(".place b").all_text_contents() == ["1", "=2", "=2", "4"]
    expect(page.locator(".ranking [role=status]")).to_contain_text("the same as the one above")
    expect(page.get_by_label("The order is right as it stands")).not_to_be_visible()
    wait_for_saved(page)
    page.reload()
    assert page.locator(".place b").all_text_contents() == ["1", "=2", "=2", "4"]
    # What moves among equals becomes one of them, and what leaves them takes nobody along.
    for key, ranks in (("Up", "1 =2 =2 =2"), ("Up", "1 2 =3 =3"), ("Up", "1 2 =3 =3")):
        entry(page, d).get_by_role("button", name=re.compile(f"^{key}")).click()
        assert page.locator(".place b").all_text_contents() == ranks.split()
    assert now(page) == [d, a, b, c]
    hand_in(page)
    judgment = Judgment.objects.get()
    ranks = dict(judgment.answers.filter(question="ranking").values_list("part", "number"))
    assert ranks == {d: 1.0, a: 2.0, b: 3.5, c: 3.5}
    assert [(move["part"], move["from"], move["to"], move["tied"]) for move in judgment.trace["ranking"]] == [
        (c, 3, 3, True),
        (d, 4, 3, True),
        (d, 3, 2, False),
        (d, 2, 1, False),
    ]
    visitor.assert_calm()


# --- without scripts --------------------------------------------------------------------------------------------


def test_without_scripts(new_visitor: Callable[..., Visitor]) -> None:
    visitor = new_visitor(java_script_enabled=False)
    participant = come(visitor, n=3, main=2)
    page = visitor.page
    a, b, c = shown(participant)
    for out_of_use in (".handle", ".arrows", ".place"):
        expect(page.locator(out_of_use).first).not_to_be_visible()
    page.screenshot(path=SHOTS / "ranking-without-scripts.png", full_page=True)
    leave_by(page.get_by_role("button", name=SUBMIT))
    expect(page.get_by_role("alert")).to_contain_text("confirm that it is right as it stands")
    entry(page, c).locator("select").select_option("1")
    leave_by(page.get_by_role("button", name=SUBMIT))
    expect(page.get_by_role("alert")).to_contain_text("Two responses share a rank")
    assert entry(page, c).locator("select").input_value() == "1", "what was chosen is kept"
    entry(page, a).locator("select").select_option("3")
    leave_by(page.get_by_role("button", name=SUBMIT))
    expect(page.locator(".bar .count")).to_have_text("2 of 2")
    judgment = Judgment.objects.get()
    ranks = dict(judgment.answers.filter(question="ranking").values_list("part", "number"))
    assert ranks == {c: 1.0, b: 2.0, a: 3.0}
    assert judgment.shown == f"{a},{b},{c}"
    assert judgment.trace == {"screen": {"layout": "plain"}}
    page.get_by_label("The order is right as it stands").check()
    leave_by(page.get_by_role("button", name=SUBMIT))
    expect(page.locator("#code")).to_be_visible()
    assert Judgment.objects.count() == 2


# --- looking ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["found", "equals", "refused", "dragged"])
def test_looks_right(new_visitor: Callable[..., Visitor], state: str) -> None:
    participant = enter(make_ranking_study(n=6, main=1, ties=state == "equals"), Visit("link"))
    for scheme, viewport in (("light", WIDE), ("dark", PHONE)):
        visitor = new_visitor(viewport=viewport, color_scheme=scheme, has_touch=viewport == PHONE)
        page = visitor.page
        visitor.go(f"/p/{participant.token}/")
        bring_about(page, state)
        SHOTS.mkdir(exist_ok=True)
        page.screenshot(path=SHOTS / f"ranking-{state}-{scheme}-{viewport['width']}.png", full_page=True)
        assert visitor.complaints == []
        found = run_axe(page)
        assert found.violations_count == 0, found.generate_report()
        widths = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert widths[0] <= widths[1]


def bring_about(page: Page, state: str) -> None:
    if state == "equals" and not page.locator(".entry.tied").count():
        page.locator(".tie").nth(2).click()
    if state == "refused":
        hand_in(page)
    if state == "dragged":
        x, y = middle(page.locator(".handle").nth(1).bounding_box())
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x, y + 90, steps=4)
    settled(page)
