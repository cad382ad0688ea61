"""Skipping on a phone, on every protocol's screen: asked once, counted, undone, used up, and never beside Submit."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page

from annotator.models import Participant
from annotator.services.admission.entry import enter
from evaluation.models import Study
from tests import protocol_factories as made
from tests.annotator.pages import Form
from tests.browser import material
from tests.browser.conftest import PHONE, Visitor
from tests.browser.test_screens import ITEMS_ONLY, PANEL
from tests.browser.walking import resize
from tests.crowd import before

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# Of a finger, between what gives an item away and what hands it in.
APART = 24
TRAINED = ITEMS_ONLY | {"training": True}


def make_pairwise(**fields: Any) -> Study:
    return material.make_study("coffee", **{"steps": ITEMS_ONLY, **fields})


SCREENS: dict[str, Callable[..., Study]] = {
    "pairwise": make_pairwise,
    "aspects": made.make_aspects_study,
    "question_quality": made.make_question_quality_study,
    "relevance": made.make_relevance_study,
    "ranking": made.make_ranking_study,
    "context_validation": made.make_context_validation_study,
    "answer_pairs": made.make_answer_pairs_study,
    "justification_coding": made.make_justification_coding_study,
    "condition_calibration": made.make_condition_calibration_study,
}
TRAINING: dict[str, Callable[..., Study]] = {
    "pairwise": make_pairwise,
    "aspects": made.make_aspects_study,
    "ranking": lambda **fields: made.make_ranking_study(training=True, **fields),
    "condition_calibration": lambda **fields: made.make_condition_calibration_study(training=True, **fields),
}
every_screen = pytest.mark.parametrize("make", SCREENS.values(), ids=SCREENS)


def plain_and_longest(screens: dict[str, Callable[..., Study]]) -> pytest.MarkDecorator:
    """The simplest screen and the longest; what all share is asked of the others in the audit."""
    of_audit = screens.keys() - {"pairwise", "condition_calibration"}
    marks = {name: [pytest.mark.audit] * (name in of_audit) for name in screens}
    return pytest.mark.parametrize(
        "make", [pytest.param(make, marks=marks[name], id=name) for name, make in screens.items()]
    )


def come(visitor: Visitor, make: Callable[..., Study], **fields: Any) -> Participant:
    resize(visitor.page, PHONE)
    participant = enter(make(**{"skips": {"per_participant": 2}, **fields}), PANEL)
    visitor.go(f"/p/{participant.token}/")
    return participant


def skip_button(page: Page) -> Locator:
    return page.get_by_role("button", name="Skip this item")


def box(found: Locator) -> dict[str, float]:
    box = found.bounding_box()
    assert box is not None
    return dict(box)


def assert_apart(page: Page) -> None:
    """Wherever the page is scrolled so that both can be seen, what skips stands above what submits, a finger away."""
    skips, submits = skip_button(page), page.get_by_role("button", name="Submit")
    for edge in ("start", "center", "end"):
        skips.evaluate("(node, edge) => node.scrollIntoView({block: edge, behavior: 'instant'})", edge)
        upper, lower = box(skips), box(submits)
        seen = page.locator(".skip-item button").evaluate(
            "node => { const at = node.getBoundingClientRect();"
            " return node.contains(document.elementFromPoint(at.x + at.width / 2, at.y + at.height / 2)) }"
        )
        # What is behind the foot can't be touched.
        assert not seen or upper["y"] + upper["height"] + APART <= lower["y"], (edge, upper, lower)
    skips.evaluate("node => node.scrollIntoView({block: 'center', behavior: 'instant'})")
    assert upper["height"] >= 40
    assert upper["x"] >= 0
    assert upper["x"] + upper["width"] <= PHONE["width"]


def left(page: Page) -> str:
    return " ".join(page.locator(".skip-item").text_content().split())


def skip(page: Page) -> None:
    skip_button(page).click()
    page.get_by_role("dialog").get_by_role("button", name="Skip it").click()
    page.get_by_text("You skipped an item.").wait_for()


@every_screen
def test_skipping_is_asked_counted_undone_and_used_up(visitor: Visitor, make: Callable[..., Study]) -> None:
    participant = come(visitor, make, skips={"per_participant": 1})
    first, page = before(participant.token), visitor.page
    assert left(page) == "Skip this item 1 skip left"
    assert_apart(page)
    skip_button(page).click()
    dialog = page.get_by_role("dialog", name="Skip this item?")
    assert "This is the last item that you can skip" in dialog.text_content()
    for button in dialog.get_by_role("button").all():
        assert box(button)["x"] + box(button)["width"] <= PHONE["width"]
    dialog.get_by_role("button", name="No, go back").click()
    assert before(participant.token) == first
    skip(page)
    assert before(participant.token) != first
    page.get_by_role("button", name="Undo the skip").click()
    page.get_by_text("Here is the item you skipped.").wait_for()
    assert before(participant.token) == first
    assert left(page) == "Skip this item 1 skip left"
    skip(page)
    current = before(participant.token)
    assert current != first
    assert left(page) == "Skip this item No skips left"
    assert skip_button(page).is_visible()
    assert skip_button(page).is_disabled()
    assert_apart(page)
    skip_button(page).click(force=True)
    assert page.get_by_role("dialog").count() == 0
    assert before(participant.token) == current
    # Until the next submit it can be undone.
    form = Form(page.content())
    target = f"{visitor.base}/p/{participant.token}/a/{current.pk}/submit/"
    assert page.request.post(target, form=form.filled_in()).ok
    page.reload()
    assert page.get_by_role("button", name="Undo the skip").count() == 0
    visitor.assert_calm()


def test_of_two_skips_one_is_left(visitor: Visitor) -> None:
    come(visitor, make_pairwise)
    page = visitor.page
    assert left(page) == "Skip this item 2 skips left"
    skip_button(page).click()
    assert "You can skip 2 more items in this study" in page.get_by_role("dialog").text_content()
    page.get_by_role("dialog").get_by_role("button", name="Skip it").click()
    page.get_by_text("You skipped an item.").wait_for()
    assert left(page) == "Skip this item 1 skip left"
    visitor.assert_calm()


@plain_and_longest(SCREENS)
def test_without_scripts_a_page_asks(new_visitor: Callable[..., Visitor], make: Callable[..., Study]) -> None:
    visitor = new_visitor(java_script_enabled=False)
    participant = come(visitor, make)
    first, page = before(participant.token), visitor.page
    assert "2 skips left" in page.locator(".skip-item").text_content()
    skip_button(page).click()
    page.get_by_role("heading", name="Skip this item?").wait_for()
    assert "You can skip 2 more items in this study" in page.text_content("main")
    page.get_by_role("link", name="No, go back").click()
    assert before(participant.token) == first
    skip_button(page).click()
    page.get_by_role("button", name="Skip it").click()
    assert before(participant.token) != first
    page.get_by_role("button", name="Undo the skip").click()
    assert before(participant.token) == first


@plain_and_longest(SCREENS)
def test_what_is_revised_is_not_skipped(visitor: Visitor, make: Callable[..., Study]) -> None:
    participant = come(visitor, make)
    done, page = before(participant.token), visitor.page
    target = f"{visitor.base}/p/{participant.token}/a/{done.pk}/"
    assert page.request.post(f"{target}submit/", form=Form(page.content()).filled_in()).ok
    page.goto(f"{target}again/")
    assert skip_button(page).count() == 0
    submits = page.get_by_role("button", name="Submit the revised answers")
    leaves = page.get_by_role("link", name="Keep my submitted answers")
    upper, lower = box(submits), box(leaves)
    assert upper["y"] + upper["height"] <= lower["y"], "one below the other"
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    visitor.assert_calm()


@plain_and_longest(TRAINING)
def test_practice_is_not_skipped(visitor: Visitor, make: Callable[..., Study]) -> None:
    participant = come(visitor, make, steps=TRAINED)
    assert before(participant.token).item.role == "training"
    assert skip_button(visitor.page).count() == 0
    assert visitor.page.get_by_role("button", name="Submit").is_visible()
    visitor.assert_calm()
