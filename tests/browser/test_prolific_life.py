"""A study on Prolific from its draft to its last payment: twelve people, a researcher's screens, and killed workers."""

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client, override_settings
from django.urls import reverse
from playwright.sync_api import Page

from annotator.models import Assignment, Panel, PanelAct, Participant, Slot, Submission
from annotator.panels import tasks
from annotator.panels.services.panel_settings import set_panel
from evaluation.models import Role
from evaluation.selectors import counting_judgments
from evaluation.services.studies.creation import PAPER_ARMS
from tests import factories
from tests.annotator.panels.conftest import prolific  # noqa: F401 - a fixture
from tests.annotator.panels.prolific_server import Prolific
from tests.browser.conftest import PHONE, Visitor
from tests.browser.walking import resize, segment, write_reason
from tests.crowd import before

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ROOT = Path(__file__).resolve().parents[2]
SHOTS = ROOT / "screenshots"
CODES = {
    "completed": "CDONE",
    "failed_attention": "CFAIL",
    "no_consent": "CNO",
    "full": "CFULL",
    "withdrawn": "CLEFT",
}
# Two judgments of each of seven items, two a person, and a check on everybody's way.
ITEMS, EACH, PER_PERSON = 7, 2, 2
WANTED = ITEMS * EACH
TOLD = (
    "One of the items is an attention check whose text says in so many words which answer is to be "
    "chosen; another "
    "answer was chosen there."
)
# What a worker does with a message, in a process that can be killed.
WORKER = (
    "import sys, django; django.setup(); from annotator.panels.tasks import send_panel_acts; "
    "send_panel_acts(int(sys.argv[1]), comes_back=False)"
)


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What is sent to workers: events are applied where they arrive, acts at the panel wait for `Worker`."""
    waiting: list[int] = []
    monkeypatch.setattr(tasks.apply_panel_events, "delay", tasks.apply_panel_events)
    monkeypatch.setattr(tasks.send_panel_acts, "delay", waiting.append)
    return waiting


@pytest.fixture
def panel(prolific: Prolific, live_server: Any, settings: Any, db: Any) -> Panel:  # noqa: F811
    """Four minutes, of which one failed check is a ground to reject; what is returned is judged anew."""
    settings.ASSAY_PUBLIC_URL = live_server.url
    owner = get_user_model().objects.create_user("ada", password="ada-password", is_staff=True)
    study = factories.make_study(
        "paid", owner=owner, queries=ITEMS, redundancy=EACH, items_per_participant=PER_PERSON, checks=1, training=False,
        arms=PAPER_ARMS[:1], steps=factories.NO_STEPS | {"attention": {"checks": 1, "allowed_failures": 0}},
        pay="0.90", paid_minutes=4, contact="lab@example.org", completion_codes=CODES,
    )  # fmt: skip
    return set_panel(factories.launch(study), "prolific", {}, Panel.Returned.DISCARD)


@pytest.fixture
def desk(panel: Panel, new_visitor: Callable[..., Visitor]) -> Page:
    """The researcher's page."""
    visitor = new_visitor()
    client = Client()
    client.force_login(get_user_model().objects.get(username="ada"))
    cookie = {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": visitor.base}
    visitor.page.context.add_cookies([cookie])
    return visitor.page


class Worker:
    """A process that works off one message, until it is killed."""

    def __init__(self, panel: Panel, account: Prolific) -> None:
        database = connection.settings_dict
        where = (
            f"sqlite:///{database['NAME']}"
            if connection.vendor == "sqlite"
            else f"postgres://{database['USER']}:{database['PASSWORD']}@{database['HOST']}:{database['PORT']}"
            f"/{database['NAME']}"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER, str(panel.pk)],
            cwd=ROOT,
            env=os.environ
            | {
                "DJANGO_SETTINGS_MODULE": "config.settings",
                "DATABASE_URL": where,
                "ASSAY_PROLIFIC_URL": account.url,
                "ASSAY_PROLIFIC_TOKEN": account.token,
                "ASSAY_PANEL_SENDING_SECONDS": "300",
            },
        )

    def is_killed_when(self, happened: Callable[[], Any]) -> None:
        until = time.monotonic() + 60
        while not happened():
            assert self.process.poll() is None, "it ended before it was killed"
            assert time.monotonic() < until
            time.sleep(0.02)
        self.process.kill()
        self.process.wait(10)


def next_worker(panel: Panel) -> None:
    """Works off one message too, and takes up what a killed one had in hand."""
    with override_settings(ASSAY_PANEL_SENDING_SECONDS=0.0):
        tasks.send_panel_acts(panel.pk, comes_back=False)


def act(desk: Page, panel: Panel, link: str, button: str) -> None:
    """Opens the panel's page, follows a link on it, and confirms."""
    open_panel(desk, panel)
    desk.get_by_role("link", name=link, exact=True).first.click()
    confirm(desk, button)


def about(desk: Page, panel: Panel, person: str, link: str) -> None:
    """Opens the panel's page, and an act of a person's line in the list of submissions."""
    open_panel(desk, panel)
    row = desk.locator("table.visits tr", has_text=person)
    row.get_by_role("link", name=link, exact=False).first.click()


def confirm(desk: Page, button: str) -> None:
    with desk.expect_navigation():
        desk.get_by_role("button", name=button, exact=True).click()


def open_panel(desk: Page, panel: Panel) -> None:
    desk.goto(urljoin(desk.url, reverse("admin:evaluation_study_panel", args=[panel.study.slug])))


@dataclass
class Person:
    """Somebody who takes a place at the panel and opens the study's address, each time in a browser of their own."""

    name: str
    panel: Panel
    prolific: Prolific
    new_visitor: Callable[..., Visitor]
    session: str = ""
    page: Any = None

    def __post_init__(self) -> None:
        self.session = self.prolific.arrive(self.panel.external_id, self.name)
        self.open()

    def open(self, **window: Any) -> None:
        """The address that the panel sends them to; no page has a code before its time."""
        if self.page is not None:
            self.page.context.close()
        self.page = self.new_visitor(**window).page
        self.page.goto(self.prolific.address(self.session))
        self.sees_no_code()
        if self.page.get_by_role("button", name="I agree").count():
            self.press("I agree")

    def press(self, button: str) -> None:
        with self.page.expect_navigation():
            self.page.get_by_role("button", name=button, exact=True).click()

    def sees_no_code(self) -> None:
        assert not any(code in self.page.content() for code in CODES.values())

    def judges(self, items: int = PER_PERSON + 1, *, passes: bool = True) -> None:
        """So many items and checks by mouse, or as many as there are; a check is passed or failed."""
        for _ in range(items):
            if not self.page.locator("#judge").count():
                return
            self.sees_no_code()
            assignment = before(self.page.url.split("/p/")[1].split("/")[0])
            is_check = assignment.item.role == Role.ATTENTION
            segment(self.page, "preference", "tie" if is_check and passes else "r1")
            write_reason(self.page, "It answers what was asked, and in order.")
            self.press("Submit and continue")

    def goes_back_with(self, code: str) -> None:
        """The code on the last page is that of their outcome, and they enter it at the panel."""
        assert self.page.text_content("#code") == code
        self.prolific.complete(self.session, code)
        self.page.context.close()


def deliver(prolific: Prolific, panel: Panel, base: str, seen: set[str]) -> None:  # noqa: F811
    """What happened since, told twice and the latest first."""
    news = [event for event in prolific.events if event.id not in seen]
    seen.update(event.id for event in news)
    answers = prolific.deliver(f"{base}/hooks/prolific/", [*news, *news][::-1])
    assert set(answers) <= {200, 202, 204}


def filled(panel: Panel) -> Counter[str]:
    standing = Slot.objects.filter(study=panel.study, replaced_by=None)
    return Counter(standing.values_list("state", flat=True))


def test_from_the_draft_to_the_last_payment(
    panel: Panel,
    prolific: Prolific,  # noqa: F811
    desk: Page,
    new_visitor: Callable[..., Visitor],
    live_server: Any,
    queue: list[int],
) -> None:
    base, told = live_server.url, set[str]()
    desk.goto(base + "/studies/")

    def person(name: str) -> Person:
        return Person(name, panel, prolific, new_visitor)

    # Eligibility, drafted and published from the admin; the codes are fixed, and nobody's page has one yet.
    open_panel(desk, panel)
    desk.get_by_role("link", name="Eligibility").click()
    desk.get_by_label("Minimum approval rate, in percent").fill("97")
    desk.get_by_label("Fluent in any of").fill("English")
    confirm(desk, "Save")
    act(desk, panel, "Create draft on Prolific", "Create draft")
    act(desk, panel, "Publish", "Publish")
    panel.refresh_from_db()
    there = prolific.studies[panel.external_id]
    assert (there["status"], panel.places) == ("ACTIVE", WANTED / PER_PERSON)
    assert there["filters"][0] == {"filter_id": "approval_rate", "selected_range": {"lower": 97}}

    # One judges an item and returns the study: their page says so, and their work is left out.
    returns = person("p-returns")
    returns.judges(1)
    prolific.give_back(returns.session)
    deliver(prolific, panel, base, told)
    returns.page.reload()
    assert not returns.page.locator("#judge").count()
    returns.sees_no_code()
    assert filled(panel)["filled"] == 0

    # One runs out of time after two.
    late = person("p-late")
    late.judges(2)
    prolific.time_out(late.session)
    deliver(prolific, panel, base, told)
    assert filled(panel) == {"open": WANTED}

    # Two fail the check. One is asked to return and does; the other is rejected, which the rules bear out.
    failing = [person("p-careless"), person("p-sloppy")]
    for each in failing:
        each.judges(passes=False)
        each.goes_back_with("CFAIL")
    deliver(prolific, panel, base, told)
    about(desk, panel, "p-careless", "Ask to return")
    desk.get_by_label("Message to the participant").fill("The check was missed; returning costs you nothing.")
    confirm(desk, "Ask to return")
    about(desk, panel, "p-sloppy", "Reject")
    desk.get_by_label("Category").select_option("FAILED_CHECK")
    desk.get_by_label("Reason, shown to the participant").fill(TOLD[:80])
    confirm(desk, "Reject")
    desk.get_by_text("the panel requires at least 100").wait_for()
    desk.get_by_label("Reason, shown to the participant").fill(TOLD)
    confirm(desk, "Reject")
    assert queue == [panel.pk] * 2
    queue.clear()
    next_worker(panel)
    careless, sloppy = (each.session for each in failing)
    assert [who for who, _ in prolific.return_requests] == [careless]
    assert prolific.submissions[sloppy]["status"] == "REJECTED"
    prolific.give_back(careless)
    deliver(prolific, panel, base, told)
    open_panel(desk, panel)
    desk.get_by_role("link", name="Exclude and re-collect p-sloppy").click()
    desk.get_by_label("Reason").fill("They were rejected.")
    confirm(desk, "Exclude")
    assert filled(panel) == {"open": WANTED}

    # One closes the page and opens the link again elsewhere: the same person, who goes on.
    twice = person("p-twice")
    twice.judges(1)
    twice.open(viewport=PHONE)
    twice.judges()
    twice.goes_back_with("CDONE")
    assert Participant.objects.filter(external_id="p-twice").count() == 1
    assert Submission.objects.filter(participant__external_id="p-twice").count() == 1

    # Five do as they should, and one withdraws in the middle: a place is added for what they leave.
    good = [twice]
    for number in range(5):
        good.append(person(f"p-{number}"))
        good[-1].judges()
        good[-1].goes_back_with("CDONE")
    leaves = person("p-leaves")
    leaves.judges(1)
    leaves.page.get_by_role("link", name="Withdraw").click()
    leaves.press("Withdraw")
    leaves.goes_back_with("CLEFT")
    deliver(prolific, panel, base, told)
    open_panel(desk, panel)
    desk.locator("table.odd").get_by_role("link", name="Add places").click()
    confirm(desk, "Add")
    assert there["total_available_places"] == WANTED / PER_PERSON + 1
    last = person("p-last")
    last.judges()
    last.goes_back_with("CDONE")
    good.append(last)
    deliver(prolific, panel, base, told)
    assert Participant.objects.filter(study=panel.study).count() == 12
    assert filled(panel) == {"filled": WANTED}
    assert counting_judgments(panel.study).count() == WANTED
    assert not Assignment.objects.filter(participant__study=panel.study, state="reserved").exists()
    assert there["status"] == "AWAITING REVIEW"

    # All are approved at once. The worker dies when the panel has taken the fourth and before it is written down.
    act(desk, panel, "Refresh from the panel", "Refresh")
    act(desk, panel, "Approve all 7 that are complete and pass", "Approve all 7")
    about(desk, panel, "p-leaves", "Approve")
    confirm(desk, "Approve")
    queue.clear()
    approvals = r"/submissions/[^/]+/transition/"
    for _ in range(3):
        prolific.fail("POST", approvals, "slow=0")
    prolific.fail("POST", approvals, "act_then_wait=60")
    dying = Worker(panel, prolific)
    dying.is_killed_when(lambda: len(approved(prolific)) == 4)
    assert Counter(PanelAct.objects.filter(kind="approve").values_list("state", flat=True)) == {
        "done": 3, "sending": 1, "intended": 4,
    }  # fmt: skip
    next_worker(panel)
    paid = sorted(each.session for each in [*good, leaves])
    assert sorted(moves(prolific, "APPROVE")) == paid
    assert moves(prolific, "REJECT") == [sloppy]
    assert sorted(approved(prolific)) == paid

    # Two bonuses. The worker dies when they are paid; what the panel shows of them is put before a person.
    open_panel(desk, panel)
    desk.get_by_role("link", name="Bonuses from a list").click()
    desk.get_by_label("Bonuses, one per line").fill(f"{good[0].session}, 0.75\n{good[1].session}, 0.75")
    desk.get_by_label("Purpose").fill("a second look")
    confirm(desk, "Show the total")
    desk.locator("form button", has_text="1.50").click()
    desk.get_by_text("Paying 2 bonuses").wait_for()
    assert queue.pop() == panel.pk
    prolific.fail("POST", "/pay/", "act_then_wait=60")
    Worker(panel, prolific).is_killed_when(lambda: prolific.paid)
    next_worker(panel)
    assert len(prolific.paid) == 2
    assert len(prolific.sent("POST", "/pay/")) == 1
    act(desk, panel, "Refresh from the panel", "Refresh")
    open_panel(desk, panel)
    shot(desk, "prolific-unknown")
    assert desk.get_by_text("the panel shows 2 bonuses of 0.75 on these submissions").count() == 2
    desk.get_by_role("link", name="Settle as paid").first.click()
    confirm(desk, "Settle as paid")

    # The panel's own word once more: nothing is left, and the money adds up.
    act(desk, panel, "Refresh from the panel", "Refresh")
    open_panel(desk, panel)
    shot(desk, "prolific-settled")
    assert desk.get_by_text("None: the panel and this study agree.").is_visible()
    total = desk.locator("table.money tr.total td").all_text_contents()
    assert total == ["8.70", "8.70", "8.70", "0.00"]
    next_worker(panel)
    assert len(prolific.paid) == 2
    assert sorted(moves(prolific, "APPROVE")) == paid


def moves(prolific: Prolific, action: str) -> list[str]:  # noqa: F811
    """The submissions that were moved so, once for each time that it was asked for."""
    asked = prolific.sent("POST", r"/submissions/[^/]+/transition/")
    return [each.path.split("/")[2] for each in asked if each.body["action"] == action]


def approved(prolific: Prolific) -> list[str]:  # noqa: F811
    return [one["id"] for one in list(prolific.submissions.values()) if one["status"] == "APPROVED"]


def shot(page: Page, name: str) -> None:
    SHOTS.mkdir(exist_ok=True)
    for width in (1280, 390):
        resize(page, {"width": width, "height": 900})
        page.screenshot(path=SHOTS / f"{name}-{width}.png", full_page=True)
    resize(page, {"width": 1280, "height": 900})
