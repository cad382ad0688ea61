"""Every protocol with long texts in windows of all sizes, in every language: what is in view while a response is read.

python -m tests.browser.windows                   # a quarter of an hour
python -m tests.browser.windows 320x256 844x390   # these sizes alone
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from tests.browser.walking import resize

HERE = Path(__file__).resolve().parent
# Where an audit has it written what was measured; empty in CI, where some of it is asserted.
AUDIT = os.environ.get("ASSAY_WINDOWS", "")
LANGUAGES = ("en", "de", "es", "ar")
# Of an audit, the sizes that it is limited to.
SIZES = tuple(os.environ.get("ASSAY_WINDOW_SIZES", "").split())
# What four times the size leaves of 1280 x 800 with the browser's bars.
ZOOMED = (320, 256)
# Phones with their browser's bars, upright and on their side, a tablet, laptops; then 1280 x 800 at 200 and 400 %.
WINDOWS = (
    (320, 568), (360, 640), (390, 664), (412, 785), (844, 390), (768, 1024), (1366, 625), (1280, 800), (1440, 900),
    (640, 400), ZOOMED,
)  # fmt: skip
ASKED = tuple(each for each in WINDOWS if not SIZES or "x".join(map(str, each)) in SIZES)
IN_CI = ((390, 664), (1366, 625), (1280, 800), ZOOMED)

# What is in view while the text that is judged is read, from its middle; then what overlaps anywhere on the page.
# A control that a button opens counts as in view where the button is. Of a question that is cut, what opens it must be.
MEASURE = r"""async () => {
  const turned = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  const isDrawn = node => node.getClientRects().length > 0 && getComputedStyle(node).clipPath === "none";
  const all = selector => [...document.querySelectorAll(selector)];
  const text = all(".pane:not([hidden]) .body, .response .body, .entry .body, "
    + ".quotation .body, .follow-up .said, .calibrated").find(isDrawn) ?? document.getElementById("judge");
  const controls = all("#judge :is([role=radiogroup], textarea, [type=checkbox], .handle)")
    .filter(node => !node.closest(".pane[hidden], .fragments, .documents, .references, .chip"))
    .filter(node => !node.matches("textarea") || node.closest(".dock, .exchange"))
    .filter(node => !node.matches("[role=radiogroup] *"));
  const isSeen = node => {
    const shown = isDrawn(node) ? node.closest("label") ?? node
      : node.closest(".dock") ? document.querySelector(".dock .fold") : null;
    if (!shown) return false;
    const box = shown.getBoundingClientRect();
    const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    const isOn = box.top >= 0 && box.bottom <= innerHeight + 1 && box.height > 0;
    return isOn && (shown.contains(hit) || !!hit?.contains(shown));
  };
  const found = new Set();
  const page = document.documentElement;
  scrollTo({ top: 0, behavior: "instant" });
  await turned();
  // Here a long question is whole.
  if (page.scrollWidth > innerWidth) found.add("wider than the window");
  const place = text.getBoundingClientRect();
  scrollTo({ top: scrollY + place.top + place.height / 2 - innerHeight / 2, behavior: "instant" });
  await turned();
  const seen = controls.filter(isSeen).length;
  const across = text.getBoundingClientRect();
  let room = 0;
  for (let y = 1; y < innerHeight; y += 2) {
    if (text.contains(document.elementFromPoint(across.x + across.width / 2, y))) room += 2;
  }
  const opens = part => [...part?.querySelectorAll(".show-all") ?? []].some(isDrawn);
  const name = node => node.className.toString().split(" ").slice(0, 2).join(".") || node.tagName.toLowerCase();
  for (const node of all(".bar *, main *, .foot *")) {
    if (!isDrawn(node) || node.closest(".hidden, svg, math, pre, select, .fold, .documents, .fragments")) continue;
    const style = getComputedStyle(node);
    const hides = value => value === "hidden" || value === "clip";
    if (style.position === "absolute" && node.clientWidth <= 1) continue;
    const wide = hides(style.overflowX) && node.scrollWidth > node.clientWidth + 1;
    const high = hides(style.overflowY) && node.scrollHeight > node.clientHeight + 2;
    if ((wide || high) && node.textContent.trim() && !opens(node.closest(".stays"))) {
      if (!node.matches(".seg, .response, .checks, .body, .facts")) found.add("cut: " + name(node));
    }
  }
  const question = document.querySelector(".stays");
  const isCut = question && question.scrollHeight > question.clientHeight + 2;
  if (isCut && !opens(question)) found.add("cut: question");
  // What is at the top and what is at the foot of the window meet where a page ends, and must not there.
  const sticks = node => isDrawn(node) && getComputedStyle(node).position === "sticky"
    && getComputedStyle(node).visibility !== "hidden";
  const atTop = () => all(".stays, .check.head").filter(sticks);
  const isStuck = node =>
    Math.abs(node.getBoundingClientRect().bottom - innerHeight + parseFloat(getComputedStyle(node).bottom)) < 2;
  const isAtFoot = node => sticks(node) && getComputedStyle(node).bottom !== "auto"
    && (node.matches(".dock") || isStuck(node));
  const atFoot = () => all(".dock, .foot, .rates, .asked-beside, .to-check").filter(isAtFoot);
  const end = document.documentElement.scrollHeight;
  for (const top of [0, scrollY, end / 2, end - innerHeight * 1.5, end]) {
    scrollTo({ top, behavior: "instant" });
    await turned();
    const [heads, feet] = [atTop(), atFoot()];
    for (const one of [...all(".bar").filter(sticks), ...feet.filter(isStuck)]) {
      const box = one.getBoundingClientRect();
      const middle = (Math.max(box.top, 0) + Math.min(box.bottom, innerHeight)) / 2;
      const hit = document.elementFromPoint(box.x + box.width / 2, middle);
      if (hit && ![one, ...feet].some(each => each.contains(hit))) found.add(`covered: ${name(one)}`);
    }
    for (const one of [...heads, ...feet]) for (const other of feet) {
      if (feet.indexOf(one) >= feet.indexOf(other)) continue;
      if (one.contains(other) || other.contains(one)) continue;
      const a = one.getBoundingClientRect(), b = other.getBoundingClientRect();
      const down = Math.min(a.bottom, b.bottom, innerHeight) - Math.max(a.top, b.top, 0);
      const over = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      if (down > 3 && over > 3) found.add(`over: ${name(one)} ${name(other)}`);
    }
  }
  if (page.scrollWidth > innerWidth) found.add("wider than the window");
  const others = all("[role=tab]").length - 1;
  const again = Math.max(0, others) * (document.querySelector(".pane:not([hidden])")?.offsetHeight ?? 0);
  const way = page.scrollHeight - innerHeight + again;
  return { seen, controls: controls.length, room, found: [...found].sort(), way };
}"""


def measure(page: Page, window: tuple[int, int]) -> dict[str, Any]:
    """What is in view in this window; of tabs, in the first, with the way through the others as long as it."""
    resize(page, {"width": window[0], "height": window[1]})
    tabs = page.get_by_role("tab")
    if tabs.count():
        tabs.first.evaluate("node => node.click()")
    measured: dict[str, Any] = page.evaluate(MEASURE)
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    return measured


def write_down(protocol: str, language: str, window: tuple[int, int], measured: dict[str, Any]) -> None:
    with Path(AUDIT).open("a", encoding="utf-8") as file:
        file.write(
            json.dumps({"protocol": protocol, "language": language, "window": window, **measured}) + "\n"
        )


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="assay-windows-") as folder:
        seen = Path(folder) / "seen.jsonl"
        seen.touch()
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-n",
            "2",
            "--nomigrations",
            str(HERE / "test_windows.py"),
        ]
        environment = os.environ | {"ASSAY_WINDOWS": str(seen), "ASSAY_WINDOW_SIZES": " ".join(sys.argv[1:])}
        ended = subprocess.run(command, cwd=HERE.parent.parent, env=environment, check=False).returncode
        rows = [json.loads(line) for line in seen.read_text(encoding="utf-8").splitlines()]
    sys.stdout.write("\n" + "\n".join(report(rows)) + "\n")
    return ended or int(any(row["found"] for row in rows))


def report(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """By protocol and window, of the language that has the least: controls in view of all, pixels of the window in
    which the text is read, and pixels to scroll; then what is cut or covered."""
    by: dict[str, dict[tuple[int, int], list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    faults: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        window = tuple(row["window"])
        by[row["protocol"]][window].append(row)
        for each in row["found"]:
            faults[each, row["protocol"]].add(f"{window[0]} x {window[1]} {row['language']}")
    windows = [window for window in WINDOWS if any(window in found for found in by.values())]
    yield f"| | {' | '.join(f'{width} x {height}' for width, height in windows)} |"
    yield f"| --- |{' --- |' * len(windows)}"
    for protocol in sorted(by):
        yield f"| {protocol} | {' | '.join(_cell(by[protocol][window]) for window in windows)} |"
    yield ""
    yield "| Cut or covered | Protocol | Windows |"
    yield "| --- | --- | --- |"
    for (fault, protocol), places in sorted(faults.items()):
        yield f"| {fault} | {protocol} | {len(places)}: {', '.join(sorted(places)[:4])} |"


def _cell(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return ""
    least = min(rows, key=lambda row: row["seen"] / max(row["controls"], 1))
    room, way = min(row["room"] for row in rows), max(row["way"] for row in rows)
    return f"{least['seen']}/{least['controls']}, {room}, {way:,}"


if __name__ == "__main__":
    sys.exit(main())
