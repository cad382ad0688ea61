"""The item's page at work: totals, keys, drafts, the lease, and responses that mean harm."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route

from annotator.models import Assignment, Participant, Slot
from annotator.services.admission.entry import enter
from annotator.services.work.submit import submit
from evaluation.models import Judgment
from tests.browser import material
from tests.browser.conftest import PHONE, WIDE, Visitor
from tests.browser.test_screens import ITEMS_ONLY, PANEL
from tests.browser.walking import fill_by_mouse, leave_by, resize, segment, take, until
from tests.crowd import current_assignment, filled_in
from tests.factories import launch

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# Where every part of the page is, to the tenth of a pixel.
PLACES = """() => [...document.querySelectorAll('.bar > *, main *, .foot *, .help *')]
    .filter(node => node.getClientRects().length)
    .map(node => [node, node.getBoundingClientRect()])
    .map(([node, box]) => [node.tagName, node.className, ...['x', 'y', 'width', 'height']
        .map(side => Math.round(box[side] * 10))].join(' '))"""


def open_item(visitor: Visitor, **fields: object) -> Participant:
    participant = enter(material.make_study("coffee", steps=ITEMS_ONLY, **fields), PANEL)
    visitor.go(f"/p/{participant.token}/")
    return participant


def wait_for_saved(page: Page) -> None:
    # Not wait_for_function, which evaluates a string: the policy of the page forbids it.
    page.locator(".saved", has_text=re.compile("^Saved$")).wait_for()


def finish_items(participant: Participant) -> None:
    while (assignment := current_assignment(participant)) is not None:
        submit(participant.token, assignment.pk, filled_in(assignment))


def draft_of(participant: Participant) -> dict[str, str]:
    draft: dict[str, str] = Assignment.objects.get(participant=participant).draft
    return draft


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["1280", "390"])
def test_totals_update_and_nothing_moves(visitor: Visitor, viewport: dict[str, int]) -> None:
    resize(visitor.page, viewport)
    open_item(visitor)
    page = visitor.page
    tallies = page.locator("output.tally")
    assert tallies.all_text_contents() == ["0 of 4 met"] * 2
    assert page.text_content(".missing") == "10 answers left"
    page.mouse.move(0, 0)
    before = page.evaluate(PLACES)
    shown = page.locator(".response").first.locator("h2").get_attribute("id").removeprefix("h-")
    for row in (1, 2, 3):
        take(page.locator(f'[name="satisfied.f{row}.{shown}"][value="1"]'))
    page.locator('[name="satisfied.f1.r1"]').last.evaluate("node => node.blur()")
    page.evaluate("scrollTo(0, 0)")
    assert tallies.all_text_contents() == ["3 of 4 met", "0 of 4 met"]
    assert page.locator(".check.head .tally").all_text_contents() == ["3 of 4 met", "0 of 4 met"]
    assert page.text_content(".missing") == "7 answers left"
    wait_for_saved(page)
    after = page.evaluate(PLACES)
    assert [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]] == []
    shift = page.evaluate(
        "new Promise(done => new PerformanceObserver(list => done(list.getEntries()"
        ".reduce((sum, each) => sum + each.value, 0))).observe({type: 'layout-shift', buffered: true})"
        " || setTimeout(() => done(0), 200))"
    )
    assert shift < 0.001
    visitor.assert_calm()


def test_keys_choose_the_preference_outside_of_text(visitor: Visitor) -> None:
    open_item(visitor)
    page = visitor.page
    shown = page.locator(".response h2").evaluate_all("nodes => nodes.map(node => node.id.slice(2))")
    chosen = "document.querySelector('[name=preference]:checked')?.value"
    for key, value in (("1", shown[0]), ("t", "tie"), ("2", shown[1]), ("T", "tie")):
        page.keyboard.press(key)
        assert page.evaluate(chosen) == value
    page.get_by_label("Why?").focus()
    page.keyboard.type("1 or 2, and t")
    assert page.evaluate(chosen) == "tie"
    page.get_by_label("Keys 1, T and 2").uncheck()
    page.locator("h1").evaluate("() => document.activeElement.blur()")
    page.keyboard.press("1")
    assert page.evaluate(chosen) == "tie"
    wait_for_saved(page)
    page.reload()
    assert not page.get_by_label("Keys 1, T and 2").is_checked()
    visitor.assert_calm()


def test_enter_on_a_choice_does_not_send_the_form(visitor: Visitor) -> None:
    open_item(visitor)
    visitor.page.locator("[name=preference][value=tie]").focus()
    visitor.page.keyboard.press("Enter")
    assert visitor.page.locator("[name=preference][value=tie]").is_checked()
    wait_for_saved(visitor.page)  # a page that was left would have saved nothing here
    assert not any("/submit/" in url for url in visitor.requests)


def test_what_is_put_right_after_a_refusal_survives_a_reload(visitor: Visitor) -> None:
    participant = open_item(visitor)
    page = visitor.page
    with page.expect_navigation():
        page.get_by_role("button", name="Submit and continue").click()
    assert page.get_by_role("alert").evaluate("node => node === document.activeElement")
    segment(page, "preference", "tie")
    page.get_by_label("Why?").fill("Put right, at length")
    wait_for_saved(page)
    page.reload()
    assert page.locator("[name=preference][value=tie]").is_checked()
    assert page.get_by_label("Why?").input_value() == "Put right, at length"
    assert draft_of(participant)["justification"] == "Put right, at length"
    assert page.get_by_role("alert").locator("a").count() == 1  # the cells of the checklist are still open
    visitor.assert_calm()


def save_it(page: Page, act: Callable[[], None]) -> None:
    """Does something to the form, and waits until exactly that is kept."""
    with page.expect_response(lambda answer: answer.url.endswith("/draft/")):
        act()
    wait_for_saved(page)


def test_a_text_that_was_cleared_on_purpose_stays_empty(visitor: Visitor) -> None:
    participant = open_item(visitor)
    page = visitor.page
    why = page.get_by_label("Why?")
    save_it(page, lambda: why.press_sequentially("Not so"))
    save_it(page, lambda: why.clear())
    assert draft_of(participant)["justification"] == ""
    page.reload()
    assert why.input_value() == ""
    save_it(page, lambda: why.fill("Rather so"))
    page.reload()
    assert why.input_value() == "Rather so"
    # What the page was loaded with is cleared like what was typed on it, also by a submit that is refused.
    why.fill("")
    with page.expect_navigation():
        page.get_by_role("button", name="Submit and continue").click()
    page.reload()
    assert why.input_value() == ""
    assert draft_of(participant)["justification"] == ""
    visitor.assert_calm()


def test_an_old_page_and_a_form_sent_once_more_clear_nothing(visitor: Visitor) -> None:
    """Two windows, both opened before anything was filled in; the second one only ever knew an empty text."""
    participant = open_item(visitor)
    page, other = visitor.page, visitor.page.context.new_page()
    other.goto(page.url)
    with page.expect_navigation():
        page.get_by_role("button", name="Submit and continue").click()
    save_it(page, lambda: page.get_by_label("Why?").fill("Written after the refusal"))
    page.reload()
    assert page.get_by_label("Why?").input_value() == "Written after the refusal"
    save_it(other, lambda: segment(other, "preference", "tie"))
    with other.expect_navigation():
        other.get_by_role("button", name="Submit and continue").click()
    assert other.get_by_label("Why?").input_value() == "Written after the refusal"
    assert draft_of(participant)["preference"] == "tie"
    visitor.assert_calm()


def test_without_scripts_an_emptied_text_stays_empty(new_visitor: Callable[..., Visitor]) -> None:
    visitor = new_visitor(java_script_enabled=False)
    open_item(visitor)
    page = visitor.page
    page.get_by_label("Why?").fill("So far")
    for text in ("So far", ""):
        page.get_by_label("Why?").fill(text)
        leave_by(page.get_by_role("button", name="Submit and continue"))
        assert page.get_by_label("Why?").input_value() == text
        page.reload()
        assert page.get_by_label("Why?").input_value() == text


def test_comments_that_are_refused_survive_a_reload(visitor: Visitor) -> None:
    participant = enter(material.make_study("coffee", steps=ITEMS_ONLY), PANEL)
    finish_items(participant)
    visitor.go(f"/p/{participant.token}/")
    page = visitor.page
    page.locator("#comments").evaluate("field => field.removeAttribute('maxlength')")
    page.locator("#comments").fill("y" * 5_001)
    with page.expect_navigation():
        page.get_by_role("button", name="Finish").click()
    page.reload()
    assert page.locator("#comments").input_value() == "y" * 5_001
    assert "too long" in (page.text_content("#comments-e") or "")
    page.locator("#comments").fill("Shorter.")
    with page.expect_navigation():
        page.get_by_role("button", name="Finish").click()
    participant.refresh_from_db()
    assert (participant.comments, participant.outcome) == ("Shorter.", "completed")
    visitor.assert_calm()


def test_drafts_survive_a_reload(visitor: Visitor) -> None:
    participant = open_item(visitor)
    page = visitor.page
    segment(page, "satisfied.f2.r1", "0")
    segment(page, "preference", "tie")
    page.get_by_label("Why?").fill("So far so good")
    wait_for_saved(page)
    page.get_by_label("Why?").press_sequentially(", and more at once")
    page.reload()
    assert page.locator('[name="satisfied.f2.r1"][value="0"]').is_checked()
    assert page.locator("[name=preference][value=tie]").is_checked()
    typed = "So far so good, and more at once"
    until(page, lambda: draft_of(participant).get("justification") == typed)
    page.reload()  # what was typed last went out while the page was left
    assert page.get_by_label("Why?").input_value() == typed
    assert int(draft_of(participant)["visible_ms"]) > 500
    fill_by_mouse(page)
    leave_by(page.get_by_role("button", name="Submit and continue"))
    assert Judgment.objects.get().visible_ms > 500
    visitor.assert_calm()


def test_a_draft_on_its_way_is_given_up_when_its_item_is_submitted(visitor: Visitor) -> None:
    open_item(visitor)
    page = visitor.page
    fill_by_mouse(page)
    given_up: list[str] = []
    when_submitted: list[int] = []

    def submit_item(route: Route) -> None:
        when_submitted.append(len(given_up))
        route.continue_()

    page.on("requestfailed", lambda request: given_up.append(request.url))
    # A draft that arrives behind its item is refused, which a slow draft would learn with the page still open.
    page.route("**/draft/", lambda route: None)
    page.route(re.compile("/submit/"), submit_item)
    with page.expect_request("**/draft/"):
        page.get_by_label("Why?").press_sequentially(".")
    leave_by(page.get_by_role("button", name="Submit and continue"))
    assert when_submitted == [1]
    assert Judgment.objects.count() == 1


def test_warning_before_the_lease_ends_moves_nothing(visitor: Visitor) -> None:
    participant = enter(material.make_study("coffee", steps=ITEMS_ONLY), PANEL)
    Slot.objects.filter(state="reserved").update(leased_until=timezone.now() + timedelta(seconds=400))
    page = visitor.page
    page.clock.install()
    visitor.go(f"/p/{participant.token}/")
    warning = page.locator(".lease")
    assert not warning.is_visible()
    before = page.evaluate(PLACES)
    page.clock.fast_forward(130_000)
    warning.wait_for(state="visible")
    assert re.search(r"[45] minutes", warning.text_content())
    moved = set(before) - set(page.evaluate(PLACES))
    assert moved == set()
    page.get_by_role("button", name="I need more time").click()
    warning.wait_for(state="hidden")
    assert Slot.objects.get(state="reserved").leased_until > timezone.now() + timedelta(minutes=55)
    visitor.assert_calm()


def test_foot_never_covers_the_last_field(visitor: Visitor) -> None:
    resize(visitor.page, PHONE)
    open_item(visitor)
    page = visitor.page
    page.locator(".dock").get_by_role("button", name="Why?").click()
    field, foot = (page.locator(each).bounding_box() for each in ("textarea[name=justification]", ".foot"))
    assert field["y"] + field["height"] <= foot["y"]


def test_choices_are_a_row_within_reach_on_a_phone(visitor: Visitor) -> None:
    """Docked at the foot: one beside the other, large enough for a thumb, and the chosen one stands out."""
    open_item(visitor)
    page = visitor.page
    resize(page, PHONE)
    segment(page, "preference", "tie")
    choices = page.locator("[data-kind=preference] .seg label > span")
    boxes = [each.bounding_box() for each in choices.all()]
    assert len({each["y"] for each in boxes}) == 1
    assert all(each["height"] >= 44 for each in boxes)
    first, chosen, last = choices.evaluate_all(
        "found => found.map(each => getComputedStyle(each).backgroundColor)"
    )
    assert first == last != chosen
    visitor.assert_calm()


HARM = (
    "<script>alert(1)</script><img src=x onerror=alert(2)>\n\n![p](https://evil.example/p.png)\n\n"
    "[click me](javascript:alert(3))\n\n<iframe src=https://evil.example></iframe><div style=position:fixed;inset:0>"
    "<table><tr><td><b><i>\n\n```\n</textarea></form></main>\n" + "x" * 3_000 + "\n```\n\n"
    "| " + " | ".join(f"column{n}" for n in range(30)) + " |\n|" + " --- |" * 30 + "\n",
    "مرحبا، هذه إجابة طويلة. " * 60 + "\n\n" + "long " * 40_000,
)


@pytest.mark.parametrize("render_as", ["markdown", "plain"])
def test_responses_that_mean_harm(visitor: Visitor, render_as: str) -> None:
    study = material.make_draft("harm", steps=ITEMS_ONLY, render_as=render_as)
    for n in range(2):
        material.add_item(study, study.arms.get(), f"harm-{n}", "<b>مرحبا</b>?", HARM)
    participant = enter(launch(study), PANEL)
    visitor.go(f"/p/{participant.token}/")
    page = visitor.page
    for viewport in (PHONE, WIDE):
        resize(page, viewport)
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    for link in page.locator(".response a").all():
        assert link.get_attribute("href").startswith(("https:", "http:", "mailto:"))
        assert link.get_attribute("rel") == "noopener noreferrer nofollow"
    assert page.locator(".response").count() == 2
    directions = page.locator(".response").filter(has_text="مرحبا").locator(".body > p")
    assert directions.evaluate_all("found => found.map(each => getComputedStyle(each).direction)") == [
        "rtl",
        "ltr",
    ]
    card, form = page.locator(".pair").bounding_box(), page.locator("#judge").bounding_box()
    assert card["width"] <= form["width"]
    fill_by_mouse(page)
    leave_by(page.get_by_role("button", name="Submit and continue"))
    assert Judgment.objects.filter(outcome="ok").count() == 1
    visitor.assert_calm()


@pytest.mark.parametrize("key", ["Tab", "Shift+Tab"])
def test_focus_is_never_behind_what_sticks(visitor: Visitor, key: str) -> None:
    resize(visitor.page, PHONE)
    open_item(visitor, follow_ups=10)
    page = visitor.page
    hidden = """() => { const at = document.activeElement, box = at.getBoundingClientRect();
        if (at === document.body || at.closest('.foot, .bar, .help, .skip') || at.id === 'main') return null;
        const hit = document.elementFromPoint(box.x + box.width / 2, box.y + Math.min(box.height - 2, 20));
        const seen = hit && (at.contains(hit) || hit.contains(at) || hit.closest('label')?.contains(at));
        return seen ? null : at.outerHTML }"""
    page.locator("[name=preference]" if key == "Shift+Tab" else "summary").first.focus()
    for _ in range(24):
        page.keyboard.press(key)
        assert page.evaluate(hidden) is None


def test_the_next_item_comes_with_the_answer_to_the_submit(visitor: Visitor) -> None:
    """One round trip; loaded again, the page asks for itself and sends nothing."""
    participant = open_item(visitor)
    page, address = visitor.page, visitor.page.url
    sent: list[tuple[str, str]] = []
    page.on(
        "request",
        lambda each: each.is_navigation_request() and sent.append((each.method, each.url.partition("?")[0])),
    )
    first = current_assignment(participant)
    assert first is not None
    fill_by_mouse(page)
    leave_by(page.get_by_role("button", name="Submit and continue"))
    assert sent == [("POST", f"{address}a/{first.pk}/submit/")]
    until(page, lambda: page.url == address)
    second = current_assignment(participant)
    assert second is not None
    assert f"a/{second.pk}/submit/" in (page.get_attribute("#judge", "action") or "")
    with page.expect_navigation():
        page.reload()
    assert sent[1:] == [("GET", address)]
    assert Judgment.objects.count() == 1
    with page.expect_navigation():
        page.go_back()
    assert f"a/{second.pk}/submit/" in (page.get_attribute("#judge", "action") or "")
    visitor.assert_calm()
