"""One interface: the same head and the same tabs in the admin and outside it, and a next step where nothing is yet."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from evaluation.models import Study
from evaluation.services.studies.creation import PAPER_ARMS, create_study
from tests import factories
from tests.analytics.reports.judging import judged_study
from tests.browser.conftest import PHONE, WIDE, Visitor
from tests.browser.looking import look
from tests.browser.test_members import let_in
from tests.browser.walking import resize
from tests.crowd import come, hand_in, make_crowd_study
from tests.evaluation.admin.conftest import make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# A window that is said to be hidden, which no browser without a screen is.
HIDDEN = """
  window.isHidden = false;
  Object.defineProperty(Document.prototype, "hidden", { get: () => window.isHidden });
"""
PLACES = ["Overview", "Design", "People and judges", "Judgments", "Results"]


@pytest.fixture
def owner(db: Any) -> Any:
    return make_user("ada")


@pytest.fixture
def desk(new_visitor: Callable[..., Visitor], owner: Any) -> Visitor:
    return let_in(new_visitor(), owner)


def head(visitor: Visitor) -> list[str]:
    return visitor.page.locator("header.top nav a").all_inner_texts()


def places(visitor: Visitor) -> list[str]:
    return visitor.page.locator(".study-bar .tabs").first.locator("a").all_inner_texts()


def current(visitor: Visitor) -> list[str]:
    return visitor.page.locator(".study-bar .tabs a[aria-current]").all_inner_texts()


def test_both_sides_have_one_head(desk: Visitor, owner: Any) -> None:
    judged_study("judged", owner=owner, queries=2)
    boxes: list[Any] = []
    for address in (
        "/studies/",
        "/studies/judged/",
        "/studies/judged/report/",
        "/account/tokens/",
    ):
        resize(desk.page, WIDE)
        desk.go(address)
        assert head(desk) == ["Studies", "New study", "Endpoints", "Docs"], address
        boxes.append(desk.page.locator("header.top").bounding_box())
        # Nothing moves on the way from one page to the other.
        assert boxes[-1] == boxes[0], address
        look(desk, "head" + address.replace("/", "-").rstrip("-"))
    resize(desk.page, WIDE)
    desk.page.get_by_text("ada").click()
    assert desk.page.get_by_role("link", name="Change password").is_visible()
    look(desk, "head-account")
    with desk.page.expect_navigation():
        desk.page.get_by_role("button", name="Sign out").click()
    desk.go("/admin/login/")
    assert head(desk) == []


def test_a_study_s_tabs_lead_from_one_side_to_the_other(desk: Visitor, owner: Any) -> None:
    study = judged_study("judged", owner=owner, queries=2)
    desk.go(f"/studies/{study.slug}/")
    for place in PLACES:
        desk.page.locator(".study-bar .tabs").first.get_by_role("link", name=place, exact=True).click()
        desk.page.locator(".study-bar a[aria-current='true']", has_text=place).wait_for()
        assert places(desk) == PLACES
        assert current(desk)[0] == place
    # Results begins with the report, which is no page of the admin, and goes on to the exports, which are.
    assert current(desk) == ["Results", "Report"]
    assert desk.page.url.endswith("/studies/judged/report/")
    look(desk, "tabs-report")
    desk.page.get_by_role("link", name="Exports", exact=True).click()
    desk.page.locator(".study-bar a[aria-current='page']", has_text="Exports").wait_for()
    assert current(desk) == ["Results", "Exports"]
    desk.go("/studies/judged/runs/")
    assert places(desk) == PLACES
    assert current(desk) == ["People and judges", "Judges"]


def test_tabs_are_a_finger_wide_on_a_phone(desk: Visitor, owner: Any) -> None:
    judged_study("judged", owner=owner, queries=2)
    resize(desk.page, PHONE)
    for address in ("/studies/judged/", "/studies/judged/participants/", "/studies/judged/report/"):
        desk.go(address)
        leading = desk.page.locator(".study-bar a, header.top a")
        boxes = [leading.nth(at).bounding_box() for at in range(leading.count())]
        shown = [each for each in boxes if each and each["width"]]
        assert len(shown) > len(PLACES)
        assert min(min(each["width"], each["height"]) for each in shown) >= 44, address
        assert desk.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"], address
    places_boxes = [
        desk.page.get_by_role("link", name=each, exact=True).first.bounding_box() for each in PLACES
    ]
    assert len({each["y"] for each in places_boxes if each}) == 1


def test_an_empty_study_says_what_comes_first(desk: Visitor, owner: Any) -> None:
    study = create_study(slug="new", title="A new study", protocol="pairwise", owner=owner)
    lists = {
        "items": ("No items yet.", "Upload items"),
        "judges": ("No judges yet.", "New judge"),
        "runs": ("No runs yet.", "Judges"),
        "participants": ("No participants yet", "Check and launch"),
        "judgments": ("No judgments yet", "Check and launch"),
        "raters": ("No raters yet", "Check and launch"),
    }
    own = f"/studies/{study.slug}"
    for rows, (text, link) in lists.items():
        assert_says(desk, f"{own}/{rows}/", text, link)
    assert_says(desk, f"{own}/quality/", "No participants yet", "Check and launch")
    assert_says(desk, "/studies/new/report/", "has not been launched", "To the overview")
    desk.go(f"{own}/exports/")
    assert desk.page.get_by_text("No exports yet.").is_visible()
    desk.go(f"{own}/")
    assert desk.page.locator("dl.facts").count() == 0
    assert desk.page.get_by_role("link", name="Upload items").first.is_visible()
    look(desk, "empty-overview")


def assert_says(visitor: Visitor, address: str, text: str, link: str) -> None:
    """One sentence and a link that opens, and no table, search or filter."""
    visitor.go(address)
    note = visitor.page.locator(".empty")
    assert text in note.inner_text(), address
    assert visitor.page.locator("#result_list, #changelist-search, #changelist-filter").count() == 0
    look(visitor, "empty" + address.split("?")[0].replace("/", "-").rstrip("-"))
    href = note.get_by_role("link", name=link).get_attribute("href")
    visitor.go(str(href))
    assert visitor.page.title() != "404"


def test_a_live_study_without_participants_names_the_link(desk: Visitor, owner: Any) -> None:
    study: Study = factories.launch(factories.make_study("contrast", owner=owner))
    assert_says(
        desk,
        f"/studies/{study.slug}/participants/",
        "Send them the study's link",
        "Recruitment platform",
    )
    assert_says(desk, f"/studies/{study.slug}/judgments/", "have a judge run", "Judges")


def test_an_overview_refreshes_while_it_is_in_view(desk: Visitor, owner: Any) -> None:
    study = factories.launch(factories.make_study("contrast", owner=owner))
    desk.page.add_init_script(HIDDEN)
    desk.page.clock.install()
    desk.go(f"/studies/{study.slug}/")
    desk.page.wait_for_load_state("networkidle")
    asked = len(desk.requests)
    desk.page.evaluate("isHidden = true")
    desk.page.clock.run_for(65_000)
    assert len(desk.requests) == asked
    with desk.page.expect_response(f"**/studies/{study.slug}/"):
        desk.page.evaluate("isHidden = false; document.dispatchEvent(new Event('visibilitychange'))")
    desk.page.clock.run_for(1_000)
    with desk.page.expect_response(f"**/studies/{study.slug}/"):
        desk.page.clock.run_for(25_000)
    desk.assert_calm()


def pass_a_minute(desk: Visitor) -> None:
    """Each answer is awaited: a request that lasts a minute of the page's clock is given up."""
    for _ in range(3):
        with desk.page.expect_response("**/studies/contrast/"):
            desk.page.clock.run_for(21_000)
    desk.page.wait_for_load_state("networkidle")


def test_all_of_an_overview_follows_who_takes_part(desk: Visitor, owner: Any) -> None:
    study = make_crowd_study("contrast", queries=3, arms=PAPER_ARMS[:1], owner=owner)
    desk.page.clock.install()
    desk.go(f"/studies/{study.slug}/")
    expect(desk.page.get_by_text("No participants yet")).to_be_visible()
    hand_in(come(study, "a").token)
    pass_a_minute(desk)
    expect(desk.page.get_by_text("No participants yet")).to_be_hidden()
    expect(desk.page.get_by_role("link", name="Open the report")).to_be_visible()
    # Who is at a button keeps it.
    desk.page.get_by_role("link", name="Who may take part").focus()
    pass_a_minute(desk)
    expect(desk.page.get_by_role("link", name="Who may take part")).to_be_focused()
    desk.assert_calm()


def test_what_is_searched_in_vain_is_no_empty_study(desk: Visitor, owner: Any) -> None:
    study = judged_study("judged", owner=owner, queries=2)
    desk.go(f"/studies/{study.slug}/items/?q=no-such-words")
    assert desk.page.locator(".empty").count() == 0
    assert desk.page.get_by_role("button", name="Show").is_visible()


def test_on_a_phone_nothing_is_cut_off(desk: Visitor, owner: Any) -> None:
    study = judged_study("judged", owner=owner, queries=2)
    resize(desk.page, PHONE)
    for address in (f"/studies/{study.slug}/", "/studies/judged/report/"):
        desk.go(address)
        for link in desk.page.locator("header.top a, .study-bar a").all():
            box = link.bounding_box()
            assert box is None or box["x"] + box["width"] <= PHONE["width"], link.inner_text()
