"""A new researcher's way, from an empty database to an export, and every screen met on it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from playwright.sync_api import Page, expect

from config.celery import app
from evaluation.models import Job, Judgment, Study
from judging.models import Run
from judging.services.endpoints.access import create_endpoint
from tests.browser import material
from tests.browser.axe import run_axe
from tests.browser.conftest import Visitor
from tests.browser.walking import leave_by, walk_by_mouse
from tests.evaluation.dumps import build
from tests.judging import endpoint

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DESK = {"width": 1440, "height": 900}
SHOTS = Path(__file__).resolve().parent.parent.parent / "screenshots"


@pytest.fixture(autouse=True)
def at_once(settings: Any, tmp_path: Path) -> Iterator[None]:
    """Tasks run where they are queued; what they write is private to the test."""
    settings.ASSAY_JOB_FILES = str(tmp_path / "jobs")
    before = app.conf.task_always_eager
    app.conf.task_always_eager = True
    yield
    app.conf.task_always_eager = before


@pytest.fixture
def researcher(db: Any) -> Any:
    return get_user_model().objects.create_user("ada", password="a-long-password-of-ada", is_staff=True)


@pytest.fixture
def desk(new_visitor: Callable[..., Visitor]) -> Visitor:
    return new_visitor(viewport=DESK)


def items_file(path: Path) -> Path:
    """Two systems' answers to four questions, each with a context of two follow-ups."""
    arm = {
        "key": "context",
        "label": "Context throughout",
        "context_at_generation": True,
        "context_at_judging": True,
    }
    header = {"assay": 1, "spec": {"protocol": "pairwise", "title": "Comparing answers", "arms": [arm]}}
    header["rules"] = {
        "redundancy": 2, "items_per_participant": 4, "pay": "3.00", "contact": "research@example.org",
        "completion_codes": {"completed": "C1TUA9KX"},
    }  # fmt: skip
    records = []
    for number, (text, pair) in enumerate(
        [("Is coffee good for you?", material.COFFEE), ("How do I start tomatoes from seed?", material.SEEDS)]
        * 2
    ):
        follow_ups = [
            {"question": q, "answers": [a, "I don't know"], "answer": a} for q, a in material.FOLLOW_UPS[:2]
        ]
        records.append({
            "key": f"item-{number}",
            "arm": "context",
            "query": {"key": f"q{number}", "text": text, "category": "home"},
            "context": {"key": "c", "follow_ups": follow_ups},
            "responses": [{"system": "aspen", "text": pair[0]}, {"system": "birch", "text": pair[1]}],
        })  # fmt: skip
    return build.write(path, header, *records)


def glance(visitor: Visitor, name: str, *, full: bool = True) -> None:
    """The page has no complaints, nothing from elsewhere, and is no wider than the window; a picture of it is kept.

    Enough for what test_every_page.py and test_new_researcher.py look at closely.
    """
    page = visitor.page
    page.wait_for_load_state("networkidle")
    assert visitor.complaints == [], (name, "\n".join(visitor.complaints))
    assert visitor.strange_requests == [], name
    widths = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert widths[0] <= widths[1], f"{name} is wider than the window: {widths}"
    SHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SHOTS / f"admin-{name}-{DESK['width']}.png", full_page=full)


def look(visitor: Visitor, name: str, *, full: bool = True) -> None:
    """And nothing that axe finds."""
    glance(visitor, name, full=full)
    found = run_axe(visitor.page)
    visitor.complaints.clear()  # axe itself sets styles, which the policy refuses
    assert found.violations_count == 0, f"{name}: {found.generate_report()}"


def sign_in(visitor: Visitor, name: str = "ada") -> None:
    visitor.go("/admin/login/")
    visitor.page.get_by_label("Username").fill(name)
    visitor.page.get_by_label("Password").fill(f"a-long-password-of-{name}")
    leave_by(visitor.page.get_by_role("button", name="Log in"))
    visitor.page.wait_for_url("**/studies/")


def press(page: Page, name: str, *, exact: bool = True) -> None:
    """A button, or a link that looks like one."""
    target = page.get_by_role("button", name=name, exact=exact).or_(
        page.get_by_role("link", name=name, exact=exact)
    )
    more = page.locator("details.more-acts:not([open]) > summary")
    if more.count() and not target.first.is_visible():
        more.click()
    leave_by(target.first)


def change_in_place(page: Page, act: str, reason: str) -> None:
    """Exclude or restore who is on the page; one stays there."""
    place = page.locator("details.act-in-place", has=page.locator("button", has_text=act)).first
    place.locator("summary").click()
    place.get_by_label("Reason").fill(reason)
    leave_by(place.get_by_role("button", name=act, exact=True))


# The pages that stand below their place's name in a study's bar.
PLACE_OF = {
    "Items": "Design", "History": "Overview", "Members": "Overview", "Participants": "People and judges",
    "Judges": "People and judges", "Raters": "Judgments", "Exports": "Results", "Report": "Results",
}  # fmt: skip


def tab(page: Page, name: str) -> None:
    bar = page.get_by_role("navigation", name="Study")
    for each in filter(None, (PLACE_OF.get(name), name)):
        leave_by(bar.get_by_role("link", name=each, exact=True).first)


def participate(visitor: Visitor, address: str, name: str) -> None:
    visitor.page.goto(f"{address}?PROLIFIC_PID={name}&STUDY_ID=s&SESSION_ID={name}")
    leave_by(visitor.page.get_by_role("button", name="I agree"))
    assert walk_by_mouse(visitor.page) == "C1TUA9KX"


def import_scores(desk: Visitor, scores: Path) -> None:
    """Numbers of a script, at first with a fault."""
    page = desk.page
    for third, said in (
        ("item-9", "the study has no item 'item-9'"),
        ("item-1", "Script: clarity of 2 items."),
    ):
        rows = ("item-0,aspen,1", "item-0,birch,2", f"{third},aspen,3")
        scores.write_text("\n".join(("item,system,score", *rows)))
        press(page, "Import scores" if third == "item-9" else "Upload another file")
        if third == "item-9":
            look(desk, "20-scores")
        page.get_by_label("File").set_input_files(scores)
        page.get_by_label("Judge").fill("Script")
        page.get_by_label("Measure").fill("clarity")
        press(page, "Upload and check")
        page.get_by_text(said).wait_for()
        look(desk, f"20-scores-{third}")


def test_from_an_empty_database_to_an_export(
    desk: Visitor, new_visitor: Callable[..., Visitor], researcher: Any, tmp_path: Path
) -> None:
    page = desk.page
    desk.go("/admin/login/")
    glance(desk, "01-login")
    sign_in(desk)
    glance(desk, "02-no-studies")

    # A file with a fault is refused with lines that can be read; then the good one.
    bad = build.write(tmp_path / "faulty.jsonl", build.header(), build.item(1, arm="nowhere"), b"{broken")
    press(page, "New study from a file")
    glance(desk, "03-from-file")
    page.get_by_label("File").set_input_files(bad)
    page.get_by_label("Slug").fill("answers")
    press(page, "Upload and check")
    page.get_by_text("line 3").wait_for()
    look(desk, "04-refused-file")
    press(page, "Upload another file")
    page.get_by_label("File").set_input_files(items_file(tmp_path / "answers.jsonl"))
    page.get_by_label("Slug").fill("answers")
    press(page, "Upload and check")
    page.get_by_text("Comparing answers was created with 4 items.").wait_for()
    glance(desk, "05-import-done")

    press(page, "To the overview")
    glance(desk, "06-overview-draft")
    study = Study.objects.get(slug="answers")
    assert study.members.get().role == "owner"

    # Rules, questions and texts in fields of their own.
    tab(page, "Design")
    glance(desk, "07-design")
    leave_by(page.locator(".design-pages").get_by_role("link", name="Questions and"))
    page.get_by_label("Training").uncheck()
    page.get_by_label("Thanks", exact=True).fill("Many thanks from all of us.")
    press(page, "Save")
    page.get_by_text("Saved.").wait_for()
    study.refresh_from_db()
    assert study.steps["training"] is False
    assert study.texts.get(key="thanks").body == "Many thanks from all of us."

    # An item as participants see it.
    tab(page, "Items")
    glance(desk, "08-items")
    leave_by(page.get_by_role("link", name="Preview of item-0"))
    page.get_by_text("Nothing is stored.").wait_for()
    assert page.get_by_role("heading", name="Response 2").is_visible()
    leave_by(page.get_by_role("button", name="Submit and continue"))
    page.wait_for_selector("[role=alert]")
    look(desk, "09-preview")
    leave_by(page.get_by_role("link", name="Back to the item"))
    glance(desk, "10-item")

    # The checklist with the design, and the launch.
    tab(page, "Overview")
    press(page, "Launch")
    glance(desk, "11-launch")
    assert "2 \u00d7 3.00 GBP = 6.00 GBP" in " ".join(
        (page.text_content("#content-main") or "").split()
    ).replace("Pay: 2 participants", "Pay: 2")
    page.get_by_label("I confirm all of these").check()
    press(page, "Launch now")
    page.get_by_text("is live.").first.wait_for()
    page.get_by_role("region", name="Slots").get_by_text("By arm and order").wait_for()
    glance(desk, "12-overview-live")
    address = page.text_content("code.link") or ""

    for name in ("one", "two"):
        participate(new_visitor(), address, name)
    assert Judgment.objects.filter(outcome="ok").count() == 8

    # A heuristic and an LLM judge on the same items.
    with endpoint.serve() as served:
        create_endpoint(user=None, name="stub", base_url=served.url, open_to_all=True)
        tab(page, "Judges")
        glance(desk, "13-no-judges")
        press(page, "New judge")
        page.get_by_label("Name", exact=True).fill("longer")
        page.get_by_label("How it judges").select_option("geval")
        assert page.locator("details[data-backend]:visible").count() == 1
        assert page.locator("details[data-backend=geval]").evaluate("each => each.open")
        page.get_by_label("How it judges").select_option("longer")
        assert page.locator("details[data-backend]:visible").count() == 0
        press(page, "Save judge")
        press(page, "Start a run")
        look(desk, "14-start-heuristic")
        press(page, "Start the run")
        page.get_by_text("complete", exact=True).first.wait_for()

        tab(page, "Judges")
        press(page, "New judge")
        page.get_by_label("Name", exact=True).fill("llm")
        page.get_by_label("Endpoint").select_option(label="stub")
        page.get_by_label("Model", exact=True).fill("longer")
        page.get_by_label("Presented order").select_option("both")
        glance(desk, "15-judge-form")
        press(page, "Save judge")
        glance(desk, "16-judge")
        press(page, "Show prompt")
        assert "Is coffee good for you?" in (page.text_content(".messages") or "")
        glance(desk, "17-prompt")
        tab(page, "Judges")
        press(page, "Judges of a paper")
        look(desk, "17-judges-of-a-paper")
        tab(page, "Judges")
        leave_by(page.get_by_role("link", name="llm v1"))
        press(page, "Start a run")
        look(desk, "18-start-run")
        press(page, "Start the run")
        page.locator("#try .status", has_text="readable").wait_for()
        glance(desk, "18-tried")
        press(page, "Start the run")
        page.locator("#run-status .status", has_text="complete").wait_for()
        glance(desk, "19-run")
        assert served.log
    assert set(Run.objects.values_list("state", flat=True)) == {"complete"}

    # Watching, leaving out, putting back.
    tab(page, "Overview")
    participants = page.get_by_role("region", name="Participants")
    participants.get_by_text("by step and outcome").click()
    participants.get_by_text("completed").wait_for()
    # What was unfolded stays so when the page refreshes.
    participants.locator("details").evaluate(
        "each => { each.dataset.before = 1; document.activeElement.blur(); }"
    )
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    participants.locator("[data-before]").wait_for(state="detached")
    expect(participants.get_by_text("completed")).to_be_visible()
    glance(desk, "20-overview-judged")

    import_scores(desk, tmp_path / "scores.csv")
    press(page, "To the overview")
    tab(page, "Raters")
    glance(desk, "21-raters")
    leave_by(page.locator("#result_list tbody th a").first)
    glance(desk, "22-rater")
    change_in_place(page, "Exclude", "Pressed keys at random.")
    page.get_by_text("Excluded").first.wait_for()
    look(desk, "23-excluded")
    change_in_place(page, "Restore", "A second look found nothing.")
    tab(page, "Judgments")
    glance(desk, "24-judgments")
    leave_by(page.locator("#result_list tbody th a").first)
    glance(desk, "25-judgment")
    tab(page, "Participants")
    glance(desk, "26-participants")
    tab(page, "Members")
    glance(desk, "27-members")

    # Other words for who comes next, a rest, and the end.
    tab(page, "Overview")
    press(page, "Revise texts")
    page.get_by_label("Thanks", exact=True).fill("Thank you very much.")
    page.get_by_label("Reason").fill("Warmer.")
    press(page, "Preview the changes")
    look(desk, "28-revise", full=False)
    press(page, "Create revision 2")
    press(page, "Pause")
    look(desk, "29-pause")
    page.get_by_label("Reason").fill("Lunch.")
    press(page, "Pause")
    look(desk, "30-overview-paused")

    # The report and an export.
    tab(page, "Report")
    assert "Comparing answers" in page.title()
    page.go_back()
    tab(page, "Exports")
    glance(desk, "31-exports")
    leave_by(page.get_by_role("button", name="CSV One row"))
    look(desk, "32-export-done")
    with page.expect_download() as started:
        page.get_by_role("link", name="Download").click()
    assert started.value.suggested_filename.startswith("answers-")
    assert started.value.suggested_filename.endswith(".csv")
    lines = Path(started.value.path()).read_text().splitlines()
    assert len({line.split(",")[9] for line in lines[1:]}) == 6  # two people, two judges, a try, a script

    tab(page, "History")
    glance(desk, "33-history")
    said = page.text_content("#change-history") or ""
    for act in (
        "Launched with 4 items.",
        "Excluded",
        "Pressed keys at random.",
        "Paused. Reason: Lunch.",
        "Exported",
    ):
        assert act in said
    assert LogEntry.objects.filter(user=researcher).count() > 10
    desk.go("/studies/")
    glance(desk, "34-studies")
    assert {job.kind for job in Job.objects.filter(state="done")} == {"import", "scores", "export", "figures"}
    # The file that was refused says so on purpose.
    assert orjson.loads((tmp_path / "answers.jsonl").read_bytes().splitlines()[0])["assay"] == 1


def test_a_study_begun_from_a_protocol(desk: Visitor, researcher: Any, tmp_path: Path) -> None:
    """Begun from the protocol, its questions edited, then its items uploaded; in the dark, too."""
    page = desk.page
    page.emulate_media(color_scheme="dark")
    sign_in(desk)
    press(page, "New study")
    glance(desk, "40-new-study-dark")
    page.get_by_label("Title").fill("My first study")
    page.get_by_label("Arms").select_option("context")
    press(page, "Begin the study")
    glance(desk, "41-design-dark")
    study = Study.objects.get()
    assert study.slug == "my-first-study"
    leave_by(page.locator(".design-pages").get_by_role("link", name="Questions and"))
    page.locator("#questions-1 summary").click()
    page.locator("#id_questions-1-prompt").fill("Which one would you rather get?")
    page.locator("#questions-1").get_by_label("Label of the tie").fill("Equally good")
    press(page, "Save")
    question = study.questions.get(key="preference")
    assert (question.prompt, question.options) == ("Which one would you rather get?", {"tie": "Equally good"})
    tab(page, "Overview")
    press(page, "Upload items")
    look(desk, "42-upload-dark")
    file = tmp_path / "items.jsonl"
    arm = study.arms.get().key
    build.write(file, *(build.context_item(number) | {"arm": arm} for number in range(1, 4)))
    page.get_by_label("File").set_input_files(file)
    press(page, "Upload and check")
    page.get_by_text("3 items are in the draft.").wait_for()
    press(page, "To the overview")
    glance(desk, "43-overview-dark")
    assert study.items.count() == 3
    press(page, "Delete the draft")
    look(desk, "44-delete-dark")
    leave_by(page.get_by_role("button", name="Delete the draft"))
    assert not Study.objects.exists()
