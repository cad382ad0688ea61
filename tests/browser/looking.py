"""Looking at a page: pictures of it, what axe finds, and whether it is wider than its window.

CI looks at every page on a laptop, in the dark on a phone, and in the narrowest window, and draws no picture unless
ASSAY_PICTURES is 1. `make audit` (`tests.browser.audit`) looks at every page in every setting, with pictures, and
counts what it finds.
"""

import json
import os
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Page

from tests.browser.axe import run_axe
from tests.browser.conftest import NARROWEST, PHONE, WIDE, WITH_PICTURES, Visitor
from tests.browser.walking import resize

SHOTS = Path(__file__).resolve().parent.parent.parent / "screenshots"
# Where an audit has it written what was found; empty in CI, where anything found is a failure.
AUDIT = os.environ.get("ASSAY_AUDIT", "")
WIDTH = "document.documentElement.scrollWidth"
# The innermost element that reaches as far as the page does.
WIDEST = """() => {
  const edge = document.documentElement.scrollWidth - 1;
  const far = [...document.body.querySelectorAll("*")].filter(each => each.getBoundingClientRect().right >= edge);
  const inner = far.filter(each => !far.some(other => other !== each && each.contains(other)));
  return (inner[0] ?? document.body).outerHTML.slice(0, 140);
}"""


class Setting(NamedTuple):
    """How somebody has their window: its theme, its width, and the size of text in per cent."""

    theme: str = "light"
    width: int = 1280
    text: int = 100

    def __str__(self) -> str:
        return f"{self.width}-{self.theme}" + (f"-{self.text}" if self.text != 100 else "")


WALKED = (Setting(), Setting(theme="dark", width=390))
EVERY = tuple(Setting(*each) for each in product(("light", "dark"), (1280, 390), (100, 200)))


def set_up(page: Page, setting: Setting) -> None:
    """At a desk larger text is zoom, for which the window is as much smaller; on a phone, the size of fonts."""
    is_phone = setting.width == PHONE["width"]
    page.emulate_media(color_scheme=setting.theme, reduced_motion="reduce")  # type: ignore[arg-type]
    window = PHONE if is_phone else {side: length * 100 // setting.text for side, length in WIDE.items()}
    resize(page, window)
    size = setting.text if is_phone else 100
    page.evaluate("size => { document.documentElement.style.fontSize = size }", f"{size}%")


def shoot(page: Page, name: str) -> None:
    """The whole page, in a window as high as it: what sticks to an edge would else be drawn across the middle."""
    SHOTS.mkdir(exist_ok=True)
    before: Any = page.viewport_size
    height = page.evaluate("document.documentElement.scrollHeight")
    resize(page, {"width": before["width"], "height": max(height, before["height"])})
    page.screenshot(path=SHOTS / f"{name}.png")
    resize(page, before)


def look(
    visitor: Visitor, name: str, settings: tuple[Setting, ...] = WALKED, *, pictures: bool = True
) -> None:
    """The page that is open, in each of these settings, and as narrow as a page may be asked to be."""
    page = visitor.page
    before: Any = page.viewport_size
    for setting in EVERY if AUDIT else settings:
        set_up(page, setting)
        if pictures and WITH_PICTURES:
            shoot(page, f"{name}-{setting}")
        judge(page, name, setting)
    set_up(page, Setting())
    resize(page, NARROWEST)
    assert AUDIT or page.evaluate(WIDTH) <= NARROWEST["width"], name
    resize(page, before)


def judge(page: Page, name: str, setting: Setting) -> None:
    """In CI what is found is a failure; in an audit it is written down, and the next setting is looked at."""
    violations = run_axe(page).response["violations"]
    found = [
        (each["id"], [node["html"][:160] for node in nodes])
        for each in violations
        if (nodes := [node for node in each["nodes"] if not is_reached_by_key(page, each["id"], node)])
    ]
    if (width := page.evaluate(WIDTH)) > page.evaluate("innerWidth"):
        found.append(("wider-than-window", [f"{width} px: {page.evaluate(WIDEST)}"]))
    if not AUDIT:
        assert found == [], f"{name} {setting}: {found}"
        return
    with Path(AUDIT).open("a", encoding="utf-8") as seen:
        seen.write(json.dumps([name, str(setting), found]) + "\n")


def is_reached_by_key(page: Page, rule: str, node: dict[str, Any]) -> bool:
    """Of a region that scrolls: axe takes all in a disabled group for disabled, a browser its controls alone."""
    if rule != "scrollable-region-focusable":
        return False
    region = page.locator(node["target"][0])
    reached: bool = region.evaluate("node => { node.focus(); return node === document.activeElement }")
    return reached and region.get_attribute("tabindex") == "0"
