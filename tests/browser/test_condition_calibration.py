"""Condition calibration in a browser: entries accepted, edited, merged, cited; sets settled; a model asked."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from annotator.models import Assignment, DraftRound
from evaluation import tasks
from evaluation.extension import Reviser
from evaluation.models import Item, Judgment
from evaluation.protocols.entries.sets import Decision, decisions
from tests.browser.checking import be_on_a_phone, come, hand_in_by_keyboard
from tests.browser.checking import hand_in as hand_in_as_it_stands
from tests.browser.conftest import Visitor
from tests.browser.looking import look
from tests.browser.test_item import wait_for_saved
from tests.browser.walking import leave_by, tab_to
from tests.extensions import extend
from tests.protocol_factories import (
    BOILING_DRAFT,
    BOILING_OTHER,
    ITEMS_ONLY,
    make_condition_calibration_study,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CONDITIONS = [each["condition"] for each in BOILING_DRAFT]


def card(page: Page, condition: str) -> Locator:
    """An entry by the condition that it was drafted with."""
    number = CONDITIONS.index(condition) + 1
    return page.locator(f'.calibrated[data-row="e{number}"]')


def press(card: Locator, name: str) -> None:
    card.get_by_role("button", name=name, exact=True).click()


def cite(page: Page, fragment: int) -> None:
    page.locator(f'[data-fragment="{fragment}"] .cite').click()


def statuses(page: Page) -> list[str]:
    return page.locator(".calibrated:visible .status").all_text_contents()


def tick_the_checks(page: Page) -> None:
    for box in page.locator('.tags label:not(:has([name$="~none"]))').all():
        box.click()


def settled() -> tuple[list[dict[str, Any]], Judgment]:
    """The set that was handed in last, and its judgment."""
    judgment = Judgment.objects.latest("pk")
    answers = judgment.answers.filter(question="entries")
    found = sorted(answers, key=lambda answer: int(answer.part[1:]))
    return [json.loads(answer.text) for answer in found], judgment


def hand_in(visitor: Visitor) -> None:
    """Submits; where no check is ticked, none of them is."""
    if not visitor.page.locator('[name^="checks."]:checked').count():
        visitor.page.get_by_role("checkbox", name="None of these").check()
    hand_in_as_it_stands(visitor)


def is_focused(locator: Locator) -> bool:
    return bool(locator.evaluate("node => node === document.activeElement"))


# --- by mouse -----------------------------------------------------------------------------------------------------


def calibrate_boiling(page: Page) -> None:
    sea, mountain, salt = (card(page, CONDITIONS[at]) for at in (0, 1, 3))
    expect(page.locator(".missing")).to_have_text("5 answers left")
    press(salt, "Reject")
    expect(salt.locator(".status")).to_have_text("Rejected")
    salt.get_by_role("button", name="Restore").click()
    expect(salt.locator(".status")).to_have_text("Accepted")
    press(salt, "Reject")
    press(mountain, "Edit")
    assert is_focused(mountain.get_by_label("Condition"))
    mountain.get_by_label("Condition").fill("On a high mountain or in a high city")
    mountain.get_by_label("Answers").press("Control+End")
    mountain.get_by_label("Answers").press_sequentially("\n88 °C in La Paz")
    expect(page.locator(".citing")).to_contain_text(
        "Citing for entry 2: On a high mountain or in a high city"
    )
    cite(page, 7)
    cite(page, 5)
    cite(page, 5)
    expect(mountain.locator(".chip:visible b")).to_have_text(["3", "7"])
    sea.locator(".merge-with summary").click()
    sea.locator(".merge-list").get_by_role("button", name="3 Under normal pressure").click()
    expect(sea.get_by_label("Condition")).to_have_value(f"{CONDITIONS[0]}; {CONDITIONS[2]}")
    expect(sea.locator(".chip:visible b")).to_have_text(["1", "10", "12"])
    sea.get_by_label("Condition").fill(CONDITIONS[0])
    page.get_by_role("button", name="Add an entry").click()
    added = page.locator(".calibrated.active")
    added.get_by_label("Condition").fill("In a pressure cooker")
    added.get_by_label("Answers").fill("120 °C")
    cite(page, 4)
    press(added, "Move up")
    expect(page.locator(".missing")).to_have_text("1 answer left")
    assert statuses(page) == ["Merged", "Merged into entry 1", "Rejected", "Added", "Edited"]


def check_boiling() -> None:
    entries, judgment = settled()
    assert [entry["condition"] for entry in entries] == [
        CONDITIONS[0],
        "In a pressure cooker",
        "On a high mountain or in a high city",
    ]
    assert [entry["origins"] for entry in entries] == [["r1.e1", "r1.e3"], [], ["r1.e2"]]
    assert [entry["citations"] for entry in entries] == [[1, 10, 12], [4], [3, 7]]
    assert entries[2]["answers"] == ["About 70 °C on the summit of Mount Everest", "88 °C in La Paz"]
    assert decisions(judgment.item.stimulus, entries) == {
        "r1.e1": Decision.MERGED,
        "r1.e2": Decision.EDITED,
        "r1.e3": Decision.MERGED,
        "r1.e4": Decision.REJECTED,
    }
    acts = judgment.trace["entries"]
    assert [act["ms"] for act in acts] == sorted(act["ms"] for act in acts)
    assert [(act["act"], act["row"]) for act in acts][:4] == [
        ("reject", "e4"),
        ("restore", "e4"),
        ("reject", "e4"),
        ("edit", "e2"),
    ]
    assert {"act": "merge", "row": "e1", "with": "e3"}.items() <= acts[8].items()
    assert {"act": "move", "row": "e5", "from": 3, "to": 2}.items() <= acts[-1].items()
    assert judgment.answers.filter(question="checks", number=1).count() == 3


def test_two_items_by_mouse(visitor: Visitor) -> None:
    come(visitor, make_condition_calibration_study(main=2))
    page = visitor.page
    for _ in range(2):
        if page.locator(".query", has_text="bread").count():
            expect(page.locator(".no-entries")).to_be_visible()
            page.get_by_role("button", name="Add an entry").click()
            page.locator(".calibrated").get_by_label("Answers").fill("Three months in the freezer\n\n")
            cite(page, 3)
            tick_the_checks(page)
            hand_in(visitor)
            [entry], _ = settled()
            assert (entry["condition"], entry["answers"]) == ("", ["Three months in the freezer"])
            assert (entry["citations"], entry["origins"]) == ([3], [])
        else:
            calibrate_boiling(page)
            tick_the_checks(page)
            hand_in(visitor)
            check_boiling()
    assert page.text_content("#code") == "C1TUA9KX"
    visitor.assert_calm()


def test_a_draft_restores_everything_and_nothing_moves_when_one_decides(visitor: Visitor) -> None:
    come(visitor, make_condition_calibration_study(main=1))
    page = visitor.page
    calibrate_boiling(page)
    page.get_by_label("Any other comments").fill("A pot on a fire.")
    wait_for_saved(page)
    shown = """() => [...document.querySelectorAll('.calibrated:not(.offered)')].map(each => [each.dataset.row,
        each.querySelector('.status').textContent, each.querySelector('[name$=".answers"]').value,
        [...each.querySelectorAll('.chip :checked')].map(box => box.name).join()])"""
    before = page.evaluate(shown)
    page.reload()
    assert page.evaluate(shown) == before
    # Drawn by the server before the script comes, it looks the same.
    page.route("**/entries.js", lambda route: route.abort())
    page.reload()
    assert page.evaluate(shown) == before
    page.unroute("**/entries.js")
    page.reload()
    places = """() => [...document.querySelectorAll('.calibrated, .fragments li, .ask')].map(node => {
        const from = node.closest('ol')?.getBoundingClientRect().y ?? -scrollY;
        const box = node.getBoundingClientRect(); return [box.x, box.y - from, box.width, box.height].join() })"""
    before = page.evaluate(places)
    press(card(page, CONDITIONS[1]), "Accept")
    page.locator(".calibrated.added").get_by_label("Reason").focus()
    cite(page, 9)
    cite(page, 9)
    assert page.evaluate(places) == before
    hand_in(visitor)
    entries, judgment = settled()
    assert len(entries) == 3
    assert judgment.trace["entries"][0]["act"] == "reject"
    visitor.complaints = [text for text in visitor.complaints if "ERR_FAILED" not in text]
    visitor.assert_calm()


def test_what_is_refused_is_kept_and_led_to(visitor: Visitor) -> None:
    come(visitor, make_condition_calibration_study(main=1))
    page = visitor.page
    card(page, CONDITIONS[1]).get_by_label("Reason").fill("Height.")
    press(card(page, CONDITIONS[0]), "Accept")
    press(card(page, CONDITIONS[3]), "Reject")
    hand_in(visitor)
    alert = page.get_by_role("alert")
    assert is_focused(alert)
    assert alert.locator("li").all_text_contents() == ["Entry 3: Please accept or reject this entry."]
    assert statuses(page) == ["Accepted", "Edited", "Draft", "Rejected"]
    expect(card(page, CONDITIONS[1]).get_by_label("Reason")).to_have_value("Height.")
    alert.get_by_role("link").click()
    assert is_focused(card(page, CONDITIONS[2]))
    look(visitor, "condition_calibration_with_errors")
    visitor.assert_calm()


# --- by keyboard --------------------------------------------------------------------------------------------------


def test_an_item_by_keyboard_alone_on_a_phone(visitor: Visitor) -> None:
    come(visitor, make_condition_calibration_study(main=1))
    be_on_a_phone(visitor)
    page = visitor.page
    keys = page.keyboard
    on = '.calibrated[data-row="e{}"] {}'.format
    # Beside the link to the content and the button of the fragments, nothing comes before the entries.
    tab_to(page, on(1, "*"), limit=4)
    tab_to(page, on(1, ".accept"))
    keys.press("Enter")
    tab_to(page, on(1, ".down"))
    keys.press("Space")
    expect(page.locator(".entries > [role=status]")).to_have_text("Entry 2 of 4")
    assert is_focused(page.locator(on(1, ".down")))
    tab_to(page, on(1, ".by-number input"))
    keys.type("2")
    keys.press("Enter")
    expect(page.locator(".entries > [role=status]")).to_have_text("Entry 2 cites fragment 2")
    keys.type("77")
    keys.press("Enter")
    expect(page.locator(".entries > [role=status]")).to_have_text("There is no fragment 77")
    # The fragments come over the page, and the focus goes back to where it was.
    keys.press("Tab")
    keys.press("Enter")
    expect(page.locator("#documents")).to_be_visible()
    tab_to(page, '[data-fragment="3"] .cite')
    keys.press("Space")
    expect(page.locator('[data-fragment="3"] .cite')).to_have_attribute("aria-pressed", "true")
    keys.press("Escape")
    expect(page.locator("#documents")).not_to_be_visible()
    assert is_focused(page.locator(on(1, ".cites .open-fragments")))
    # A citation is dropped where it stands; the focus stays among them.
    page.locator(on(1, ".chip:has-text('Boiling point') input")).focus()
    keys.press("Space")
    assert page.evaluate("document.activeElement.name") == "entries.e1.cite.2"
    page.locator(on(1, ".accept")).focus()
    for row in (3, 4):
        tab_to(page, on(row, ".reject"))
        keys.press("Enter")
        assert is_focused(page.locator(on(row, ".restore")))
    keys.press("Enter")
    assert is_focused(page.locator(on(4, "textarea.condition")))
    keys.type("!")
    page.locator(on(2, ".edit")).focus()
    tab_to(page, on(2, ".merge-with summary"))
    keys.press("Enter")
    tab_to(page, on(2, '[data-with="e4"]'))
    keys.press("Enter")
    assert is_focused(page.locator(on(2, "textarea.condition")))
    tab_to(page, '[name="checks.covers"]')
    keys.press("Space")
    hand_in_by_keyboard(visitor)
    assert page.text_content("#code") == "C1TUA9KX"
    entries, judgment = settled()
    assert [entry["origins"] for entry in entries] == [["r1.e2", "r1.e4"], ["r1.e1"]]
    assert [entry["citations"] for entry in entries] == [[3, 6], [2, 3, 12]]
    assert judgment.answers.get(question="checks", part="covers").number == 1
    assert judgment.answers.get(question="checks", part="supported").number == 0
    visitor.assert_calm()


def test_merged_quotations_are_dropped_one_by_one(visitor: Visitor) -> None:
    quoted = [{"title": title, "text": f"{title} says so."} for title in ("Almanac", "Bulletin", "Chronicle")]
    drafts = [BOILING_DRAFT[at] | {"citations": quoted[at : 2 * at + 1]} for at in (0, 1)]
    come(visitor, make_condition_calibration_study(main=1, drafts=(tuple(drafts),)))
    page = visitor.page
    sea = card(page, CONDITIONS[0])
    sea.locator(".merge-with summary").click()
    sea.locator(".merge-list button").click()
    expect(sea.locator(".chip.quoted")).to_have_text(["Almanac", "Bulletin", "Chronicle"])
    sea.locator(".chip", has_text="Bulletin").click()
    expect(sea.locator(".chip.quoted")).to_have_text(["Almanac", "Chronicle"])
    hand_in(visitor)
    [entry], _ = settled()
    assert entry["citations"] == [quoted[0], quoted[2]]
    visitor.assert_calm()


# --- settling -----------------------------------------------------------------------------------------------------


def test_sets_are_settled_side_by_side(visitor: Visitor) -> None:
    study = make_condition_calibration_study(main=1, drafts=(BOILING_DRAFT, BOILING_OTHER))
    come(visitor, study)
    page = visitor.page
    expect(page.locator(".no-entries")).to_be_visible()
    expect(page.locator(".missing")).to_have_text("2 answers left")
    assert page.locator(".calibrated:visible").count() == 0
    assert "or in a high city" in " ".join(page.locator(".sets mark").all_text_contents())
    rows = {each["condition"]: f"e{n}" for n, each in enumerate((*BOILING_DRAFT, *BOILING_OTHER[1:]), 1)}
    cooker = f"e{len(BOILING_DRAFT) + 3}"
    take = '[data-offers="{}"] .take'.format
    page.locator(take(cooker)).click()
    page.locator(take(rows[CONDITIONS[3]])).click()
    expect(page.locator(take(rows[CONDITIONS[3]]))).to_contain_text("Taken as entry 2")
    page.locator(take(rows[CONDITIONS[3]])).click()
    expect(page.locator(take(rows[CONDITIONS[3]]))).to_contain_text("Take this entry")
    name = "Set 1" if page.locator(".set-cell").first.locator(take("e1")).count() else "Set 2"
    page.get_by_role("button", name=f"Take all 4 of {name}").click()
    assert statuses(page) == ["Accepted"] * 5
    look(visitor, "condition_calibration_settling")
    hand_in(visitor)
    entries, judgment = settled()
    assert [entry["origins"] for entry in entries] == [["r2.e3"], *([f"r1.e{n}"] for n in range(1, 5))]
    assert judgment.trace["entries"][0] | {"ms": 0} == {"act": "add", "row": cooker, "of": "r2.e3", "ms": 0}
    visitor.assert_calm()


def test_a_whole_set_leaves_out_what_was_merged_from_it(visitor: Visitor) -> None:
    study = make_condition_calibration_study(main=1, drafts=(BOILING_DRAFT, BOILING_OTHER))
    come(visitor, study)
    page = visitor.page
    take = '[data-offers="{}"] .take'.format
    other = len(BOILING_DRAFT) + 2
    page.locator(take("e2")).click()
    page.locator(take(f"e{other}")).click()
    mountain = page.locator('.calibrated[data-row="e2"]')
    mountain.locator(".merge-with summary").click()
    mountain.locator(".merge-list button").click()
    name = "Set 2" if page.locator(".set-cell").first.locator(take("e1")).count() else "Set 1"
    page.get_by_role("button", name=re.compile(f"Take all . of {name}")).click()
    assert statuses(page).count("Merged") == 1
    assert statuses(page).count("Accepted") == len(BOILING_OTHER) - 1
    press(mountain, "Reject")
    wait_for_saved(page)
    page.reload()
    # By then one row has both, and both are taken with it.
    page.locator(take("e2")).first.click()
    assert page.locator(take("e2"), has_text="Taken as entry").count() == 2
    visitor.assert_calm()


# --- the model ----------------------------------------------------------------------------------------------------


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A model that adds an entry, and the jobs that wait for a worker."""
    more = BOILING_OTHER[2] | {"origins": []}
    reviser = Reviser(lambda item: "a-model", lambda item, entries, asked: [*entries, more])
    waiting: list[int] = []
    extend(monkeypatch, alone=True, reviser=lambda: reviser)
    monkeypatch.setattr(tasks.work_on_job, "delay", waiting.append)
    return waiting


def test_a_model_revises_and_its_draft_is_taken_over(visitor: Visitor, queue: list[int]) -> None:
    come(visitor, make_condition_calibration_study(main=1))
    page = visitor.page
    card(page, CONDITIONS[0]).get_by_label("Reason").fill("Mine")
    press(card(page, CONDITIONS[3]), "Reject")
    page.get_by_label("What should it change?").fill("Add the pressure cooker.")
    page.get_by_role("button", name="Ask for a revised draft").click()
    expect(page.locator(".asking")).to_contain_text("The model is working")
    expect(page.locator(".ask-model")).to_be_disabled()
    expect(page.locator(".round q")).to_have_text("Add the pressure cooker.")
    press(card(page, CONDITIONS[1]), "Accept")  # one goes on meanwhile
    [waiting] = queue
    tasks.work_on_job(waiting)
    expect(page.locator(".asking")).to_contain_text("The model has answered")
    assert len(DraftRound.objects.get().before) == 3
    assert page.locator(".round .offer").count() == 4
    assert statuses(page) == ["Edited", "Accepted", "Draft", "Rejected"]
    page.locator('[data-offers="e104"] .take').click()
    assert statuses(page) == ["Edited", "Accepted", "Draft", "Rejected", "Accepted"]
    look(visitor, "condition_calibration_revised")
    page.get_by_role("button", name="Use this draft instead of mine").click()
    assert statuses(page) == ["Rejected"] * 4 + ["Accepted"] * 4
    hand_in(visitor)
    entries, judgment = settled()
    assert [entry["origins"] for entry in entries] == [["m1.e4"], ["r1.e1"], ["r1.e2"], ["r1.e3"]]
    assert entries[1]["reason"] == "Mine"
    assert [each["instruction"] for each in judgment.trace["rounds"]] == ["Add the pressure cooker."]
    assert [act["act"] for act in judgment.trace["entries"]][:3] == ["edit", "reject", "revise"]
    visitor.assert_calm()


def test_a_model_is_asked_after_a_form_was_refused(visitor: Visitor, queue: list[int]) -> None:
    come(visitor, make_condition_calibration_study(main=1))
    page = visitor.page
    address = page.url.partition("?")[0]
    hand_in(visitor)
    assert page.url != address
    asking, instruction = page.locator(".asking"), page.get_by_label("What should it change?")
    instruction.fill("Add the pressure cooker.")
    page.route(address, lambda route: route.fulfill(body="<p>Nothing of it"))
    with page.expect_response("**/revise/"):
        instruction.press("Control+Enter")
    expect(asking).to_contain_text("The model is working")
    tasks.work_on_job(queue.pop())
    expect(asking).to_contain_text("could not be loaded")
    page.unroute(address)
    instruction.press("Control+Enter")
    expect(page.locator(".round q")).to_have_text(["Add the pressure cooker."] * 2)
    tasks.work_on_job(queue.pop())
    expect(asking).to_contain_text("The model has answered")
    expect(instruction).to_be_editable()
    assert page.url != address
    older = page.locator('[data-round="1"]')
    older.locator("summary").click()
    older.locator(".take").last.click()
    assert statuses(page)[-1] == "Accepted"
    older.locator("summary").click()
    press(page.locator(".calibrated:visible").last, "Reject")
    assert is_focused(older.locator(".take").last)
    assert not Judgment.objects.exists()
    # What the server says, and nothing that a browser says.
    page.route("**/revise/", lambda route: route.abort())
    instruction.press("Control+Enter")
    expect(asking).to_have_text("That did not work. Please try again.")
    page.unroute("**/revise/")
    page.get_by_role("button", name="Ask for a revised draft").click()
    expect(asking).to_have_text("Write what the model should change, then ask again.")


def test_what_a_model_was_asked_does_not_come_back(visitor: Visitor, queue: list[int]) -> None:
    """The draft is saved again after the request: neither that nor the page that is shown then has the instruction."""
    come(visitor, make_condition_calibration_study(main=1))
    page = visitor.page
    asking, instruction = page.locator(".asking"), page.get_by_label("What should it change?")
    # The look that would empty the field comes to nothing, as it comes late on a slow connection.
    page.route(page.url, lambda route: route.abort(), times=1)
    instruction.fill("Add the pressure cooker.")
    with page.expect_response("**/revise/"), page.expect_request_finished(lambda sent: "/draft/" in sent.url):
        instruction.press("Control+Enter")
    wait_for_saved(page)
    assert "round.instruction" not in Assignment.objects.get().draft
    tasks.work_on_job(queue.pop())
    expect(asking).to_contain_text("The model has answered")
    expect(instruction).to_have_value("")
    page.reload()
    expect(instruction).to_have_value("")
    # What could not be sent is still there to be sent again.
    page.route("**/revise/", lambda route: route.abort())
    instruction.fill("Shorter.")
    instruction.press("Control+Enter")
    expect(asking).to_have_text("That did not work. Please try again.")
    wait_for_saved(page)
    page.reload()
    expect(instruction).to_have_value("Shorter.")


# --- without scripts ----------------------------------------------------------------------------------------------


def test_without_scripts(new_visitor: Callable[..., Visitor], queue: list[int]) -> None:
    visitor = new_visitor(java_script_enabled=False)
    come(visitor, make_condition_calibration_study(main=1))
    page = visitor.page
    for out_of_use in (".entry-acts", ".cite", ".add-entry", ".by-number"):
        expect(page.locator(out_of_use).first).not_to_be_visible()

    def keep(row: int, value: str) -> None:
        page.locator(f'label:has([name="entries.e{row}.keep"][value="{value}"])').click()

    keep(1, "1")
    keep(2, "1")
    keep(4, "0")
    page.locator('[name="entries.e2.place"]').select_option("1")
    page.locator('[name="entries.e2.cite.7"]').check()
    page.locator('[name="checks.~none"]').check()
    page.locator('[name="entries.e5.condition"]').fill("In a pressure cooker")
    page.locator('[name="entries.e5.answers"]').fill("120 °C")
    page.get_by_label("What should it change?").fill("Add the pressure cooker.")
    leave_by(page.get_by_role("button", name="Submit and continue"))
    expect(page.get_by_role("alert")).to_contain_text("Entry 3: Please accept or reject this entry.")
    expect(page.get_by_label("What should it change?")).to_have_value("Add the pressure cooker.")
    assert page.locator('[name="entries.e5.condition"]').input_value() == "In a pressure cooker"
    assert page.locator('[name="entries.e2.place"]').input_value() == "1"
    keep(3, "0")
    page.get_by_role("button", name="Ask for a revised draft").click()
    tasks.work_on_job(queue.pop())
    page.get_by_role("button", name="Check for the answer").click()
    expect(page.locator(".round")).to_contain_text("Revision 1")
    keep(104, "1")
    keep(5, "0")
    leave_by(page.get_by_role("button", name="Submit and continue"))
    expect(page.locator("#code")).to_be_visible()
    entries, judgment = settled()
    assert [entry["origins"] for entry in entries] == [["r1.e2"], ["r1.e1"], ["m1.e4"]]
    assert entries[0]["citations"] == [3, 7]
    assert "entries" not in judgment.trace


def look_at_what_stands_there_without_scripts(visitor: Visitor, address: str) -> None:
    """What looks at pages is a script itself: so a page with scripts, of which it gets none, drawn as without them."""
    page = visitor.page

    def unwrap(route: Route) -> None:
        answer = route.fetch()
        body = answer.text().replace("<noscript>", "").replace("</noscript>", "")
        route.fulfill(response=answer, body=body)

    page.route("**/*.js", lambda route: route.abort())
    page.route("**/p/**", unwrap)
    page.goto(address)
    expect(page.get_by_label("Merge with the entry above").first).to_be_visible()
    look(visitor, "entries_without_scripts")


def test_merging_without_scripts(new_visitor: Callable[..., Visitor]) -> None:
    visitor = new_visitor(java_script_enabled=False)
    come(visitor, make_condition_calibration_study(main=1))
    page = visitor.page

    def merge(row: int) -> Locator:
        return page.locator(f'[data-row="e{row}"]').get_by_label("Merge with the entry above")

    for row in (1, 2, 4):
        page.locator(f'label:has([name="entries.e{row}.keep"][value="1"])').click()
    # The third entry is brought below the first, and merged with it.
    page.locator('[name="entries.e3.place"]').select_option("2")
    merge(3).check()
    page.get_by_role("button", name="Show the entries as they are now").click()
    expect(page.get_by_text("Nothing has been submitted yet")).to_be_visible()
    upper = page.locator('[name="entries.e1.condition"]')
    expect(upper).to_have_value(f"{CONDITIONS[0]}; {CONDITIONS[2]}")
    expect(merge(3)).not_to_be_checked()
    expect(page.locator('[name="entries.e3.keep"][value="0"]')).to_be_checked()
    expect(page.locator('[data-row="e3"] .status')).to_have_text("Merged into entry 1")
    expect(page.locator('[data-row="e3"] .status')).to_be_visible()
    look_at_what_stands_there_without_scripts(new_visitor(), page.url)
    assert Judgment.objects.count() == 0
    upper.fill(CONDITIONS[0])
    merge(4).check()
    page.locator('[name="checks.~none"]').check()
    leave_by(page.get_by_role("button", name="Submit and continue"))
    expect(page.locator("#code")).to_be_visible()
    entries, judgment = settled()
    assert [entry["origins"] for entry in entries] == [["r1.e1", "r1.e3"], ["r1.e2", "r1.e4"]]
    assert [entry["condition"] for entry in entries] == [
        CONDITIONS[0],
        f"{CONDITIONS[1]}; {CONDITIONS[3]}",
    ]
    assert set(decisions(judgment.item.stimulus, entries).values()) == {Decision.MERGED}
    visitor.assert_calm()


def test_a_tick_from_before_the_scripts_came_merges_nothing(visitor: Visitor) -> None:
    """The page's own merging is done at once; what it does not show must not be sent."""
    come(visitor, make_condition_calibration_study(main=1))
    page = visitor.page
    page.route("**/entries.js", lambda route: route.abort())
    page.reload()
    page.locator('[name="entries.e1.merge"]').evaluate(
        "box => { box.checked = true; box.defaultChecked = true }"
    )
    page.unroute("**/entries.js")
    page.evaluate("import('/static/js/entries.js')")
    expect(page.locator(".ask.entries.ready")).to_be_visible()
    assert not page.locator('[name="entries.e1.merge"]').is_checked()


def test_a_history_that_is_too_long_says_how_much_it_lacks(visitor: Visitor) -> None:
    come(visitor, make_condition_calibration_study(main=1))
    page = visitor.page
    for condition in CONDITIONS:
        press(card(page, condition), "Accept")
    # As after a long day: one act of room is left.
    page.evaluate(
        """() => { const trace = document.querySelector("[name='trace.entries']"), acts = JSON.parse(trace.value);
            trace.value = JSON.stringify(Array.from({ length: 1999 }, (_, at) => acts[at % acts.length])); }"""
    )
    page.get_by_label("Any other comments").fill("Much was tried.")
    wait_for_saved(page)
    page.reload()
    press(card(page, CONDITIONS[0]), "Reject")
    for _ in range(2):
        card(page, CONDITIONS[0]).get_by_role("button", name="Restore").click()
        press(card(page, CONDITIONS[0]), "Reject")
    tick_the_checks(page)
    wait_for_saved(page)
    page.reload()
    card(page, CONDITIONS[0]).get_by_role("button", name="Restore").click()
    hand_in(visitor)
    acts = settled()[1].trace["entries"]
    assert len(acts) == 2001
    assert acts[1999]["act"] == "reject"
    assert acts[2000] == {"dropped": 5}
    visitor.assert_calm()


# --- looking ------------------------------------------------------------------------------------------------------


def test_looks_right(visitor: Visitor) -> None:
    come(visitor, make_condition_calibration_study(main=1))
    page = visitor.page
    press(card(page, CONDITIONS[0]), "Accept")
    card(page, CONDITIONS[1]).get_by_label("Condition").fill("On a high mountain or in a high city")
    cite(page, 7)
    press(card(page, CONDITIONS[3]), "Reject")
    expect(page.locator(".citing")).to_contain_text("Citing for entry 3")
    page.get_by_label("Search in the fragments").fill("pot")
    expect(page.locator(".documents-search [role=status]")).to_contain_text("of 12 fragments")
    page.get_by_label("Search in the fragments").fill("")
    look(visitor, "condition_calibration")
    visitor.assert_calm()


def test_practice_says_what_became_of_each_entry(visitor: Visitor) -> None:
    study = make_condition_calibration_study(main=1, training=True, steps=ITEMS_ONLY | {"training": True})
    come(visitor, study)
    page = visitor.page
    for condition in CONDITIONS:
        press(card(page, condition), "Accept")
    hand_in(visitor)
    expect(page.locator(".compare tbody tr").last).to_contain_text("In salted water")
    expect(page.locator(".compare tbody tr").last).to_contain_text("Rejected")
    page.locator(".again summary").first.click()
    expect(page.locator(".again .offer").first).to_contain_text(CONDITIONS[0])
    assert Item.objects.filter(role="training").count() == 1
    visitor.assert_calm()
