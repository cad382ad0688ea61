"""Justification coding as a participant sees it: a quotation, and a codebook of boxes."""

import pytest

from tests.browser.checking import answers_of, be_on_a_phone, come, hand_in, hand_in_by_keyboard
from tests.browser.conftest import Visitor
from tests.browser.looking import look
from tests.browser.test_item import wait_for_saved
from tests.browser.walking import leave_by, tab_to
from tests.protocol_factories import REASONS, make_justification_coding_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def tick(visitor: Visitor, *tags: str) -> None:
    """Clicks the words of a tag, as a finger or a mouse would."""
    for tag in tags:
        visitor.page.locator(f'label:has(input[name="criteria.{tag}"])').click()


def ticked(answers: dict) -> set[str]:
    return {part for (_, part), value in answers.items() if value == 1}


def test_two_items_by_mouse_and_one_by_keyboard(visitor: Visitor) -> None:
    study = make_justification_coding_study()
    come(visitor, study)
    tick(visitor, "length", "correctness", "context_adherence")
    tick(visitor, "tone")
    tick(visitor, "tone")  # taken back
    hand_in(visitor)
    tick(visitor, "clarity", "length")
    hand_in(visitor)
    be_on_a_phone(visitor)
    tab_to(visitor.page, '[name="criteria.clarity"]')
    visitor.page.keyboard.press("Space")
    tab_to(visitor.page, '[name="criteria.relevance"]')
    visitor.page.keyboard.press("Enter")  # ticks, and does not send the form
    assert visitor.page.locator("#judge :checked").count() == 2
    hand_in_by_keyboard(visitor)
    assert visitor.page.locator("#code").count()
    first, second, third = answers_of(study)
    assert ticked(first) == {"length", "correctness", "context_adherence"}
    assert ticked(second) == {"clarity", "length"}
    assert ticked(third) == {"clarity", "relevance"}
    # What is not ticked is a no.
    assert len(first) == len(second) == len(third) == 10
    visitor.assert_calm()


def test_the_reason_is_a_quotation_under_what_it_was_about(visitor: Visitor) -> None:
    come(visitor, make_justification_coding_study(main=1, items_per_participant=1))
    query, reason = REASONS[0]
    assert query in visitor.page.locator(".query").inner_text()
    assert visitor.page.locator("blockquote").inner_text().strip() == reason
    tags = visitor.page.get_by_role("group", name="What is the reason about?").get_by_role("checkbox")
    assert tags.count() == 11, "ten, and none of these"
    tone = visitor.page.get_by_role("checkbox", name="Tone", exact=True)
    described = tone.get_attribute("aria-describedby")
    assert "How it sounds" in visitor.page.locator(f'[id="{described}"]').inner_text()
    tick(visitor, "length", "correctness", "context_adherence")
    look(visitor, "justification_coding")
    visitor.assert_calm()


def test_another_codebook(visitor: Visitor) -> None:
    come(visitor, make_justification_coding_study(main=1, items_per_participant=1, codebook="lfqa"))
    assert visitor.page.get_by_role("checkbox", name="Easy to understand").count() == 1
    assert visitor.page.locator("#judge input[type=checkbox]").count() == 12
    look(visitor, "justification_coding_lfqa")
    visitor.assert_calm()


def test_a_draft_comes_back_with_its_ticks_alone(visitor: Visitor) -> None:
    come(visitor, make_justification_coding_study(main=1, items_per_participant=1))
    tick(visitor, "tone", "length")
    wait_for_saved(visitor.page)
    with visitor.page.expect_response("**/draft/"):
        tick(visitor, "tone")
    visitor.page.reload()
    kept = visitor.page.locator("#judge :checked").evaluate_all("all => all.map(each => each.name)")
    assert kept == ["criteria.length"]


def test_without_scripts(new_visitor) -> None:
    study = make_justification_coding_study(main=1, items_per_participant=1)
    visitor = new_visitor(java_script_enabled=False)
    come(visitor, study)
    tick(visitor, "tone")
    leave_by(visitor.page.get_by_role("button", name="Submit and continue"))
    assert visitor.page.locator("#code").count()
    assert [ticked(each) for each in answers_of(study)] == [{"tone"}]
