"""A form of one's own: a document beside its summaries, conversations turn by turn, and claims inside a response."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from annotator.services.admission.entry import enter
from evaluation.models import Answer, Study
from evaluation.services.studies.launch import launch_study
from tests.browser.conftest import PHONE, Visitor
from tests.browser.rating import submit
from tests.browser.test_screens import PANEL, look
from tests.browser.walking import resize, take
from tests.evaluation.dumps import build
from tests.rehearsal import own_forms

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def open_item(visitor: Visitor, path: Path, header: dict[str, Any], *items: dict[str, Any]) -> Study:
    study = build.read_in(build.write(path / "own.jsonl", header, *items), slug="own")
    study.steps, study.items_per_participant = {"consent": False}, 1
    study.save()
    launch_study(study)
    participant = enter(study, PANEL)
    visitor.go(f"/p/{participant.token}/")
    return study


def test_summaries_of_a_document(new_visitor: Callable[..., Visitor], tmp_path: Path) -> None:
    visitor = new_visitor()
    article = own_forms.article(1, document="It rained in Hallow, and then it rained more.\n\n" * 40)
    open_item(visitor, tmp_path, own_forms.header(own_forms.aspect_rows(), own_forms.SUMMARIES), article)
    page = visitor.page
    source = page.get_by_role("region", name="News article")
    assert source.evaluate("node => node.scrollHeight > node.clientHeight")
    source.focus()
    page.keyboard.press("End")
    page.wait_for_function("() => document.querySelector('.source').scrollTop > 0")
    assert page.evaluate("window.scrollY") == 0  # it scrolls by itself
    look(visitor, "own_form_summaries")
    # On a small screen it is read whole where it stands; its beginning stays, and opens, while summaries are read.
    resize(page, PHONE)
    whole = source.bounding_box()["height"]
    page.locator(".pane:not([hidden])").scroll_into_view_if_needed()
    page.mouse.wheel(0, 300)
    show = page.get_by_role("button", name="Show all")
    expect(show).to_be_visible()
    assert source.bounding_box()["height"] < 100 < whole
    show.click()
    assert 300 < source.bounding_box()["height"] < PHONE["height"]
    page.get_by_role("button", name="Show less").click()
    for tab in page.get_by_role("tab").all():
        tab.click()
    submit(page)
    assert page.get_by_role("alert").locator("li").count() == 4
    for tab in page.get_by_role("tab").all():
        tab.click()
        for box in page.locator(".pane:not([hidden]) input[value='4']").all():
            take(box)
    assert page.text_content(".missing") == "All questions answered"
    submit(page)
    assert Answer.objects.filter(number=4).count() == 8
    visitor.assert_calm()


def test_conversations_turn_by_turn(new_visitor: Callable[..., Visitor], tmp_path: Path) -> None:
    visitor = new_visitor()
    rows = [*own_forms.turn_rows(), own_forms.claim_row()]
    claims = own_forms.conversation(1)
    claims["responses"][0]["claims"] = ["Seven minutes are enough.", "Height does not matter."]
    open_item(visitor, tmp_path, own_forms.header(rows, own_forms.PAIRS), claims)
    page = visitor.page
    look(visitor, "own_form_turns")
    for turn, said in ((1, "How do I boil 1 eggs?"), (2, "And if I live on a mountain?")):
        exchange = page.get_by_role("region", name=f"Turn {turn}")
        assert said in exchange.inner_text()
        take(exchange.get_by_role("radio", name="Response 2"))
    take(page.locator("[name=preference]").first)
    for claim in page.get_by_role("radiogroup", name="Height does not matter.").all():
        take(claim.get_by_role("radio", name="No"))
    take(page.get_by_role("radiogroup", name="Seven minutes").get_by_role("radio", name="Yes"))
    assert page.text_content(".missing") == "All questions answered"
    submit(page)
    votes = Answer.objects.filter(question="vote").values_list("part", "label")
    assert len({label for _, label in votes}) == 1
    assert {part for part, _ in votes} == {"t1", "t2"}
    assert dict(Answer.objects.filter(question="true").values_list("part", "number")) == {
        "c1.r1": 1,
        "c2.r1": 0,
    }
    visitor.assert_calm()


def test_claims_inside_a_response(new_visitor: Callable[..., Visitor], tmp_path: Path) -> None:
    visitor = new_visitor()
    item = own_forms.article(1, systems=("aspen",))
    item["responses"][0]["claims"] = ["The council voted.", "The council met on Tuesday."]
    needs = {**own_forms.SUMMARIES, "least": 1}
    open_item(visitor, tmp_path, own_forms.header([own_forms.claim_row()], needs), item)
    page = visitor.page
    look(visitor, "own_form_claims")
    inside = page.get_by_role("article", name="Response")
    for claim in inside.get_by_role("radiogroup").all():
        take(claim.get_by_role("radio", name="Yes"))
    submit(page)
    assert Answer.objects.filter(question="true", number=1).count() == 2
    visitor.assert_calm()
