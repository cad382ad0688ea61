"""A newcomer's CSV, from the file to the study: the guess is seen with three items, corrected, and imported."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluation.models import Study
from tests.browser.conftest import PHONE, Visitor
from tests.browser.test_admin import at_once, look, press, researcher, sign_in  # noqa: F401 - fixtures
from tests.browser.walking import leave_by, resize
from tests.evaluation.dumps.tables.files import HEADER, ROWS, delimited, write
from tests.evaluation.dumps.tables.tool_files import FILES

DOCS = Path(__file__).resolve().parents[2] / "docs" / "formats.md"
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.usefixtures("researcher")
def test_a_csv_of_pairs_is_mapped_seen_and_imported(
    new_visitor: Callable[..., Visitor], tmp_path: Path
) -> None:
    visitor = new_visitor()
    page = visitor.page
    sign_in(visitor)
    visitor.go("/new/from-file/")
    look(visitor, "from-file")
    page.get_by_label("File", exact=True).set_input_files(
        write(tmp_path / "two-soups.csv", delimited(ROWS, separator=";"))
    )
    press(page, "Upload and check")
    page.get_by_role("heading", name="Columns of two-soups.csv").wait_for()
    assert page.get_by_label("response_a", exact=True).input_value() == "response"
    frames = page.locator("iframe")
    assert frames.count() == 3
    for number in range(3):
        frames.nth(number).scroll_into_view_if_needed()
        screen = page.frame_locator("iframe").nth(number)
        screen.get_by_text(ROWS[number][0]).first.wait_for()
        screen.get_by_text("Response 1", exact=True).first.wait_for()
    look(visitor, "map")
    page.get_by_label("System: response_a").fill("aspen")
    page.get_by_label("topic", exact=True).select_option("ignore")
    press(page, "Show the items")
    assert page.get_by_label("System: response_a").input_value() == "aspen"
    resize(page, PHONE)
    frames.first.scroll_into_view_if_needed()
    look(visitor, "map-phone")
    press(page, "Import")
    page.get_by_text("Two soups was created with 30 items.").wait_for()
    study = Study.objects.get()
    assert set(study.systems.values_list("key", flat=True)) == {"aspen", "B"}
    assert study.items.first().query.category == ""


@pytest.mark.usefixtures("researcher")
def test_a_map_is_saved_and_offered_for_the_next_table(
    new_visitor: Callable[..., Visitor], tmp_path: Path
) -> None:
    visitor = new_visitor()
    page = visitor.page
    sign_in(visitor)
    path = write(tmp_path / "two-soups.csv", delimited(ROWS))

    def upload() -> None:
        visitor.go("/new/from-file/")
        page.get_by_label("File", exact=True).set_input_files(path)
        press(page, "Upload and check")
        page.get_by_text("Saved maps (").click()

    upload()
    page.get_by_label("System: response_a").fill("aspen")
    page.get_by_label("Save the map above as").fill("soups")
    press(page, "Save the map")
    page.get_by_text("The map “soups” was saved.").wait_for()
    upload()
    page.get_by_text("Fits this table.").wait_for()
    look(visitor, "map-saved")
    resize(page, PHONE)
    look(visitor, "map-saved-phone")
    press(page, "Use “soups”")
    page.get_by_text("The table is read by the map “soups”.").wait_for()
    assert page.get_by_label("System: response_a").input_value() == "aspen"


@pytest.mark.usefixtures("researcher")
def test_a_table_with_faults_and_oddities_comes_in_without_its_bad_row(
    new_visitor: Callable[..., Visitor], tmp_path: Path
) -> None:
    rows = [
        (p, a, "" if n == 4 else b, t, f"We found number {n} a hard one")
        for n, (p, a, b, t) in enumerate(ROWS)
    ]
    rows.append((ROWS[0][0], "N/A", "Pea soup", "Food", "We found this a hard one"))
    visitor = new_visitor()
    page = visitor.page
    sign_in(visitor)
    visitor.go("/new/from-file/")
    page.get_by_label("File", exact=True).set_input_files(
        write(tmp_path / "odd-soups.csv", delimited(rows, (*HEADER, "remarks of ours")))
    )
    press(page, "Upload and check")
    page.get_by_text("A column of texts or votes is not used.").wait_for()
    page.get_by_role("heading", name="Before you import it").wait_for()
    page.get_by_text("line 61: the text in column 'response_a' is 'N/A'").wait_for()
    look(visitor, "map-odd")
    resize(page, PHONE)
    look(visitor, "map-odd-phone")
    press(page, "Import without this row")
    page.get_by_text("Odd soups was created with 30 items. 1 row was left out.").wait_for()
    look(visitor, "left-out-phone")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the rows that were left out").click()
    assert "Which soup number 5?" in Path(download.value.path()).read_text("utf-8-sig")


FIVE = ("chatbot_arena", "mturk", "label_studio", "qualtrics", "inspect")


@pytest.mark.usefixtures("researcher")
def test_files_of_five_tools_come_to_their_reports_in_as_few_clicks_as_the_docs_say(
    new_visitor: Callable[..., Visitor], tmp_path: Path
) -> None:
    visitor = new_visitor()
    page = visitor.page
    page.set_default_timeout(120_000)  # five reports are computed while it waits
    sign_in(visitor)
    [way] = re.findall(
        r"is four clicks from its report, once the file is chosen: (.+?)\.\n", DOCS.read_text(), re.DOTALL
    )
    steps = re.findall(r"\*([^*]+)\*", way)
    assert len(steps) == 4
    for key in FIVE:
        file = next(each for each in FILES if each.tool == key)
        visitor.go("/new/from-file/")
        page.get_by_label("File", exact=True).set_input_files(
            write(tmp_path / f"{key}{Path(file.name).suffix}", file.raw)
        )
        for name in steps:
            target = page.get_by_role("button", name=name, exact=True)
            leave_by(target.or_(page.get_by_role("link", name=name, exact=True)).first)
        study = Study.objects.latest("pk")
        assert study.table_map["read_as"] == key
        page.get_by_role("heading", name=study.title).first.wait_for()
        assert f"{file.judgments} judgments" in page.content()
