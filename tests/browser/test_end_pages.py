"""Every page on which a participant's way can end, on a phone: what becomes of the pay, and what to do now.

In a study that recruits on Prolific, in one that is a plain link, and in one on Prolific that has no codes.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from sqlite3 import SQLITE_BUSY

import pytest
from django.db import OperationalError
from playwright.sync_api import Page, expect

from annotator.models import EntryRule, ParticipantOutcome, Slot
from annotator.panels.services.panel_settings import set_panel
from annotator.panels.services.personal_links import make_links, revoke_link
from annotator.services.admission.entry import enter
from annotator.services.work.leave import withdraw
from annotator.services.work.progress import finish
from annotator.visit import Visit
from config.errors import pages
from evaluation.models import Study
from evaluation.services.studies.launch import close_study, pause_study
from tests.browser import material
from tests.browser.axe import run_axe
from tests.browser.conftest import PHONE, WIDE, Visitor
from tests.browser.looking import look, shoot
from tests.browser.test_screens import ITEMS_ONLY, PANEL
from tests.browser.walking import leave_by, resize

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
RETURN = "Please return your submission on Prolific"
CLOSE = "You can close this page."


@dataclass(frozen=True)
class Kind:
    """How a study recruits: its panel, its codes, and what a visit adds to its address."""

    platform: str
    has_codes: bool
    query: str

    def make(self, slug: str = "ends") -> Study:
        codes = {} if self.has_codes else {"completion_codes": {}}
        study = material.make_study(slug, steps=ITEMS_ONLY, **codes)
        set_panel(study, self.platform, {}, "keep")
        return Study.objects.get(pk=study.pk)

    @property
    def visit(self) -> Visit:
        return PANEL if self.platform == "prolific" else Visit("link")


IDS = "?PROLIFIC_PID=5f0c&STUDY_ID=study&SESSION_ID=visit"
KINDS = {
    "prolific": Kind("prolific", has_codes=True, query=IDS),
    "link": Kind("link", has_codes=True, query=""),
    "no_codes": Kind("prolific", has_codes=False, query=IDS),
}


def ended(outcome: str) -> Callable[[Kind, Page, str], str]:
    def go(kind: Kind, page: Page, base: str) -> str:
        participant = enter(kind.make(), kind.visit)
        if outcome == ParticipantOutcome.WITHDRAWN:
            withdraw(participant.token)
        else:
            finish(participant, outcome)
        return f"/p/{participant.token}/"

    return go


def declined(kind: Kind, page: Page, base: str) -> str:
    study = kind.make()
    page.goto(f"{base}/s/{study.slug}/{kind.query}")
    leave_by(page.get_by_role("button", name="I do not agree"))
    return ""


def full(kind: Kind, page: Page, base: str) -> str:
    study = kind.make()
    Slot.objects.filter(study=study).update(state="retired")
    return f"/s/{study.slug}/{kind.query}"


def paused(kind: Kind, page: Page, base: str) -> str:
    study = kind.make()
    pause_study(study)
    return f"/s/{study.slug}/{kind.query}"


def closed(kind: Kind, page: Page, base: str) -> str:
    study = kind.make()
    close_study(study)
    return f"/s/{study.slug}/{kind.query}"


def not_admitted(kind: Kind, page: Page, base: str) -> str:
    study, other = kind.make(), kind.make("before")
    EntryRule.objects.create(study=study, other=other, kind=EntryRule.Kind.ONLY)
    return f"/s/{study.slug}/{kind.query}"


def another_visit(outcome: str) -> Callable[[Kind, Page, str], str]:
    def go(kind: Kind, page: Page, base: str) -> str:
        study = kind.make()
        finish(enter(study, kind.visit), outcome)
        page.goto(f"{base}/s/{study.slug}/{kind.query.replace('=visit', '=another')}")
        leave_by(page.get_by_role("button", name="Continue"))
        return ""

    return go


def revoked(kind: Kind, page: Page, base: str) -> str:
    study = kind.make()
    [link] = make_links(study, ["Ann"])
    revoke_link(link, reason="A mistake.")
    return f"/s/{study.slug}/?personal={link.key}"


def revoked_at_work(kind: Kind, page: Page, base: str) -> str:
    study = kind.make()
    [link] = make_links(study, ["Ann"])
    participant = enter(study, Visit("personal", "Ann", session_id=link.key))
    revoke_link(link, reason="A mistake.")
    return f"/p/{participant.token}/"


# Per end: how to get there, and what each kind of study says there, of the pay and what to do.
ENDS: dict[str, tuple[Callable[[Kind, Page, str], str], dict[str, tuple[str, str]]]] = {
    "completed": (
        ended("completed"),
        {
            "prolific": (
                "You are paid on Prolific once",
                "Go back to Prolific with the code below to complete your submission",
            ),
            "link": ("If pay was offered", "Submit your work there, as shown below."),
            "no_codes": ("You are paid on Prolific once", "Do not return your submission"),
        },
    ),
    "no_consent": (
        declined,
        {
            "prolific": (
                "There is no pay, since you did not take part.",
                "asks you to return your submission",
            ),
            "link": ("There is no pay, since you did not take part.", "as shown below"),
            "no_codes": ("There is no pay, since you did not take part.", RETURN),
        },
    ),
    "failed_qualification": (
        ended("failed_qualification"),
        {
            "prolific": ("This submission is not paid.", "asks you to return your submission"),
            "link": ("whether this visit is paid", "Go back there, as shown below."),
            "no_codes": ("This submission is not paid.", RETURN),
        },
    ),
    "failed_attention": (
        ended("failed_attention"),
        {
            "prolific": ("The researchers decide about your pay", "can review your submission"),
            "link": ("The researchers decide about the pay", "as shown below"),
            "no_codes": ("The researchers decide about your pay", "please return your submission there"),
        },
    ),
    "full": (
        full,
        {
            "prolific": ("There is no pay for this submission", "asks you to return your submission"),
            "link": ("There is no pay for this visit", "as shown below"),
            "no_codes": ("There is no pay for this submission", RETURN),
        },
    ),
    "withdrawn": (
        ended("withdrawn"),
        {
            "prolific": ("You are not paid automatically", "can review your submission"),
            "link": ("is not paid automatically", "as shown below"),
            "no_codes": ("You are not paid automatically", RETURN),
        },
    ),
    "returned": (
        ended("returned"),
        {
            "prolific": ("A submission that was returned is not paid.", "nothing left to do on Prolific"),
            "link": ("A visit that was returned is not paid.", CLOSE),
            "no_codes": ("A submission that was returned is not paid.", "nothing left to do on Prolific"),
        },
    ),
    "timed_out": (
        ended("timed_out"),
        {
            "prolific": ("Prolific does not pay for", "message on Prolific"),
            "link": ("took too long is not paid", CLOSE),
            "no_codes": ("Prolific does not pay for", "message on Prolific"),
        },
    ),
    "paused": (
        paused,
        {
            "prolific": ("There is no pay yet", "or return your submission there"),
            "link": ("There is no pay yet", "Come back later."),
            "no_codes": ("There is no pay yet", "or return your submission there"),
        },
    ),
    "closed": (
        closed,
        {
            "prolific": ("There is no pay, since", RETURN),
            "link": ("There is no pay, since", "close this page"),
            "no_codes": ("There is no pay, since", RETURN),
        },
    ),
    "not_admitted": (
        not_admitted,
        {"prolific": ("There is no pay, since", RETURN), "no_codes": ("There is no pay, since", RETURN)},
    ),
    "done_before": (another_visit("completed"), {"prolific": ("There is no pay for this visit", RETURN)}),
    "over_before": (
        another_visit("failed_attention"),
        {"no_codes": ("There is no pay for this visit", RETURN)},
    ),
    "revoked": (revoked, {"link": ("Any pay comes from whoever", "ask whoever sent you the link")}),
    "revoked_at_work": (
        revoked_at_work,
        {"link": ("Any pay comes from whoever", "ask whoever sent you the link")},
    ),
}
WALKS = [(end, kind) for end, (_, words) in ENDS.items() for kind in words]


@pytest.mark.parametrize(("end", "kind"), WALKS, ids=["-".join(walk) for walk in WALKS])
def test_the_end_says_what_becomes_of_the_pay_and_what_to_do(visitor: Visitor, end: str, kind: str) -> None:
    page = visitor.page
    resize(page, PHONE)
    get_there, words = ENDS[end]
    if address := get_there(KINDS[kind], page, visitor.base):
        visitor.go(address)
    pay, todo = words[kind]
    told = page.locator("dl.ending dd").all_text_contents()
    assert len(told) == 2, told
    assert pay in told[0]
    assert todo in told[-1]
    # A code is said to stand below where it does, and nowhere else.
    assert page.locator("#code").is_visible() is ("below" in told[-1])
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    # Of one end the kinds of studies differ in their words, and in the code.
    if end == "completed" or kind == next(iter(words)):
        look(visitor, f"end-{end}-{kind}")
    visitor.assert_calm()


@contextmanager
def broken(error: Exception) -> Iterator[None]:
    """Whoever comes to the door or to their page meets this error."""

    def fails(*args: object) -> None:
        raise error

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("annotator.views.entry"), "study_for_entry", fails)
        patch.setattr(import_module("annotator.views.page"), "present_of", fails)
        yield


def locked() -> Exception:
    error = OperationalError("database is locked")
    error.sqlite_errorcode = SQLITE_BUSY  # type: ignore[attr-defined]
    return error


@pytest.mark.parametrize(("locale", "title"), [("en-GB", "Not available"), ("ar", "غير متاح")])
def test_without_a_database_a_form_is_sent_by_hand_and_the_page_comes_back_by_itself(
    new_visitor: Callable[..., Visitor], locale: str, title: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = new_visitor(locale=locale, extra_http_headers={"Accept-Language": locale})
    page, kind = visitor.page, KINDS["prolific"]
    kind.make()
    visitor.go(f"/s/ends/{kind.query}")
    with broken(locked()):
        leave_by(page.get_by_role("button", name="I agree"))
        expect(page.get_by_role("heading")).to_contain_text(title)
        look_at_error(page, f"unavailable-sent-{locale}")
    leave_by(page.locator("main button"))
    expect(page.locator("#judge")).to_be_attached()
    with broken(locked()):
        # Not while it is looked at.
        monkeypatch.setattr(pages, "RETRY_SECONDS", 600)
        page.reload()
        expect(page.get_by_role("heading")).to_contain_text(title)
        look_at_error(page, f"unavailable-{locale}")
        monkeypatch.setattr(pages, "RETRY_SECONDS", 1)
        page.reload()
    expect(page.locator("#judge")).to_be_attached()
    visitor.complaints = [each for each in visitor.complaints if "503" not in each]
    visitor.assert_calm()


def test_an_error_leads_back_to_the_page(visitor: Visitor) -> None:
    page, participant = visitor.page, enter(KINDS["link"].make(), KINDS["link"].visit)
    with broken(ValueError("a mistake")):
        visitor.go(f"/p/{participant.token}/")
        expect(page.get_by_role("heading")).to_have_text("Something went wrong on our side")
        look_at_error(page, "error")
    leave_by(page.get_by_role("link", name="Back to the study"))
    expect(page.locator("#judge")).to_be_attached()


def look_at_error(page: Page, name: str) -> None:
    for window in (WIDE, PHONE):
        resize(page, window)
        assert page.evaluate("document.documentElement.scrollWidth") <= window["width"]
        shoot(page, f"{name}-{window['width']}")
        assert [each["id"] for each in run_axe(page).response["violations"]] == []


def test_the_proxys_page_can_be_read(visitor: Visitor) -> None:
    visitor.go("/static/unavailable.html")
    look_at_error(visitor.page, "unavailable-proxy")
