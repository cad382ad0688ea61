"""Long texts in windows of every size: the choice is in view while they are read, and nothing is cut or covered."""

from itertools import combinations

import pytest
from playwright.sync_api import Page, expect

from tests.browser import material
from tests.browser.axe import run_axe
from tests.browser.conftest import NARROWEST, PHONE, Visitor
from tests.browser.long_items import PROMPT, PROTOCOLS, aspects, long_text, pairwise
from tests.browser.walking import resize, take
from tests.browser.windows import ASKED, AUDIT, IN_CI, LANGUAGES, ZOOMED, measure, write_down

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LAPTOP = {"width": 1366, "height": 625}
# How many of a page's controls are in view at the least; of lists that are longer than what may be covered, the
# beginning. Of what is ranked or calibrated, the choice is the text itself.
LEAST = {
    "pairwise": 2,
    "pairwise_long_prompt": 2,
    "pairwise_with_context": 3,
    "pairwise_graded": 2,
    "aspects": 3,
    "answer_pairs": 5,
    "relevance": 1,
    "relevance_of_one": 1,
    "question_quality": 1,
    "justification_coding": 1,
    "context_validation": 1,
    "ranking": 0,
    "condition_calibration": 0,
    "own_summaries": 3,
    "own_turns": 2,
}
# Of the window's height, what is left for reading.
ROOM = 0.3


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("language", LANGUAGES if AUDIT else ("en",))
def test_a_long_text_is_read_with_its_question_and_controls(
    visitor: Visitor, protocol: str, language: str
) -> None:
    visitor.go(PROTOCOLS[protocol](language))
    for window in ASKED if AUDIT else IN_CI:
        measured = measure(visitor.page, window)
        if AUDIT:
            write_down(protocol, language, window, measured)
            continue
        assert measured["found"] == [], window
        # At 400 % zoom, the one that is answered.
        least = min(LEAST[protocol], 1) if window == ZOOMED else LEAST[protocol]
        assert measured["seen"] >= least, window
        assert measured["room"] >= window[1] * ROOM, window
    visitor.assert_calm()


def test_in_a_low_window_a_button_opens_the_reason(visitor: Visitor) -> None:
    visitor.go(pairwise(material.WITHOUT))
    page = visitor.page
    dock, why = page.locator(".dock"), page.locator("textarea[name=justification]")
    button = dock.get_by_role("button", name="Why?")
    for window in (PHONE, LAPTOP):
        resize(page, window)
        page.evaluate("scrollTo(0, 400)")
        assert not why.is_visible()
        assert dock.bounding_box()["height"] < 100
        button.click()
        expect(why).to_be_focused()
        box = why.bounding_box()
        assert box["y"] > 0
        assert box["y"] + box["height"] <= page.locator(".foot").bounding_box()["y"]
        before = page.locator(".pane .body p").first.bounding_box()
        page.keyboard.type("It says so.")
        assert page.locator(".pane .body p").first.bounding_box() == before
        assert page.evaluate("scrollY") == 400
        assert run_axe(page).violations_count == 0
        # It is shut again on the next page, since the window is as low; what was written is not lost.
        button.click()
        assert not why.is_visible()
    assert why.input_value() == "It says so.It says so."
    assert page.evaluate("localStorage.getItem('assay:dock')") is None
    visitor.assert_calm()


def test_a_long_prompt_is_whole_where_it_stands_and_its_beginning_stays(visitor: Visitor) -> None:
    visitor.go(pairwise(material.WITHOUT, asked=long_text(PROMPT, 1_400)))
    page = visitor.page
    question, show = page.locator(".stays"), page.locator(".show-all")
    for window in (PHONE, LAPTOP):
        resize(page, window)
        page.evaluate("scrollTo(0, 0)")
        prompt = page.locator(".prompt")
        assert prompt.locator("strong").text_content() == "small script"
        assert "\n        return 3\n" in prompt.locator("pre").text_content()
        # It is let go where the page is seen to stand at its top.
        expect(show).not_to_be_visible()
        whole = prompt.bounding_box()
        assert question.bounding_box()["height"] > whole["height"] > 400
        place = "document.querySelector('.pane .body').getBoundingClientRect().top + scrollY"
        before = page.evaluate(place)
        page.evaluate("top => scrollTo(0, top)", before)
        expect(show).to_be_visible()
        assert show.text_content() == "Show all"
        assert abs(page.evaluate(place) - before) < 1
        assert question.bounding_box()["height"] < window["height"] / 5
        show.click()
        expect(show).to_have_attribute("aria-expanded", "true")
        page.locator(".query").evaluate("node => node.scrollTo(0, node.scrollHeight)")
        last, below = prompt.locator("> :last-child").bounding_box(), page.locator(".dock").bounding_box()
        assert last["y"] + last["height"] <= below["y"]
        assert run_axe(page).violations_count == 0
        show.click()
        expect(show).to_have_text("Show all")
        assert abs(page.evaluate(place) - before) < 1
    visitor.assert_calm()


WIDE = (
    f"```python\n{'wide = ' * 20}\n```\n\n"
    f"|{' A rather long column |' * 8}\n|{' --- |' * 8}\n|{' 1 |' * 8}\n\n"
    f"So \\({' + '.join(f'x_{{{n}}}' for n in range(40))}\\) in all.\n\n"
    "> What somebody said.\n\n"
)
# Whether the page is no wider than its window, and whether each of these is scrolled where it stands.
SCROLLED = """selector => {
  const all = [...document.querySelectorAll(selector)].filter(node => node.getClientRects().length);
  return [
    document.documentElement.scrollWidth <= innerWidth,
    all.map(node => node.scrollWidth > node.clientWidth && getComputedStyle(node).overflowX === "auto"
      && node.getBoundingClientRect().right <= innerWidth),
  ];
}"""


@pytest.mark.parametrize("window", [NARROWEST, PHONE, {"width": ZOOMED[0], "height": ZOOMED[1]}])
def test_what_is_wider_than_a_phone_is_scrolled_where_it_stands(
    visitor: Visitor, window: dict[str, int]
) -> None:
    """Code, tables and formulas, of prompt and responses alike: the page is no wider, and nothing is cut."""
    visitor.go(pairwise(material.WITHOUT, asked=WIDE, texts=(WIDE, WIDE)))
    page = visitor.page
    resize(page, window)
    for place in (".prompt", ".pane:not([hidden]) .body"):
        wide = ", ".join(f"{place} > {each}" for each in ("pre", ".wide", "p:has(math)"))
        assert page.evaluate(SCROLLED, wide) == [True, [True] * 3]
        quotation = page.locator(f"{place} > blockquote").first
        assert quotation.evaluate("node => parseFloat(getComputedStyle(node).paddingInlineStart)") == 16
    visitor.assert_calm()


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_opens_a_long_question_covers_nothing_of_it(visitor: Visitor, language: str) -> None:
    """Beside the link to the documents, in whatever language."""
    visitor.go(aspects(language, asked=long_text(PROMPT, 1_400)))
    page = visitor.page
    label, show, documents = (page.locator(f".stays {each}") for each in ("h2", ".show-all", ".to-documents"))
    for window in (NARROWEST, {"width": 360, "height": 640}, PHONE, {"width": 412, "height": 785}):
        resize(page, window)
        page.evaluate("document.querySelector('.pane .body').scrollIntoView()")
        expect(show).to_be_visible()
        boxes = [
            each.evaluate(TEXT_BOX) for each in (label, show, documents.locator("a")) if each.is_visible()
        ]
        for one, other in combinations(sorted(boxes), 2):
            assert one[1] <= other[0], (window, boxes)
    visitor.assert_calm()


# From where to where a text goes in its line.
TEXT_BOX = """node => {
  const range = document.createRange();
  range.selectNodeContents(node);
  const box = range.getBoundingClientRect();
  return [box.left, box.right];
}"""


def test_a_checklist_stands_beside_the_response_that_it_is_about(visitor: Visitor) -> None:
    visitor.go(pairwise(material.WITH))
    page = visitor.page
    first, second = (f'[name="satisfied.f1.{part}"]' for part in parts_of(page))
    # On a large screen beside both responses.
    resize(page, {"width": 1280, "height": 800})
    page.evaluate("scrollTo(0, 900)")
    assert page.locator(first).first.is_visible()
    assert page.locator(second).first.is_visible()
    question, last = (page.locator(each).last.bounding_box() for each in (".checked .fq", ".pair .pane"))
    assert question["x"] >= last["x"] + last["width"]
    # On a small one the choice of the response whose tab is open, over the choice between both.
    resize(page, PHONE)
    assert page.locator(first).first.is_visible()
    assert not page.locator(second).first.is_visible()
    page.get_by_role("tab").last.click()
    assert not page.locator(first).first.is_visible()
    take(page.locator(second).first)
    tallies = page.get_by_role("tab").locator(".tally").all_text_contents()
    assert tallies == ["0 of 4 met", "1 of 4 met"]
    assert run_axe(page).violations_count == 0
    # What is still open leads to the tab of its response.
    page.locator(".missing").click()
    page.locator(".open-answers").get_by_role("button").first.click()
    assert page.get_by_role("tab").first.get_attribute("aria-selected") == "true"
    visitor.assert_calm()


def parts_of(page: Page) -> list[str]:
    """The responses in the order shown."""
    parts: list[str] = page.locator(".pane").evaluate_all("nodes => nodes.map(node => node.dataset.part)")
    return parts
