"""Long responses: the choice and its reason stay in view while they are read, in every protocol, on every screen."""

from collections.abc import Callable
from typing import Any

import pytest

from annotator.services.admission.entry import enter
from evaluation.models import Judgment
from tests import protocol_factories as make
from tests.browser import material
from tests.browser.axe import run_axe
from tests.browser.conftest import FULL_SCREEN as PHONE
from tests.browser.conftest import WIDE as LAPTOP
from tests.browser.conftest import Visitor
from tests.browser.looking import SHOTS
from tests.browser.test_item import wait_for_saved
from tests.browser.test_screens import ITEMS_ONLY, PANEL
from tests.browser.walking import resize, until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SENTENCES = (
    "Most of what is known of this comes from people who were watched for many years.",
    "What holds for a group need not hold for anybody in it.",
    "Whoever wants to be sure measures it at home, twice a day, and writes it down.",
    "In the second week the numbers fall; after a month they are what they were before.",
    "Doctors say so too, though not all of them, and not for everybody.",
)


def long_text(about: str, length: int = 3_000) -> str:
    """Paragraphs of that many characters, one way or the other."""
    text, number = about, 0
    while len(text) < length:
        text += ("\n\n" if number % 6 == 5 else " ") + SENTENCES[number % len(SENTENCES)]
        number += 1
    return text[:length]


def pairwise(arm: dict[str, Any], *, grades: int = 0) -> str:
    study = material.make_draft("long", arms=(arm,), steps=ITEMS_ONLY, items_per_participant=2)
    if grades:
        study.questions.filter(key="preference").update(options={"form": {"points": grades}})
    for n in range(2):
        texts = (long_text("Coffee is fine."), long_text("Coffee is not fine."))
        material.add_item(study, study.arms.get(), f"long-{n}", "Is coffee good for you?", texts)
    return _entered(make.launch(study))


def _entered(study: Any) -> str:
    participant = enter(study, PANEL)
    return f"/p/{participant.token}/"


def _protocol(name: str, systems: tuple[str, ...], texts: tuple[str, ...], **fields: Any) -> str:
    study = make.make_protocol_draft(name, "long", systems=systems)
    for n in range(2):
        make.add_protocol_item(study, f"long-{n}", "How do I start a garden?", texts, **fields)
    return _entered(make.launch(study))


def aspects() -> str:
    texts = tuple(long_text(f"Answer {n} says so.") for n in range(1, 5))
    return _protocol("aspects", ("aspen", "birch", "cedar", "dogwood"), texts, documents=make.DOCUMENTS)


def answer_pairs() -> str:
    texts = (long_text("a raised bed"), long_text("I want a raised bed."))
    more = {
        "information_need": "How to build a raised bed.",
        "clarifying_question": "Which kind of bed do you mean?",
    }
    return _protocol("answer_pairs", ("people", "simulated"), texts, **more)


def relevance() -> str:
    return _protocol("relevance", ("aspen",), (long_text("Take a bed."),), follow_ups=make.ATTRIBUTES)


def relevance_of_one() -> str:
    follow_ups = [make.ATTRIBUTES[0] | {"answer": "Nothing"}]
    return _protocol("relevance", ("aspen",), (long_text("Take a bed."),), follow_ups=follow_ups)


def question_quality() -> str:
    return _protocol("question_quality", ("aspen",), (long_text("Which bed?"),))


def justification_coding() -> str:
    return _protocol("justification_coding", ("people",), (long_text("It is better."),))


def ranking() -> str:
    texts = tuple(long_text(f"Question {n}?") for n in range(3))
    return _protocol("ranking", ("aspen", "birch", "cedar"), texts)


def context_validation() -> str:
    asked = [
        {"question": long_text("Which soil?"), "answers": ["Clay", "Sand", "Chalk"]},
        *make.COFFEE_QUESTIONS,
    ]
    return _protocol("context_validation", (), (), follow_ups=asked)


def condition_calibration() -> str:
    participant = enter(make.make_condition_calibration_study(), PANEL)
    return f"/p/{participant.token}/"


PAIR = (("[name=preference]", "textarea[name=justification]"),)
# Of each protocol: how an item of it is made, and what has to be in view; in the second place, what takes its turn in a
# phone's dock. Of a list that is longer than a third of the screen, its beginning. Of what is ranked or calibrated the
# question stays and the open answers are a press away: their choice is the text itself.
PROTOCOLS: dict[str, tuple[Callable[[], str], tuple[tuple[str, ...], ...]]] = {
    "pairwise": (lambda: pairwise(material.WITHOUT), PAIR),
    "pairwise_with_context": (lambda: pairwise(material.WITH), PAIR),
    "pairwise_graded": (lambda: pairwise(material.WITHOUT, grades=7), PAIR),
    "aspects": (
        aspects,
        (
            tuple(
                f".pane:not([hidden]) [data-question={key}] input"
                for key in ("acceptability", "factuality", "amount_info", "formality")
            ),
            ("[name=best]", "[name=none_appropriate]", "textarea[name=justification]"),
        ),
    ),
    "answer_pairs": (
        answer_pairs,
        (
            (
                *(f"[name={key}]" for key in ("relevance", "usefulness", "naturalness", "overall")),
                "textarea[name=justification]",
            ),
        ),
    ),
    "relevance": (relevance, (("[name='relevance.f1.v1']",),)),
    "relevance_of_one": (relevance_of_one, (("[data-question=relevance] input",),)),
    "question_quality": (question_quality, (("[name='clarification.r1']",),)),
    "justification_coding": (justification_coding, ((".tag:first-child input",),)),
    "context_validation": (context_validation, (("[name='important.f1']",),)),
    "ranking": (ranking, ()),
    "condition_calibration": (condition_calibration, ()),
}
# Of all that a selector finds: what is not wholly on the screen, or lies under something else.
HIDDEN = """selectors => selectors.flatMap(selector => {
    const found = [...document.querySelectorAll(`#judge :is(${selector})`)]
        .map(node => node.closest('label') ?? node);
    if (!found.length) return [`${selector}: not there`];
    return found.filter(node => {
        const box = node.getBoundingClientRect();
        const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
        const isOn = box.top >= 0 && box.bottom <= innerHeight && box.left >= 0 && box.right <= innerWidth;
        return !(isOn && box.height > 20 && (node.contains(hit) || hit?.contains(node)));
    }).map(node => `${selector}: ${JSON.stringify(node.getBoundingClientRect())}`);
})"""
# The share of the screen's height that dock and foot take.
COVERED = """() => ['.foot', '.dock', '.asked-beside', '.rates', '.to-check']
    .map(name => [...document.querySelectorAll(name)].find(node => node.getClientRects().length))
    .filter(node => node && getComputedStyle(node).position === 'sticky' && getComputedStyle(node).bottom !== 'auto')
    .reduce((sum, node) => sum + node.offsetHeight, 0) / innerHeight"""


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_choice_and_reason_are_in_view_while_long_texts_are_read(visitor: Visitor, protocol: str) -> None:
    make_item, faces = PROTOCOLS[protocol]
    path = make_item()
    page = visitor.page
    for viewport in (LAPTOP, PHONE):
        resize(page, viewport)
        visitor.go(path)
        for place in (0, 500):
            place = page.evaluate("place => { scrollTo(0, place); return scrollY }", place)
            for number, face in enumerate(faces):
                if viewport == PHONE and number:
                    page.get_by_role("button", name="Overall").click()
                assert page.evaluate(HIDDEN, list(face)) == []
                assert page.evaluate(COVERED) <= 1 / 3
            assert page.evaluate("scrollY") == place
            if viewport == PHONE and len(faces) > 1:
                page.get_by_role("button", name="Overall").click()
        question, pointer = page.locator(".query > p").first, page.locator(".missing")
        assert 0 < question.bounding_box()["y"] < 130
        assert 0 < pointer.bounding_box()["y"] < viewport["height"]
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        page.screenshot(path=SHOTS / f"long_{protocol}-{viewport['width']}.png")
    visitor.assert_calm()


def test_both_tabs_are_opened_before_submit_and_the_trace_tells(visitor: Visitor) -> None:
    path = pairwise(material.WITHOUT)
    page = visitor.page
    resize(page, PHONE)
    visitor.go(path)
    first, second = page.get_by_role("tab").all()
    assert (first.get_attribute("aria-selected"), second.get_attribute("aria-label")) == (
        "true",
        "Response 2, not opened yet",
    )
    page.evaluate("scrollTo(0, 400)")
    page.keyboard.press("2")
    assert page.locator("[name=preference]:checked").count() == 1
    chosen = page.locator("[name=preference]:checked").input_value()
    page.locator("textarea[name=justification]").click()
    page.keyboard.type("Not 1, n or t.")
    assert page.locator("[name=preference]:checked").input_value() == chosen
    assert page.evaluate("scrollY") == 400
    page.get_by_role("button", name="Submit and continue").click()
    assert page.get_by_role("alert").text_content() == "Open Response 2 before you submit."
    assert second.evaluate("node => node === document.activeElement")
    assert not any(url.endswith("/submit/") for url in visitor.requests)
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tabpanel").get_attribute("aria-labelledby") == second.get_attribute("id")
    assert not page.get_by_role("alert").is_visible()
    # A response that is new is read from its beginning, the other one on where it was left.
    panel, bar = page.get_by_role("tabpanel").bounding_box(), page.locator(".tabs").bounding_box()
    assert abs(panel["y"] - bar["y"] - bar["height"]) < 2
    first.click()
    assert page.evaluate("scrollY") == 400
    assert run_axe(page).violations_count == 0
    # What was opened is opened, also when the page is loaded once more.
    wait_for_saved(page)
    page.reload()
    assert page.locator(".tabs .unread").count() == 0
    with page.expect_navigation():
        page.get_by_role("button", name="Submit and continue").click()
    resize(page, LAPTOP)
    page.reload()
    assert page.get_by_role("tab").count() == 0
    page.keyboard.press("t")
    page.locator("textarea[name=justification]").fill("They are much alike.")
    with page.expect_navigation():
        page.get_by_role("button", name="Submit and continue").click()
    tabbed, wide = Judgment.objects.order_by("pk")
    for judgment, layout in ((tabbed, "tabs"), (wide, "columns")):
        screen = judgment.trace["screen"]
        assert (screen["layout"], screen["docked"]) == (layout, True)
        assert screen["in_view"].keys() == {"r1", "r2"}
        assert all(0 < ms <= judgment.duration_ms for ms in screen["in_view"].values())
    assert tabbed.trace["screen"]["first"] == tabbed.shown.split(",")[0]
    visitor.assert_calm()


def test_the_dock_folds_lets_go_and_keeps_clear_of_a_keyboard(visitor: Visitor) -> None:
    path = pairwise(material.WITH)
    page = visitor.page
    resize(page, PHONE)
    visitor.go(path)
    dock, why = page.locator(".dock"), page.locator("textarea[name=justification]")
    position = "() => getComputedStyle(document.querySelector('.dock')).position"
    page.evaluate("scrollTo(0, 300)")
    before = page.locator(".pane .body p").first.bounding_box()
    fold = page.get_by_role("button", name="Your answer")
    fold.click()
    assert not why.is_visible()
    assert dock.bounding_box()["height"] < 70
    assert page.locator(".pane .body p").first.bounding_box() == before
    page.keyboard.press("t")
    assert "Tie" in dock.locator(".dock-said").inner_text()
    page.reload()
    assert not why.is_visible()
    # What is open is listed, and one press leads there, also into the folded dock.
    page.locator(".missing").click()
    listed = page.locator(".open-answers").get_by_role("button")
    assert listed.all_inner_texts()[-1] == "Why?"
    listed.last.click()
    assert why.evaluate("node => node === document.activeElement")
    assert fold.get_attribute("aria-expanded") == "true"
    # A window that a keyboard has made smaller: the field that is written in stays in sight.
    resize(page, {"width": 390, "height": 450})
    box = why.bounding_box()
    assert 0 < box["y"] < box["y"] + box["height"] <= 450
    resize(page, PHONE)
    why.evaluate("node => node.blur()")
    until(page, lambda: page.evaluate(position) == "sticky")
    # Very large text would cover more than a third.
    page.evaluate("() => { document.documentElement.style.fontSize = '200%' }")
    until(page, lambda: page.evaluate(position) != "sticky")
    visitor.assert_calm()


def test_next_by_key_leads_through_all_scales_to_the_choice(visitor: Visitor) -> None:
    path = aspects()
    page = visitor.page
    resize(page, LAPTOP)
    visitor.go(path)
    for number in range(4):
        for _ in range(4):
            page.keyboard.press("n")
            page.keyboard.press("1")
        states = page.get_by_role("tab").locator(".state").all_text_contents()
        assert states == ["\N{CHECK MARK}"] * (number + 1) + ["0/4"] * (3 - number)
        assert page.locator(".pane:not([hidden])").count() == 1
    page.keyboard.press("n")
    page.keyboard.press("3")
    page.keyboard.press("n")
    page.keyboard.type("n is 1 letter, and nothing else.")
    assert page.locator("textarea[name=justification]").input_value() == "n is 1 letter, and nothing else."
    assert page.locator(".missing").text_content() == "All questions answered"
    assert run_axe(page).violations_count == 0
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    screen = Judgment.objects.get().trace["screen"]
    assert (screen["layout"], len(screen["in_view"])) == ("tabs", 4)
    visitor.assert_calm()
