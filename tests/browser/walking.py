"""Walking a participant through a study, by mouse and by keyboard."""

import time
from collections.abc import Callable, Mapping

from playwright.sync_api import Frame, Locator, Page, expect


def until(page: Page, condition: Callable[[], bool], seconds: float = 30) -> None:
    """Waits for something that the page brings about and a locator can't see."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        page.wait_for_timeout(20)


def leave_by(target: Locator) -> None:
    """Clicks what leads to another page, which is there as a whole when this returns: what is then asked of the page
    without waiting is asked of no page before and of no half of one."""
    with target.page.expect_navigation():
        target.click()


# Two frames on; a page without scripts has none to wait for, nor anything that turns.
TURNED = """() => {
  const probe = document.createElement("div");
  probe.innerHTML = "<noscript><i></i></noscript>";
  if (probe.querySelector("i")) return;
  return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""


def resize(page: Page, window: Mapping[str, int]) -> None:
    """Another window, in which the page has turned: what depends on its width has changed, tabs included, and nothing
    moves any more under what is clicked next."""
    page.set_viewport_size({"width": window["width"], "height": window["height"]})
    page.evaluate(TURNED)


def take(choice: Locator) -> None:
    """Clicks a choice where a finger would: on its label, once that stands still and nothing lies over it."""
    choice.locator("xpath=ancestor::label").click()
    expect(choice).to_be_checked()


def let_pass(page: Page, ms: int) -> None:
    """By the page's own clock: whatever it would do within this time from now has begun before."""
    page.evaluate("ms => new Promise(done => setTimeout(done, ms))", ms)


def segment(page: Page | Frame, name: str, value: str) -> None:
    """Clicks a choice of a segmented control where a finger or a mouse would, in its response's tab if it has one."""
    closed = page.locator(f'.pane[hidden]:has(input[name="{name}"])')
    if closed.count():
        page.locator(f"#tab-{closed.get_attribute('data-part')}").click()
    page.locator(f'label:has(input[name="{name}"][value="{value}"])').click()


def write_reason(page: Page | Frame, text: str) -> None:
    """Where the window is too low for the reason, the button opens it."""
    if page.locator(".dock.folded").count():
        page.locator(".dock .fold").click()
    page.get_by_label("Why?").fill(text)


def open_tabs_by_mouse(page: Page | Frame) -> None:
    """Every response that stands in a tab which was not opened yet: without it, nothing is sent. The tabs are there
    once the page's scripts have run."""
    page.wait_for_load_state("domcontentloaded")
    while page.locator(".tabs .unread").count():
        page.locator(".tabs .unread").first.click()


def fill_by_mouse(page: Page | Frame, *, preference: str = "r1") -> None:
    open_tabs_by_mouse(page)
    names = page.locator("#judge .cell input[value='1']").evaluate_all(
        "nodes => nodes.map(node => node.name)"
    )
    for name in names:
        segment(page, name, "1" if name.endswith("r1") else "0")
    segment(page, "preference", preference)
    write_reason(page, "The first one answers what was asked.")


def walk_by_mouse(page: Page) -> str:
    """From the instructions to the code; returns the code."""
    for _ in range(30):
        if page.locator("#code").count():
            return page.text_content("#code") or ""
        if page.locator("#judge").count():
            fill_by_mouse(page)
            leave_by(page.get_by_role("button", name="Submit and continue"))
        elif page.locator("#comments").count():
            page.locator("#comments").fill("All clear.")
            leave_by(page.get_by_role("button", name="Finish"))
        else:
            leave_by(page.get_by_role("button", name="Continue"))
    raise AssertionError("the way did not end")


def tab_to(page: Page, selector: str, *, limit: int = 80) -> None:
    """Presses Tab until the focus is on what the selector names."""
    for _ in range(limit):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {selector}")


def tab_to_reason(page: Page) -> None:
    """By the button that opens it, where the window is too low for it."""
    reason = "textarea[name=justification]"
    if not page.locator(reason).is_visible():
        tab_to(page, ".fold")
        page.keyboard.press("Enter")
    tab_to(page, reason)


def press_on(page: Page, selector: str, key: str = "Enter") -> None:
    tab_to(page, selector)
    with page.expect_navigation():
        page.keyboard.press(key)


def open_tabs_by_keyboard(page: Page) -> None:
    """Every response that stands in a tab which was not opened yet."""
    while page.locator(".tabs .unread").count():
        tab_to(page, "[role=tab]")
        page.keyboard.press("ArrowRight")


def fill_by_keyboard(page: Page) -> None:
    """Every radio group by Tab, Space and arrows; the preference by its key; then the reason."""
    open_tabs_by_keyboard(page)
    names = page.locator("#judge .cell input[value='1']").evaluate_all(
        "nodes => nodes.map(node => node.name)"
    )
    for name in names:
        tab_to(page, f'[name="{name}"]')
        page.keyboard.press("Space")
        if name.endswith("r2"):
            page.keyboard.press("ArrowRight")
    page.keyboard.press("t")
    tab_to_reason(page)
    page.keyboard.type("Both are much alike.")


def walk_by_keyboard(page: Page) -> str:
    for _ in range(30):
        if page.locator("#code").count():
            return page.text_content("#code") or ""
        if page.locator("#judge").count():
            fill_by_keyboard(page)
            with page.expect_navigation():
                page.keyboard.press("Control+Enter")
        elif page.locator("#comments").count():
            tab_to(page, "#comments")
            page.keyboard.type("By keyboard.")
            press_on(page, "form button")
        else:
            press_on(page, ".actions button")
    raise AssertionError("the way did not end")
