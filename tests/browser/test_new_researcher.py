"""A researcher's first study, from a CSV to the report that says who agrees with whom, and the clicks that it takes."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotator.models import Participant
from annotator.services.work.submit import advance_participant, submit
from evaluation.models import Judgment, Study
from judging.services.endpoints.access import create_endpoint
from tests.browser.axe import run_axe
from tests.browser.conftest import PHONE, Visitor
from tests.browser.looking import SHOTS
from tests.browser.test_admin import DESK, at_once, press, researcher, sign_in, tab  # noqa: F401 - fixtures
from tests.browser.walking import fill_by_mouse, leave_by, resize
from tests.crowd import before, come, filled_in
from tests.evaluation.dumps.tables.files import ROWS, delimited, write
from tests.judging import endpoint

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# Presses of a mouse's button or a finger, whatever they hit and wherever they lead.
COUNTER = """addEventListener('pointerdown', () =>
    sessionStorage.setItem('presses', 1 + Number(sessionStorage.getItem('presses') || 0)), true)"""
DOCS = Path(__file__).resolve().parents[2] / "docs" / "getting-started.md"


def look(visitor: Visitor, name: str) -> None:
    """Nothing that axe finds and nothing wider than the window, at a desk and on a phone; a picture of each."""
    page = visitor.page
    page.wait_for_load_state("networkidle")
    assert visitor.complaints == [], name
    assert visitor.strange_requests == [], name
    SHOTS.mkdir(exist_ok=True)
    for viewport in (PHONE, DESK):
        resize(page, viewport)
        found = run_axe(page)
        assert found.violations_count == 0, f"{name}: {found.generate_report()}"
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"], name
        page.screenshot(path=SHOTS / f"first-{name}-{viewport['width']}.png", full_page=True)
    visitor.complaints.clear()  # axe itself sets styles, which the policy refuses


def choose_csv(page: Page, folder: Path) -> None:
    press(page, "New study from a file")
    page.get_by_label("File", exact=True).set_input_files(write(folder / "soups.csv", delimited(ROWS)))


def presses(page: Page) -> int:
    return int(page.evaluate("sessionStorage.getItem('presses') || 0"))


@pytest.mark.usefixtures("researcher")
def test_from_the_csv_to_the_launch_in_as_few_clicks_as_the_docs_say(
    visitor: Visitor, tmp_path: Path
) -> None:
    page = visitor.page
    sign_in(visitor)
    choose_csv(page, tmp_path)
    page.add_init_script(COUNTER)
    page.evaluate(COUNTER)
    [way] = re.findall(r"takes (\d+) clicks: (.+?)\.\n", DOCS.read_text(), re.DOTALL)
    for name in re.findall(r"\*([^*]+)\*", way[1]):
        target = page.get_by_label(name).or_(page.get_by_role("button", name=name, exact=True))
        target.or_(page.get_by_role("link", name=name, exact=True)).first.click()
        page.wait_for_load_state()
    page.get_by_text("Soups is live.").wait_for()
    assert Study.objects.get().status == "live"
    assert presses(page) == int(way[0]) <= 12


def take_part(page: Page, address: str) -> None:
    """From the study's link to its thanks, by mouse; of the items the first two and the last."""
    page.goto(address)
    press(page, "I agree")
    press(page, "Continue")
    participant = Participant.objects.get(step="items")
    study = participant.study
    n = min(study.items_per_participant, study.items.filter(role="main").count())
    for _ in range(2):
        judge_by_mouse(page)
    judge(participant, n - 3, lambda number: "r1")
    page.reload()
    judge_by_mouse(page)
    press(page, "Finish")
    page.get_by_text("Your judgments have been recorded").wait_for()


def judge_by_mouse(page: Page) -> None:
    fill_by_mouse(page)
    leave_by(page.get_by_role("button", name="Submit and continue"))


def judge_all(study: Study, preference: Callable[[int], str]) -> None:
    """Somebody who takes all that they may, by the services that their browser would reach."""
    participant = come(study)
    advance_participant(participant.token)  # past the instructions
    judge(participant, study.items_per_participant, preference)


def judge(participant: Participant, count: int, preference: Callable[[int], str]) -> None:
    for number in range(count):
        assignment = before(participant.token)
        submit(participant.token, assignment.pk, filled_in(assignment, preference=preference(number)))


@pytest.mark.usefixtures("researcher")
def test_a_first_study_from_its_csv_to_who_agrees_with_whom(
    new_visitor: Callable[..., Visitor], tmp_path: Path
) -> None:
    desk = new_visitor(viewport=DESK)
    page = desk.page
    sign_in(desk)
    look(desk, "01-studies")
    choose_csv(page, tmp_path)
    look(desk, "02-from-file")

    # The guess is right, and shown with the first items.
    press(page, "Upload and check")
    for column, role in (("prompt", "prompt"), ("response_a", "response"), ("response_b", "response"),
                         ("topic", "category")):  # fmt: skip
        assert page.get_by_label(column, exact=True).input_value() == role
    page.frame_locator("iframe").first.get_by_text(ROWS[0][0]).first.wait_for()
    look(desk, "03-map")
    press(page, "Import")
    page.get_by_text("Soups was created with 30 items.").wait_for()
    look(desk, "04-imported")
    press(page, "To the overview")
    look(desk, "05-overview")

    # The design, beside the first item as participants will see it.
    tab(page, "Design")
    screen = page.frame_locator("#preview-screen iframe >> nth=-1")
    expect(screen.get_by_text(ROWS[0][0]).first).to_be_visible()
    look(desk, "06-design")
    # Each of three people judges everything: otherwise nobody meets an item that another has judged.
    leave_by(page.locator(".design-pages").get_by_role("link", name="People and pay"))
    page.get_by_label("Items per participant").fill("30")
    press(page, "Save")
    page.get_by_text("Saved.").wait_for()
    tab(page, "Overview")

    press(page, "Walk through as a participant")
    look(desk, "07-walk")
    for _ in range(4):
        if page.get_by_role("button", name="Submit and continue").count():
            break
        leave_by(page.locator(".actions button, form button.button").first)
    look(desk, "08-walk-item")
    page.goto(desk.base + f"/studies/{Study.objects.get().slug}/")

    # Rehearsed, seen and gone.
    press(page, "Rehearse with simulated participants")
    look(desk, "09-rehearse")
    press(page, "Rehearse")
    page.get_by_role("link", name="Report of the rehearsal").wait_for()
    look(desk, "10-rehearsed")
    press(page, "Report of the rehearsal")
    page.get_by_text("Krippendorff").first.wait_for()
    look(desk, "11-rehearsal-report")
    page.go_back()
    press(page, "To the overview")
    look(desk, "12-overview-rehearsed")
    press(page, "Delete the rehearsal")
    look(desk, "13-delete-rehearsal")
    press(page, "Delete it")
    assert Study.objects.count() == 1
    assert not Judgment.objects.exists()

    press(page, "Launch")
    look(desk, "15-launch")
    page.get_by_label("I confirm all of these").check()
    press(page, "Launch now")
    page.get_by_text("is live.").first.wait_for()
    look(desk, "16-live")
    study = Study.objects.get()

    # Three people: one in a browser, two by what their browsers would call.
    address = page.text_content("code.link") or ""
    take_part(new_visitor().page, address)
    judge_all(study, lambda number: "r2" if number % 3 else "r1")
    judge_all(study, lambda number: "r1" if number % 3 else "tie")
    assert Judgment.objects.filter(outcome="ok").count() == 90

    # A heuristic, and a model behind an endpoint.
    with endpoint.serve() as served:
        create_endpoint(user=None, name="stub", base_url=served.url, open_to_all=True)
        tab(page, "Judges")
        look(desk, "17-judges")
        press(page, "New judge")
        page.get_by_label("Name", exact=True).fill("longer")
        page.get_by_label("How it judges").select_option("longer")
        press(page, "Save judge")
        press(page, "Start a run")
        press(page, "Start the run")
        page.get_by_text("complete", exact=True).first.wait_for()
        look(desk, "18-heuristic")
        tab(page, "Judges")
        press(page, "New judge")
        page.get_by_label("Name", exact=True).fill("model")
        page.get_by_label("Endpoint").select_option(label="stub")
        page.get_by_label("Model", exact=True).fill("longer")
        look(desk, "19-new-judge")
        press(page, "Save judge")
        press(page, "Start a run")
        press(page, "Start the run")  # the first press tries a few items
        page.locator("#try .status", has_text="readable").wait_for()
        look(desk, "20-tried")
        press(page, "Start the run")
        page.locator("#run-status .status", has_text="complete").wait_for()
        look(desk, "21-run")

    tab(page, "Report")
    look(desk, "22-report")
    said = " ".join((page.text_content("main") or "").split())
    for words in ("Agreement with people", "longer v1", "model v1", "Krippendorff"):
        assert words in said
    assert "No item has" not in said  # without a second rating there is no agreement
