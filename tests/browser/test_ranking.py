"""Ranking in a browser: by mouse, buttons, keys and finger; what is stored is what was done."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import FULL_SCREEN, PHONE, WIDE, Visitor
from tests.browser.ranking import (
    SUBMIT,
    come,
    entry,
    hand_in,
    middle,
    now,
    settled,
    shown,
    stored,
    without_times,
)
from tests.browser.test_item import PLACES, wait_for_saved
from tests.browser.walking import resize, tab_to, until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def drag(page: Page, part: str, to: int) -> None:
    """Takes the entry by its handle and drops it on the one in that place (from 0), once all stand still."""
    settled(page)
    x, y = middle(entry(page, part).locator(".handle").bounding_box())
    _, goal = middle(page.locator(".entry").nth(to).bounding_box())
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, goal + (4 if goal > y else -4), steps=12)
    page.mouse.up()


# --- by mouse ---------------------------------------------------------------------------------------------------


def test_one_item_by_dragging_and_one_by_buttons(visitor: Visitor) -> None:
    participant = come(visitor, n=5, main=2)
    page = visitor.page
    first = shown(participant)
    assert now(page) == first
    expect(page.locator(".missing")).to_have_text("1 answer left")
    confirm = page.get_by_label("The order is right as it stands")
    expect(confirm).to_be_visible()
    drag(page, first[4], 0)
    expected = [first[4], *first[:4]]
    assert now(page) == expected
    expect(confirm).not_to_be_visible()
    expect(page.locator(".missing")).to_have_text("All questions answered")
    drag(page, first[0], 4)
    expected = [expected[0], *expected[2:], first[0]]
    assert now(page) == expected
    hand_in(page)
    order, moves, judgment = stored()
    assert order == expected
    assert judgment.shown == ",".join(first)
    assert without_times(moves) == [(first[4], 5, 1, "drag"), (first[0], 2, 5, "drag")]
    assert moves[-1]["ms"] <= judgment.visible_ms

    second = shown(participant)
    entry(page, second[2]).get_by_role("button", name=re.compile("^Up")).click()
    entry(page, second[2]).get_by_role("button", name=re.compile("^Up")).click()
    entry(page, second[3]).get_by_role("button", name=re.compile("^Down")).click()
    expected = [second[2], second[0], second[1], second[4], second[3]]
    assert now(page) == expected
    hand_in(page)
    order, moves, judgment = stored()
    assert order == expected
    assert judgment.shown == ",".join(second)
    assert without_times(moves) == [
        (second[2], 3, 2, "button"),
        (second[2], 2, 1, "button"),
        (second[3], 4, 5, "button"),
    ]
    assert page.text_content("#code") == "C1TUA9KX"
    visitor.assert_calm()


def test_dragging_moves_nothing_but_the_entries(visitor: Visitor) -> None:
    participant = come(visitor, n=5, main=1)
    page = visitor.page
    parts = shown(participant)
    page.evaluate("document.activeElement.blur()")
    page.mouse.move(0, 0)
    around = """() => [...document.querySelectorAll('.ranks, .ask, .foot, .help, textarea')]
        .map(node => node.getBoundingClientRect()).map(box => [box.x, box.y, box.width, box.height].join(' '))"""
    before = page.evaluate(around)
    x, y = middle(entry(page, parts[0]).locator(".handle").bounding_box())
    page.mouse.move(x, y)
    page.mouse.down()
    for down in (3, 20, 90, 200, 900):
        page.mouse.move(x + down, y + down)
        assert page.evaluate(around) == before
        assert now(page) == parts, "nothing changes its place before it is dropped"
    ranks = [entry(page, part).locator(".place b").text_content() for part in parts]
    assert ranks == ["5", "1", "2", "3", "4"], "the numbers say where it would be"
    page.keyboard.press("Escape")
    page.mouse.up()
    assert now(page) == parts
    assert page.locator(".place b").all_text_contents() == ["1", "2", "3", "4", "5"]
    expect(page.get_by_label("The order is right as it stands")).to_be_visible()
    drag(page, parts[0], 2)
    settled(page)
    assert page.evaluate(around) == before
    shift = page.evaluate(
        "new Promise(done => new PerformanceObserver(list => done(list.getEntries()"
        ".reduce((sum, each) => sum + each.value, 0))).observe({type: 'layout-shift', buffered: true})"
        " || setTimeout(() => done(0), 200))"
    )
    assert shift < 0.001
    visitor.assert_calm()


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_nothing_glides_where_less_motion_is_wished_for(
    new_visitor: Callable[..., Visitor], motion: str
) -> None:
    visitor = new_visitor(reduced_motion=motion)
    come(visitor, n=5, main=1)
    visitor.page.keyboard.press("Tab")
    gliding = """() => { document.querySelectorAll('.up')[1].click();
        return [...document.querySelectorAll('.entry')].flatMap(each => each.getAnimations()).length }"""
    assert (visitor.page.evaluate(gliding) > 0) is (motion == "no-preference")


def test_a_click_on_the_handle_moves_nothing(visitor: Visitor) -> None:
    participant = come(visitor, n=3, main=1)
    page = visitor.page
    page.locator(".handle").nth(1).click()
    page.keyboard.press("ArrowUp")
    assert now(page) == shown(participant)
    assert page.locator("[name='trace.ranking']").input_value() == "[]"


def test_the_script_takes_the_selects_place_without_moving_anything(
    new_visitor: Callable[..., Visitor],
) -> None:
    visitor = new_visitor()
    page = visitor.page
    page.route("**/ranking.js", lambda route: route.abort())
    come(visitor, n=5, main=1)
    expect(page.locator(".entry select").first).to_be_visible()
    before = page.evaluate(PLACES)
    page.unroute("**/ranking.js")
    page.reload()
    expect(page.locator(".ranking.ready")).to_be_visible()
    expect(page.locator(".entry select").first).not_to_be_visible()
    # Out of sight it takes no room: the arrows end the row, and the text has all that is left of it.
    for window in (WIDE, PHONE):
        resize(page, window)
        first = page.locator(".entry").first
        body, arrows = (first.locator(each).bounding_box() for each in (".body", ".arrows"))
        assert arrows["x"] - body["x"] - body["width"] < 8
    resize(page, WIDE)
    assert {place for place in page.evaluate(PLACES) if place.startswith("LI")} == {
        place for place in before if place.startswith("LI")
    }


# --- confirming, drafts -----------------------------------------------------------------------------------------


def test_an_untouched_list_is_refused_until_it_is_confirmed(visitor: Visitor) -> None:
    participant = come(visitor, n=4, main=1)
    page = visitor.page
    parts = shown(participant)
    hand_in(page)
    expect(page.get_by_role("alert")).to_contain_text("confirm that it is right as it stands")
    page.get_by_role("alert").get_by_role("link").click()
    assert page.evaluate("document.activeElement.id") == "q-ranking"
    # There and back again is as it was found.
    entry(page, parts[1]).get_by_role("button", name=re.compile("^Up")).click()
    expect(page.locator(".missing")).to_have_text("All questions answered")
    entry(page, parts[1]).get_by_role("button", name=re.compile("^Down")).click()
    expect(page.locator(".missing")).to_have_text("1 answer left")
    page.get_by_label("The order is right as it stands").check()
    expect(page.locator(".missing")).to_have_text("All questions answered")
    hand_in(page)
    order, moves, _ = stored()
    assert order == parts
    assert without_times(moves) == [(parts[1], 2, 1, "button"), (parts[1], 1, 2, "button")]


def test_order_and_moves_survive_a_reload(visitor: Visitor) -> None:
    participant = come(visitor, n=4, main=1)
    page = visitor.page
    parts = shown(participant)
    drag(page, parts[3], 0)
    wait_for_saved(page)
    page.reload()
    expected = [parts[3], *parts[:3]]
    assert now(page) == expected
    expect(page.get_by_label("The order is right as it stands")).not_to_be_visible()
    entry(page, parts[0]).get_by_role("button", name=re.compile("^Down")).click()
    hand_in(page)
    order, moves, judgment = stored()
    assert order == [parts[3], parts[1], parts[0], parts[2]]
    assert without_times(moves) == [(parts[3], 4, 1, "drag"), (parts[0], 2, 3, "button")]
    assert judgment.shown == ",".join(parts)
    visitor.assert_calm()


# --- by keys ----------------------------------------------------------------------------------------------------


def test_with_the_keyboard_alone_on_a_phone(visitor: Visitor) -> None:
    resize(visitor.page, PHONE)
    participant = come(visitor, n=6, main=1)
    page = visitor.page
    parts = shown(participant)
    live = page.locator(".ranking [role=status]")
    on = '.entry[data-part="{}"] .handle'.format

    tab_to(page, on(parts[3]))
    page.keyboard.press("Space")
    expect(entry(page, parts[3])).to_have_class(re.compile("held"))
    expect(live).to_contain_text("picked up, 4 of 6")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(live).to_contain_text("now 2 of 6")
    assert page.evaluate("selector => document.activeElement.matches(selector)", on(parts[3]))
    page.keyboard.press("Escape")
    expect(live).to_contain_text("back where it was, 4 of 6")
    assert now(page) == parts
    expect(page.locator(".missing")).to_have_text("1 answer left")

    page.keyboard.press("Enter")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(live).to_contain_text("now 2 of 6")
    expected = [parts[0], parts[3], parts[1], parts[2], parts[4], parts[5]]
    assert now(page) == expected
    page.keyboard.press("ArrowUp")
    assert now(page) == expected, "put down, it stays"
    page.keyboard.press("Alt+ArrowUp")
    expect(live).to_contain_text("now 1 of 6")
    page.keyboard.press("Alt+ArrowUp")
    assert page.evaluate("selector => document.activeElement.matches(selector)", on(parts[3]))
    expected = [parts[3], parts[0], parts[1], parts[2], parts[4], parts[5]]
    assert now(page) == expected

    tab_to(page, f'.entry[data-part="{parts[4]}"] .down')
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.className") == "plain down"
    page.keyboard.press("Enter")  # it is the last: nothing happens, and the focus stays
    assert page.evaluate("document.activeElement.getAttribute('aria-disabled')") == "true"
    expected = [*expected[:4], parts[5], parts[4]]
    assert now(page) == expected
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Home")
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")  # what is held is put down first
    expected = [parts[4], *expected[:5]]
    order, moves, judgment = stored()
    assert order == expected
    assert judgment.shown == ",".join(parts)
    assert without_times(moves) == [
        (parts[3], 4, 2, "key"),
        (parts[3], 2, 1, "key"),
        (parts[4], 5, 6, "button"),
        (parts[4], 6, 1, "key"),
    ]
    visitor.assert_calm()


def test_the_focus_is_never_behind_what_sticks(visitor: Visitor) -> None:
    resize(visitor.page, PHONE)
    come(visitor, n=6, main=1)
    page = visitor.page
    hidden = """() => { const box = document.activeElement.getBoundingClientRect();
        const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
        return document.activeElement.contains(hit) ? null : document.activeElement.outerHTML }"""
    page.locator(".handle").first.focus()
    for key in ["Alt+ArrowDown"] * 5 + ["Alt+ArrowUp"] * 5:
        page.keyboard.press(key)
        settled(page)
        assert page.evaluate(hidden) is None


# --- by finger --------------------------------------------------------------------------------------------------


class Finger:
    """Touches as the browser gets them from a screen."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.session = page.context.new_cdp_session(page)

    def _send(self, kind: str, *points: tuple[float, float]) -> None:
        touches = [{"x": x, "y": y} for x, y in points]
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    def slide(self, start: tuple[float, float], end: tuple[float, float], *, steps: int = 12) -> None:
        self._send("touchStart", start)
        for step in range(1, steps + 1):
            share = step / steps
            self._send(
                "touchMove",
                (start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share),
            )
        self.hold = end

    def lift(self) -> None:
        self._send("touchEnd")


def scrolled(page: Page) -> float:
    y: float = page.evaluate("scrollY")
    return y


def stands(page: Page) -> None:
    """Waits until the page has not scrolled for ten frames."""
    page.evaluate("""() => new Promise(done => {
        let last = scrollY, still = 0;
        const look = () => {
            still = scrollY === last ? still + 1 : 0;
            last = scrollY;
            if (still < 10) requestAnimationFrame(look); else done();
        };
        look();
    })""")


def test_by_finger_and_the_page_scrolls_beside_the_handle(new_visitor: Callable[..., Visitor]) -> None:
    visitor = new_visitor(viewport=FULL_SCREEN, has_touch=True, is_mobile=True)
    participant = come(visitor, n=6, main=1)
    page, finger = visitor.page, Finger(visitor.page)
    parts = shown(participant)
    handle = middle(entry(page, parts[0]).locator(".handle").bounding_box())
    goal = middle(entry(page, parts[2]).bounding_box())
    finger.slide(handle, (handle[0], goal[1] + 4))
    finger.lift()
    expected = [parts[1], parts[2], parts[0], *parts[3:]]
    assert now(page) == expected
    assert scrolled(page) == 0, "a finger on a handle does not scroll the page"
    settled(page)

    text = middle(page.locator(".entry .body").nth(1).bounding_box())
    finger.slide(text, (text[0], text[1] - 150))
    finger.lift()
    until(page, lambda: scrolled(page) > 50)  # a finger on the text does
    assert now(page) == expected

    # Still on its way, the page would take the handle from under the finger.
    stands(page)
    page.evaluate("scrollTo(0, 0)")
    stands(page)
    first = middle(entry(page, parts[1]).locator(".handle").bounding_box())
    foot = page.locator(".foot").bounding_box()
    finger.slide(first, (first[0], foot["y"] - 10))
    end = page.locator(".place b").nth(0)
    expect(end).to_have_text("6")  # held at the edge, the page scrolls until the list ends
    finger.lift()
    expected = [*expected[1:], parts[1]]
    assert now(page) == expected
    entry(page, parts[1]).get_by_role("button", name=re.compile("^Up")).tap()
    expected = [*expected[:4], parts[1], expected[4]]
    assert now(page) == expected
    with page.expect_navigation():
        page.get_by_role("button", name=SUBMIT).tap()
    expect(page.locator("#code")).to_be_visible()
    order, moves, _ = stored()
    assert order == expected
    assert without_times(moves) == [
        (parts[0], 1, 3, "drag"),
        (parts[1], 1, 6, "drag"),
        (parts[1], 6, 5, "button"),
    ]
    visitor.assert_calm()


def test_targets_are_large_enough_for_a_finger(visitor: Visitor) -> None:
    resize(visitor.page, PHONE)
    come(visitor, n=6, main=1, ties=True)
    for button in visitor.page.locator(".ranks button").all():
        box = button.bounding_box()
        assert box is not None
        assert box["width"] >= 44, button
        assert box["height"] >= 44, button
