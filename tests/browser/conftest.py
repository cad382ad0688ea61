"""Chromium, driven by Playwright: one for the session, and a database that several threads can open."""

import os
import shutil
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

# Without windows of its own where there is one: the same engine, at two thirds of the CPU.
SHELL, WHOLE = "/usr/bin/chromium-headless-shell", "/usr/bin/chromium"
CHROMIUM = os.environ.get("ASSAY_CHROMIUM") or (SHELL if Path(SHELL).exists() else WHOLE)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # As the strictest browsers have it: a frame of another site gets no cookies.
    "--test-third-party-cookie-phaseout",
]
WITH_PICTURES = os.environ.get("ASSAY_PICTURES") == "1" or bool(os.environ.get("ASSAY_AUDIT"))
# The windows that count: a laptop's, a phone's with the browser's bars, and the smallest phone's, which is also what is
# left of a laptop's at four times the size.
WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 664}
NARROWEST = {"width": 320, "height": 568}
# A phone without its browser's bars, for what does not fit into less: docks, what sticks, a list that is dragged.
FULL_SCREEN = {"width": 390, "height": 844}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The live server answers in threads of its own, which can't share SQLite's database in memory: a file can."""
    database = connections["default"].settings_dict
    if database["ENGINE"].endswith("sqlite3") and any(item.get_closest_marker("browser") for item in items):
        folder = tempfile.mkdtemp(prefix="assay-browser-")
        database["TEST"]["NAME"] = str(Path(folder) / "test.sqlite3")


def pytest_unconfigure() -> None:
    name = connections["default"].settings_dict["TEST"]["NAME"] or ""
    if "assay-browser-" in name:
        shutil.rmtree(Path(name).parent, ignore_errors=True)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists():
        reason = f"no Chromium at {CHROMIUM}; ASSAY_CHROMIUM names another"
        if os.environ.get("ASSAY_REQUIRE_ALL") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session", autouse=True)
def pictures_where_asked_for() -> Iterator[None]:
    """Drawing a page whole takes longer than looking at it: what nobody will open is not drawn."""
    with pytest.MonkeyPatch.context() as patch:
        if not WITH_PICTURES:
            patch.setattr(Page, "screenshot", lambda page, **options: b"")
        yield


@dataclass
class Visitor:
    """A page, and everything that happened on it which should be looked at."""

    page: Page
    base: str
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    cookies_set: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("response", self._note_cookies)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._note_console)
        self.page.on("dialog", self._note_dialog)

    def _note_cookies(self, response: Any) -> None:
        if "set-cookie" in response.headers:
            self.cookies_set.append(response.url)

    def _note_console(self, message: Any) -> None:
        # A refused preview is answered with 422 on purpose, which the console mentions.
        if message.type in ("error", "warning") and "422" not in message.text:
            self.complaints.append(message.text)

    def _note_dialog(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def go(self, path: str) -> None:
        self.page.goto(self.base + path)

    @property
    def strange_requests(self) -> list[str]:
        return [url for url in self.requests if not url.startswith((self.base, "data:", "blob:"))]

    def assert_calm(self) -> None:
        assert self.complaints == []
        assert self.dialogs == []
        assert self.strange_requests == []
        assert self.cookies_set == []


@pytest.fixture
def new_visitor(browser: Browser, live_server: Any) -> Iterator[Callable[..., Visitor]]:
    """Makes visitors with a browser profile of their own; options are those of a Playwright context."""
    contexts: list[BrowserContext] = []

    def make(**options: Any) -> Visitor:
        options.setdefault("viewport", WIDE)
        context = browser.new_context(**options)
        context.set_default_timeout(30_000)
        contexts.append(context)
        return Visitor(context.new_page(), live_server.url)

    yield make
    for context in contexts:
        context.close()
    wait_for_the_server(live_server.url)


def wait_for_the_server(url: str, seconds: float = 30) -> None:
    """Until nothing that a closed page had asked for is still being answered.

    A draft saved as the page goes away would otherwise be written while the next test's tables are emptied. The server
    takes connections in the order of their coming: once this one is answered, all before it have their threads.
    """
    with urllib.request.urlopen(url + "/healthz", timeout=seconds) as answer:
        assert answer.status == 200
    until = time.monotonic() + seconds
    for thread in threading.enumerate():
        if "process_request_thread" in thread.name:
            _join(thread, until)
            assert not thread.is_alive(), "the live server is still answering a page that was closed"


def _join(thread: threading.Thread, until: float) -> None:
    while True:
        try:
            return thread.join(max(0.0, until - time.monotonic()))
        except RuntimeError:  # a thread is listed a moment before it has started
            assert time.monotonic() < until
            time.sleep(0.001)


@pytest.fixture
def visitor(new_visitor: Callable[..., Visitor]) -> Visitor:
    return new_visitor()
