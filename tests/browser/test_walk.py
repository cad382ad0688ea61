"""One participant from the link to the code: by mouse, by keyboard alone on a phone's screen, in a panel's frame, and
an item without scripts."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Page

from annotator.models import Participant
from evaluation.models import Judgment
from tests.browser import material
from tests.browser.conftest import PHONE, Visitor
from tests.browser.test_screens import DOOR, ITEMS_ONLY, STEPS
from tests.browser.walking import fill_by_mouse, leave_by, press_on, segment, walk_by_keyboard, walk_by_mouse

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

BLOCKED_STORAGE = """Object.defineProperty(window, 'localStorage',
    { get() { throw new DOMException('blocked', 'SecurityError') } })"""
WAY = STEPS | {"attention": {"checks": 1, "allowed_failures": None}}


def _assert_all_judged(preference: str) -> None:
    participant = Participant.objects.get()
    assert participant.outcome == "completed"
    main = Judgment.objects.filter(item__role="main", outcome="ok")
    assert main.count() == participant.quota
    for judgment in main:
        answers = {(answer.question, answer.part): answer for answer in judgment.answers.all()}
        assert answers["preference", ""].label == preference
        assert answers["satisfied", "f2.r1"].number == 1
        assert answers["satisfied", "f2.r2"].number == 0
        assert 0 < judgment.visible_ms <= judgment.duration_ms


def test_by_mouse(visitor: Visitor) -> None:
    material.make_study("coffee", steps=WAY)
    visitor.go(DOOR)
    leave_by(visitor.page.get_by_role("button", name="I agree"))
    assert walk_by_mouse(visitor.page) == "C1TUA9KX"
    _assert_all_judged("r1")
    visitor.go(DOOR)
    assert visitor.page.text_content("#code") == "C1TUA9KX"
    visitor.assert_calm()


def test_by_keyboard_alone_on_a_phone_s_screen(new_visitor: Callable[..., Visitor]) -> None:
    material.make_study("coffee", steps=WAY | {"qualification": None})
    visitor = new_visitor(viewport=PHONE)
    visitor.go(DOOR)
    press_on(visitor.page, "button[value=agree]")
    assert walk_by_keyboard(visitor.page) == "C1TUA9KX"
    _assert_all_judged("tie")
    visitor.assert_calm()


@pytest.fixture
def panel() -> Iterator[Callable[[str], str]]:
    """A site of its own that shows an address in a frame; gives the address of its page."""
    pages: dict[str, bytes] = {}

    class Panel(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path in pages else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Set-Cookie", "panel=1; SameSite=Lax")
            self.end_headers()
            self.wfile.write(pages.get(self.path, b""))

        def log_message(self, *args: Any) -> None:
            """Silence."""

    # Another site than the live server's localhost.
    server = ThreadingHTTPServer(("127.0.0.1", 0), Panel)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()

    def show(address: str) -> str:
        title = "<!doctype html><link rel=icon href=data:,><title>Panel</title><h1>Panel</h1>"
        pages["/"] = (
            f'{title}<iframe title="study" width="1200" height="800" src="{address}"></iframe>'.encode()
        )
        return f"http://127.0.0.1:{server.server_port}/"

    yield show
    server.shutdown()
    thread.join()
    server.server_close()


def _walk_in_frame(page: Page) -> str:
    frame = page.frames[1]
    frame.get_by_role("button", name="I agree").click()
    for _ in range(20):
        frame.wait_for_load_state()
        frame.wait_for_selector("#judge, #comments, #code")
        if frame.locator("#code").count():
            return frame.text_content("#code") or ""
        if frame.locator("#judge").count():
            fill_by_mouse(frame)
            done = frame.locator("#judge").get_attribute("action")
            frame.get_by_role("button", name="Submit and continue").click()
            frame.wait_for_selector(f'#judge:not([action="{done}"]), #comments, #code')
        else:
            frame.get_by_role("button", name="Finish").click()
            frame.wait_for_selector("#code")
    raise AssertionError("the way did not end")


@pytest.mark.parametrize("storage", ["open", "blocked"])
def test_in_a_panel_s_frame_without_cookies(
    new_visitor: Callable[..., Visitor],
    panel: Callable[[str], str],
    settings: Any,
    live_server: Any,
    storage: str,
) -> None:
    material.make_study("coffee", steps=ITEMS_ONLY, items_per_participant=2)
    outside = panel(live_server.url + (DOOR if storage == "open" else "/s/coffee/"))
    settings.ASSAY_FRAME_ANCESTORS = [outside.rstrip("/")]
    visitor = new_visitor()
    if storage == "blocked":
        visitor.page.add_init_script(BLOCKED_STORAGE)
    visitor.page.goto(outside)
    assert _walk_in_frame(visitor.page) == "C1TUA9KX"
    assert Judgment.objects.filter(outcome="ok").count() == 2
    assert visitor.complaints == []
    assert [url for url in visitor.cookies_set if url.startswith(live_server.url)] == []
    stored = {cookie["name"] for cookie in visitor.page.context.cookies()}
    assert stored <= {"panel"}


def test_a_site_that_is_not_named_can_not_frame(
    visitor: Visitor, panel: Callable[[str], str], live_server: Any
) -> None:
    material.make_study("coffee", steps=ITEMS_ONLY)
    with visitor.page.expect_console_message(lambda said: "frame-ancestors" in said.text):
        visitor.page.goto(panel(live_server.url + DOOR))
    assert visitor.page.frames[1].locator("button").count() == 0


def test_without_scripts(new_visitor: Callable[..., Visitor]) -> None:
    material.make_study("coffee", steps=ITEMS_ONLY | {"comments": False}, items_per_participant=1)
    visitor = new_visitor(java_script_enabled=False)
    page = visitor.page
    visitor.go(DOOR)
    leave_by(page.get_by_role("button", name="I agree"))
    assert not page.locator(".tally").first.is_visible()
    segment(page, "preference", "r2")
    leave_by(page.get_by_role("button", name="I need more time"))
    assert "more time" in page.text_content(".notice")
    assert page.locator("[name=preference][value=r2]").is_checked()
    leave_by(page.get_by_role("button", name="Submit and continue"))
    assert "8 choices are missing" in page.text_content("[role=alert]")
    assert page.locator("[name=preference][value=r2]").is_checked()
    fill_by_mouse(page)
    leave_by(page.get_by_role("button", name="Submit and continue"))
    assert page.text_content("#code") == "C1TUA9KX"
    judgment = Judgment.objects.get()
    assert (judgment.visible_ms, judgment.trace) == (0, {"screen": {"layout": "plain"}})
    assert visitor.cookies_set == []


def test_link_participants_are_offered_the_way_back(visitor: Visitor) -> None:
    material.make_study("coffee", steps=ITEMS_ONLY)
    visitor.go("/s/coffee/")
    offer = visitor.page.get_by_role("link", name="Continue where you stopped")
    assert not offer.is_visible()
    leave_by(visitor.page.get_by_role("button", name="I agree"))
    visitor.page.wait_for_selector("#judge")
    address = visitor.page.url
    visitor.go("/s/coffee/")
    leave_by(offer)
    assert visitor.page.url == address
    assert Participant.objects.count() == 1
    visitor.assert_calm()
