"""The report and the pages around it, in light and dark, wide and on a phone: axe finds nothing, all is quiet."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.test import Client
from playwright.sync_api import Locator, Page, expect

from analytics.reports.cache import compute_report
from evaluation import tasks as work
from evaluation.models import Study
from tests.analytics.reports.contexteval import write_dump
from tests.browser.axe import run_axe
from tests.browser.conftest import PHONE, WIDE, Visitor
from tests.browser.walking import leave_by, resize, until
from tests.factories import make_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SHOTS = Path(__file__).resolve().parent.parent.parent / "screenshots"
LOOKS = [("light", WIDE), ("dark", PHONE)]


@pytest.fixture
def whole_study(tmp_path: Path) -> Study:
    """ContextEval's people, with reasons, and five seeded judges and three simulated raters beside them."""
    return imported(write_dump(tmp_path / "contexteval.jsonl", judges=5, simulated=3, reasons=True))


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Of the same queries twelve, and one judge: for what is not about the figures."""
    return imported(write_dump(tmp_path / "contexteval.jsonl", judges=1, queries=12))


def imported(path: Path) -> Study:
    get_user_model().objects.create_user("ada", password="ada-password", is_staff=True)
    call_command("import_study", str(path), slug="contexteval", owner="ada", verbosity=0)
    study = Study.objects.get(slug="contexteval")
    compute_report(study)
    return study


@pytest.fixture
def member(new_visitor: Callable[..., Visitor]) -> Callable[..., Visitor]:
    """Makes visitors who are signed in as ada."""

    def make(**options: Any) -> Visitor:
        visitor = new_visitor(**options)
        client = Client()
        client.force_login(get_user_model().objects.get(username="ada"))
        cookie = {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": visitor.base}
        visitor.page.context.add_cookies([cookie])
        return visitor

    return make


def assert_sound(visitor: Visitor, *, contrast: bool = True) -> None:
    assert_calm(visitor)
    found = run_axe(visitor.page, contrast=contrast)
    assert found.violations_count == 0, found.generate_report()


def assert_sound_in_both(visitor: Visitor, name: str, *, full: bool = True) -> None:
    """The page that is open, on a laptop and in the dark on a phone, and then again as it was."""
    page = visitor.page
    for scheme, size in LOOKS:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        resize(page, size)
        assert_sound(visitor)
        shot(page, name, scheme, size, full=full)
    page.emulate_media(color_scheme="light", reduced_motion="no-preference")
    resize(page, WIDE)


def assert_calm(visitor: Visitor) -> None:
    """Nothing to complain of, and no wider than the window."""
    page = visitor.page
    page.wait_for_load_state()
    assert visitor.complaints == []
    assert visitor.strange_requests == []
    widths = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert widths[0] <= widths[1], f"wider than the page: {widths}"


def shot(page: Page, name: str, scheme: str, size: dict[str, int], *, full: bool = True) -> None:
    SHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}-{size['width']}-{scheme}.png", full_page=full)


@pytest.mark.audit
@pytest.mark.parametrize("look", LOOKS)
def test_the_report_is_readable_with_all_open(
    whole_study: Study, member: Callable[..., Visitor], look: tuple[str, dict[str, int]]
) -> None:
    scheme, size = look
    visitor = member(viewport=size, color_scheme=scheme)
    visitor.go("/studies/contexteval/report/?whole=1")
    assert_sound_with_all_open(visitor)
    shot(visitor.page, "report-open", scheme, size)


def assert_sound_with_all_open(visitor: Visitor, *, contrast: bool = True) -> None:
    visitor.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert_sound(visitor, contrast=contrast)


def test_reading_the_report(whole_study: Study, member: Callable[..., Visitor]) -> None:
    """One study for all that is done on its page."""
    visitor = member()
    for look in (
        it_is_sound_and_readable,
        conclusions_stand_on_one_screen,
        judges_stand_beside_people_in_one_figure,
        ties_are_counted_as_wins_by_a_link,
        symbols_keep_their_case,
        the_bar_marks_the_section_in_view,
        a_folded_part_comes_when_it_is_opened,
        a_link_into_a_folded_part_opens_it,
        a_sentence_is_two_clicks_from_a_reason_behind_it,
        a_number_and_a_dot_lead_to_their_items,
    ):
        visitor.go("/studies/contexteval/report/")
        look(visitor)
    visitor.page.close()
    phone = member(viewport=PHONE)
    phone.go("/studies/contexteval/report/")
    tables_scroll_by_keyboard(phone)
    phone.go("/studies/contexteval/report/?whole=1")
    assert_sound_with_all_open(phone, contrast=False)


def open_section(page: Page, key: str) -> Locator:
    """The section, whose line is clicked."""
    part = page.locator(f"#{key}")
    part.locator("details.fold > summary").click()
    return part


def it_is_sound_and_readable(visitor: Visitor) -> None:
    page = visitor.page
    assert page.locator("#win-rates").is_visible()
    for form, size in (("narrow", PHONE), ("wide", WIDE)):
        resize(page, size)
        for drawing in page.locator("svg.dots:not(details:not([open]) *)").all():
            assert drawing.is_visible() == (form in (drawing.get_attribute("class") or ""))
    assert_sound_in_both(visitor, "report")


def conclusions_stand_on_one_screen(visitor: Visitor) -> None:
    page = visitor.page
    summary = page.locator("#summary")
    for each in (".findings", ".headline svg", ".agreement .facts", ".agreement table"):
        expect(summary.locator(each).first).to_be_in_viewport()
    assert summary.locator(".findings > div").count() <= 3
    # Each section is a line below.
    heights = [part.bounding_box()["height"] for part in page.locator(".parts > .part").all()]
    assert max(heights) < 70
    shot(page, "report-conclusions", "light", WIDE, full=False)


def judges_stand_beside_people_in_one_figure(visitor: Visitor) -> None:
    part = open_section(visitor.page, "judges")
    assert part.locator("h2").inner_text() == "Judges vs people"
    assert "judge 1 saw the human-written reference" in part.locator(".notice").inner_text()
    figure = part.locator("svg.dots.wide[aria-label^='Expected win rate']").first
    names = figure.locator("g text").all_text_contents()
    assert names[:6] == ["People", *(f"judge {n}" for n in range(1, 6))]
    # Each name is on the height of its mark, and neither is cut off.
    for mark in figure.locator("g").all()[:6]:
        name, circle = mark.locator("text").bounding_box(), mark.locator("circle").bounding_box()
        assert name is not None
        assert circle is not None
        assert abs(name["y"] + name["height"] / 2 - circle["y"] - circle["height"] / 2) < 4
        assert name["x"] + name["width"] < circle["x"]


def ties_are_counted_as_wins_by_a_link(visitor: Visitor) -> None:
    visitor.page.get_by_role("link", name="Count them as wins").click()
    visitor.page.wait_for_url("**/report/?ties=win")
    assert "with a tie counted as a win" in open_section(visitor.page, "win-rates").inner_text()
    assert_sound(visitor)
    visitor.page.get_by_role("link", name="Count them as half a win").click()
    visitor.page.wait_for_url("**/report/")


def symbols_keep_their_case(visitor: Visitor) -> None:
    label = visitor.page.locator(".facts dt", has_text="Krippendorff").first
    assert label.evaluate("(node) => getComputedStyle(node).textTransform") == "none"
    assert "Krippendorff's \N{GREEK SMALL LETTER ALPHA}" in label.inner_text()


def the_bar_marks_the_section_in_view(visitor: Visitor) -> None:
    page = visitor.page
    current = page.locator("nav.toc a[aria-current]")
    assert current.inner_text() == "Summary"
    page.locator("nav.toc a", has_text="Agreement").click()
    expect(current).to_have_text("Agreement")
    assert visitor.complaints == []


def a_folded_part_comes_when_it_is_opened(visitor: Visitor) -> None:
    page = visitor.page
    open_section(page, "raters")
    part = page.locator("details#raters-judgments-by-rater")
    expect(part.locator("table")).to_have_count(0)
    part.locator("summary").click()
    expect(part.get_by_role("columnheader", name="Judgments")).to_be_visible()
    expect(part.get_by_role("link", name="Open")).to_have_count(0)
    assert_sound(visitor)
    shot(page, "report-fold", "light", WIDE, full=False)
    part.locator("summary").click()
    part.locator("summary").click()
    expect(part.locator("table")).to_have_count(1)


def a_link_into_a_folded_part_opens_it(visitor: Visitor) -> None:
    page = visitor.page
    # Another document, as of a link in a mail.
    visitor.go("/studies/")
    visitor.go("/studies/contexteval/report/#raters-judgments-by-rater")
    expect(page.locator("#raters-judgments-by-rater table")).to_be_visible()
    expect(page.locator("#raters-judgments-by-rater")).to_be_in_viewport()


def a_sentence_is_two_clicks_from_a_reason_behind_it(visitor: Visitor) -> None:
    page = visitor.page
    leave_by(page.locator("#summary .findings").get_by_role("link", name="Its items").first)
    assert_sound(visitor)
    leave_by(page.locator("main tbody a[href*='/items/']").first)
    reason = page.locator("article.judgment.person").first.get_by_text(
        re.compile(r"Reason \d about question")
    )
    expect(reason).to_be_visible()
    expect(reason).to_be_in_viewport()
    assert_calm(visitor)


def a_number_and_a_dot_lead_to_their_items(visitor: Visitor) -> None:
    page = visitor.page
    number = open_section(page, "agreement").locator("td a.behind").first
    n = number.inner_text()
    leave_by(number)
    expect(page.get_by_text(re.compile(rf"^{n} items,"))).to_be_visible()
    page.go_back()
    leave_by(page.locator(".headline svg.wide a").first)
    assert "arm=" in page.url
    assert_calm(visitor)


def test_without_scripts_folded_parts_are_links(study: Study, member: Callable[..., Visitor]) -> None:
    visitor = member(viewport=PHONE, java_script_enabled=False)
    page = visitor.page
    visitor.go("/studies/contexteval/report/")
    open_section(page, "raters")
    part = page.locator("details#raters-judgments-by-rater")
    part.locator("summary").click()
    part.get_by_role("link", name="Open “Judgments by rater”").click()
    expect(page.locator("#raters-judgments-by-rater table")).to_be_in_viewport()
    shot(page, "report-section", "light", PHONE)
    page.get_by_role("link", name="Back to the report").click()
    expect(page.locator("#raters")).to_be_in_viewport()
    page.close()
    visitor = member()
    visitor.go("/studies/contexteval/report/sections/raters/")
    assert_sound(visitor)


def tables_scroll_by_keyboard(visitor: Visitor) -> None:
    region = visitor.page.locator(".scroll").first
    region.focus()
    for _ in range(3):
        visitor.page.keyboard.press("ArrowRight")
    until(visitor.page, lambda: region.evaluate("(node) => node.scrollLeft > 0"))


def test_the_waiting_page_becomes_the_report(
    study: Study, member: Callable[..., Visitor], busy_worker: Callable[[], list[Any]]
) -> None:
    study.cached_reports.all().delete()
    visitor = member()
    visitor.go("/studies/contexteval/report/")
    visitor.page.locator("#report-status").wait_for()
    assert_sound(visitor)
    shot(visitor.page, "report-pending", "light", WIDE)
    assert len(busy_worker()) == 1
    visitor.page.locator("#win-rates").wait_for(timeout=9_000)
    assert visitor.complaints == []


def test_a_section_of_a_large_study_is_computed_when_it_is_opened(
    study: Study, member: Callable[..., Visitor], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.cached_reports.all().delete()
    settings.ASSAY_REPORT_DEFER_JUDGMENTS = 10
    sent: list[int] = []
    monkeypatch.setattr(work, "send_message", lambda task, pk: sent.append(pk) or True)
    compute_report(study)
    visitor = member()
    visitor.go("/studies/contexteval/report/")
    page = visitor.page
    part = open_section(page, "agreement")
    part.get_by_role("heading", name="Figures not computed yet").click()
    part.get_by_text("Waiting for the worker.").wait_for()
    assert_sound(visitor)
    shot(page, "report-section-queued", "light", WIDE, full=False)
    work.work_on_job(sent[0])
    part.get_by_role("heading", name="queries and raters").first.wait_for(timeout=9_000)
    expect(part.get_by_text("Figures not computed yet")).to_have_count(0)
    assert_sound(visitor)
    assert len(sent) == 1
    # The others wait as before, and stand closed where this page is opened anew.
    visitor.go("/studies/contexteval/report/")
    expect(page.locator("#summary").get_by_role("link", name="not computed yet").first).to_be_visible()
    assert page.locator("details[open]", has_text="Figures not computed yet").count() == 0
    page.close()
    phone = member(viewport=PHONE, color_scheme="dark")
    phone.go("/studies/contexteval/report/")
    # A link of the first screen leads there, and opens it.
    phone.page.locator("#summary").get_by_role("link", name="not computed yet").first.click()
    phone.page.get_by_text("Waiting for the worker.").wait_for()
    assert_sound(phone)
    shot(phone.page, "report-section-queued", "dark", PHONE, full=False)


def test_a_view_is_chosen_saved_and_opened_again(study: Study, member: Callable[..., Visitor]) -> None:
    visitor = member()
    page = visitor.page
    visitor.go("/studies/contexteval/report/")
    page.locator("details.report-view > summary").click()
    page.get_by_label("System", exact=True).select_option(index=0)
    page.get_by_role("button", name="Show this view").click()
    page.locator("details.report-view > summary").click()
    page.get_by_label("Save this view as").fill("first system")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("status").get_by_text("Saved this view").wait_for()
    page.locator("details.report-view > summary").get_by_text("first system").click()
    assert_sound_in_both(visitor, "report-view", full=False)
    page.get_by_role("link", name="Show the whole study").click()
    page.locator("details.report-view > summary").click()
    page.get_by_role("link", name="first system").click()
    page.locator(".notice, .report").get_by_text("Every figure is of these judgments alone").first.wait_for()


def test_the_pages_around_it(study: Study, member: Callable[..., Visitor]) -> None:
    make_study("draft", owner=get_user_model().objects.get(username="ada"))
    visitor = member()
    for name, path in (("study-list", "/studies/"), ("study-detail", "/studies/contexteval/")):
        visitor.go(path)
        assert_sound_in_both(visitor, name, full=False)
