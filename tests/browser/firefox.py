"""Firefox, driven by Marionette, its own remote protocol: what is clicked, typed and pressed, and its console."""

import gc
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

with warnings.catch_warnings():
    # The driver asks for the system's name and for telnetlib in ways that Python will no longer know.
    warnings.simplefilter("ignore", DeprecationWarning)
    from marionette_driver import By, Keys
    from marionette_driver.marionette import ActionSequence, Marionette

FIREFOX = os.environ.get("ASSAY_FIREFOX", "/usr/bin/firefox-esr")
ERRORS = """return Services.console.getMessageArray()
    .filter(each => each instanceof Ci.nsIScriptError && !(each.flags & Ci.nsIScriptError.warningFlag))
    .filter(each => (each.sourceName || '').startsWith(arguments[0]))
    .map(each => `${each.errorMessage} (${each.sourceName})`)"""


def start(log: Path) -> Marionette:
    """A headless Firefox with a profile of its own; skipped where there is none."""
    if not Path(FIREFOX).exists():
        reason = f"no Firefox at {FIREFOX}; ASSAY_FIREFOX names another"
        if os.environ.get("ASSAY_REQUIRE_ALL") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    client = Marionette(bin=FIREFOX, headless=True, gecko_log=str(log))
    client.start_session()
    return client


def stop(client: Marionette) -> None:
    """With its profile, which would otherwise try to remove itself when Python is half gone."""
    client.delete_session()
    client.cleanup()
    client.instance = None
    gc.collect()


class FirefoxPage:
    """The page that is open, by CSS selectors."""

    def __init__(self, client: Marionette, base: str) -> None:
        self.client, self.base = client, base

    def go(self, path: str) -> None:
        self.client.navigate(self.base + path)

    def all(self, selector: str) -> list[Any]:
        return self.client.find_elements(By.CSS_SELECTOR, selector)

    def of_all(self, selector: str, value: str) -> list[Any]:
        """A JavaScript value of each `node` that the selector finds."""
        script = f"return [...document.querySelectorAll(arguments[0])].map(node => {value})"
        return self.client.execute_script(script, [selector])

    def click(self, selector: str) -> None:
        """In the middle of the window, so that nothing that sticks to an edge is hit instead."""
        [element] = [each for each in self.all(selector) if each.is_displayed()]
        self.client.execute_script(
            "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", [element]
        )
        element.click()

    def choose(self, name: str, value: str) -> None:
        """A choice of a segmented control, in its response's tab if it has one."""
        if closed := self.of_all(f'.pane[hidden]:has([name="{name}"])', "node.dataset.part"):
            self.click(f"#tab-{closed[0]}")
        self.click(f'label:has([name="{name}"][value="{value}"])')

    def type(self, selector: str, text: str) -> None:
        [element] = [each for each in self.all(selector) if each.is_displayed()]
        element.clear()
        element.send_keys(text)

    def press(self, *keys: str) -> None:
        """One key after the other, wherever the focus is."""
        for key in keys:
            ActionSequence(self.client, "key", "keyboard").key_down(key).key_up(key).perform()

    def press_control_enter(self) -> None:
        keyboard = ActionSequence(self.client, "key", "keyboard").key_down(Keys.CONTROL)
        keyboard.key_down(Keys.ENTER).key_up(Keys.ENTER).key_up(Keys.CONTROL).perform()

    def tab_to(self, selector: str) -> None:
        for _ in range(80):
            if self.client.execute_script("return document.activeElement.matches(arguments[0])", [selector]):
                return
            self.press(Keys.TAB)
        raise AssertionError(f"Tab does not reach {selector}")

    def until(self, condition: Callable[[], Any], seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "it did not come about"
            time.sleep(0.02)

    def errors(self) -> list[str]:
        """Errors that pages of the site have raised, and what its policy refused them."""
        with self.client.using_context("chrome"):
            return list(self.client.execute_script(ERRORS, [self.base]))
