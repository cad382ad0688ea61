"""A study on Prolific from its draft to its last payment: twelve people, a researcher's screens, and killed workers."""

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page

from annotator import tasks
from annotator.models import Assignment, Panel, PanelAct, Participant, Slot, Submission
from annotator.platforms import Visit
from annotator.services.entry import enter
from annotator.services.panels import set_panel
from evaluation.models import Role
from evaluation.selectors import counting_judgments
from evaluation.services import PAPER_ARMS
from tests import factories
from tests.browser.conftest import PHONE, Visitor
from tests.browser.walking import segment
from tests.crowd import before, hand_in
from tests.platforms.conftest import prolific  # noqa: F401 - a fixture
from tests.prolific_server import Prolific

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
ITEMS, EACH, PER_PERSON = 9, 3, 3
PLACES = ITEMS * EACH
# What a worker does with a message, in a process that can be killed.
WORKER = (
    "import sys, django; django.setup(); from annotator.tasks import send_panel_acts; "
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
    """Nine items of three judgments, three a person, with a check among them; what is returned is judged anew."""
    settings.ASSAY_PUBLIC_URL = live_server.url
    owner = get_user_model().objects.create_user("ada", password="ada-password", is_staff=True)
    study = factories.make_study(
        "paid", owner=owner, queries=ITEMS, redundancy=EACH, items_per_participant=PER_PERSON, checks=1, training=False,
        arms=PAPER_ARMS[:1], steps=factories.NO_STEPS | {"attention": {"checks": 1, "allowed_failures": 0}},
        pay="1.75", paid_minutes=7, contact="lab@example.org", completion_codes=CODES,
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
    """A process that works off one message."""

    def __init__(self, panel: Panel, account: Prolific, *, bound: str = "300") -> None:
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
                "ASSAY_PANEL_SENDING_SECONDS": bound,
            },
        )

    def ends(self) -> None:
        assert self.process.wait(60) == 0

    def is_killed_when(self, happened: Callable[[], Any]) -> None:
        until = time.monotonic() + 60
        while not happened():
            assert self.process.poll() is None, "it ended before it was killed"
            assert time.monotonic() < until
            time.sleep(0.02)
        self.process.kill()
        self.process.wait(10)


def act(desk: Page, panel: Panel, link: str, button: str) -> None:
    """Opens the panel's page, follows a link on it, and confirms."""
    open_panel(desk, panel)
    desk.get_by_role("link", name=link, exact=True).first.click()
    desk.get_by_role("button", name=button, exact=True).click()
    desk.wait_for_load_state()


def open_panel(desk: Page, panel: Panel) -> None:
    base = desk.url.split("/admin/")[0]
    desk.goto(base + reverse("admin:annotator_panelrecord_reconciliation", args=[panel.study_id]))


def judge_one(page: Page, *, passes: bool = True) -> None:
    """The item that the participant has before them, by mouse; a check is passed or failed."""
    assignment = before(page.url.rstrip("/").split("/p/")[1].split("/")[0].split("?")[0])
    is_check = assignment.item.role == Role.ATTENTION
    segment(page, "preference", "tie" if is_check and passes else "r1")
    page.get_by_label("Why?").fill("It answers what was asked, and in order.")
    page.get_by_role("button", name="Submit and go on").click()
    page.wait_for_load_state()


def come(prolific: Prolific, panel: Panel, person: str) -> tuple[str, Participant]:  # noqa: F811
    session = prolific.arrive(panel.external_id, person)
    return session, enter(panel.study, Visit("prolific", person, panel.external_id, session))


def work(token: str, items: int = PER_PERSON + 1) -> None:
    """So many items and checks, all as they should be."""
    for _ in range(items):
        if (assignment := before(token)) is not None:
            is_check = assignment.item.role == Role.ATTENTION
            hand_in(token, preference="tie" if is_check else "r1")


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
    desk.goto(base + "/admin/")

    # Drafted and published from the admin; the codes are fixed, and nobody's page has one yet.
    act(desk, panel, "Draft it there", "Draft it")
    act(desk, panel, "Publish", "Publish")
    panel.refresh_from_db()
    assert prolific.studies[panel.external_id]["status"] == "ACTIVE"
    assert panel.places == PLACES / PER_PERSON

    # One judges an item and returns the study: their page says so, and their work is left out.
    returned = prolific.arrive(panel.external_id, "p-returns")
    phone = new_visitor(viewport=PHONE)
    phone.page.goto(prolific.address(returned))
    assert not any(code in phone.page.content() for code in CODES.values())
    phone.page.get_by_role("button", name="I agree").click()
    judge_one(phone.page)
    assert not any(code in phone.page.content() for code in CODES.values())
    prolific.give_back(returned)
    deliver(prolific, panel, base, told)
    phone.page.reload()
    assert not phone.page.locator("#judge").count()
    assert filled(panel)["filled"] == 0

    # One runs out of time after two.
    late, participant = come(prolific, panel, "p-late")
    work(participant.token, 2)
    prolific.time_out(late)
    deliver(prolific, panel, base, told)
    assert filled(panel) == {"open": PLACES}

    # One fails the check. It is one failure in seven minutes: too little to reject, so they are asked to return.
    careless = prolific.arrive(panel.external_id, "p-careless")
    page = new_visitor().page
    page.goto(prolific.address(careless))
    page.get_by_role("button", name="I agree").click()
    while page.locator("#judge").count():
        judge_one(page, passes=False)
    assert page.text_content("#code") == "CFAIL"
    prolific.complete(careless, "CFAIL")
    deliver(prolific, panel, base, told)
    open_panel(desk, panel)
    row = desk.locator("table.visits tr", has_text="p-careless")
    row.get_by_role("link", name="Ask to return").click()
    desk.get_by_label("What they read").fill("The check was missed; returning costs you nothing.")
    desk.get_by_role("button", name="Ask to return").click()
    desk.wait_for_load_state()
    assert queue.pop() == panel.pk
    Worker(panel, prolific).ends()
    assert [who for who, _ in prolific.return_requests] == [careless]
    prolific.give_back(careless)
    deliver(prolific, panel, base, told)
    assert filled(panel) == {"open": PLACES}

    # One closes the page and opens the link again elsewhere: the same person, who goes on.
    twice = prolific.arrive(panel.external_id, "p-twice")
    for visitor in (new_visitor(), new_visitor(viewport=PHONE)):
        visitor.page.goto(prolific.address(twice))
        if visitor.page.get_by_role("button", name="I agree").count():
            visitor.page.get_by_role("button", name="I agree").click()
        judge_one(visitor.page)
    while visitor.page.locator("#judge").count():
        judge_one(visitor.page)
    assert visitor.page.text_content("#code") == "CDONE"
    assert Participant.objects.filter(external_id="p-twice").count() == 1
    assert Submission.objects.filter(participant__external_id="p-twice").count() == 1
    prolific.complete(twice, "CDONE")

    # The other eight do as they should; all places are filled, none twice, and the study is full.
    good = [twice]
    for number in range(8):
        session, participant = come(prolific, panel, f"p-{number}")
        work(participant.token)
        prolific.complete(session, "CDONE")
        good.append(session)
    deliver(prolific, panel, base, told)
    assert Participant.objects.filter(study=panel.study).count() == 12
    assert filled(panel) == {"filled": PLACES}
    assert counting_judgments(panel.study).count() == PLACES
    assert not Assignment.objects.filter(participant__study=panel.study, state="reserved").exists()
    assert prolific.studies[panel.external_id]["status"] == "AWAITING REVIEW"

    # All are approved at once. The worker dies when the panel has taken the fourth and before it is written down.
    act(desk, panel, "Ask the panel again", "Ask")
    act(desk, panel, "Approve all 9 that are complete and pass", "Approve all 9")
    assert queue.pop() == panel.pk
    approvals = r"/submissions/[^/]+/transition/"
    for _ in range(3):
        prolific.fail("POST", approvals, "slow=0")
    prolific.fail("POST", approvals, "act_then_wait=60")
    dying = Worker(panel, prolific)
    dying.is_killed_when(lambda: len(approved(prolific)) == 4)
    assert Counter(PanelAct.objects.filter(kind="approve").values_list("state", flat=True)) == {
        "done": 3, "sending": 1, "intended": 5,
    }  # fmt: skip
    Worker(panel, prolific, bound="0").ends()
    asked = Counter(each.path for each in prolific.sent("POST", approvals))
    assert sorted(asked.values()) == [1] * 9
    assert sorted(approved(prolific)) == sorted(good)

    # Two bonuses. The worker dies when they are paid; whether they are, only a look at the panel can tell.
    open_panel(desk, panel)
    desk.get_by_role("link", name="Bonuses from a list").click()
    desk.get_by_label("Who gets how much").fill(f"{good[0]}, 0.50\n{good[1]}, 1.25")
    desk.get_by_label("What for").fill("a second look")
    desk.get_by_role("button", name="Show the sum").click()
    desk.get_by_text("1.75").first.wait_for()
    desk.locator("form button", has_text="1.75").or_(
        desk.get_by_role("button", name="Pay", exact=False)
    ).first.click()
    desk.wait_for_load_state()
    assert queue.pop() == panel.pk
    prolific.fail("POST", "/pay/", "act_then_wait=60")
    Worker(panel, prolific).is_killed_when(lambda: prolific.paid)
    Worker(panel, prolific, bound="0").ends()
    Worker(panel, prolific, bound="0").ends()
    assert len(prolific.paid) == 2
    assert len(prolific.sent("POST", "/pay/")) == 1
    open_panel(desk, panel)
    shot(desk, "prolific-unknown")
    assert desk.get_by_role("link", name="Settle").count() == 2
    while desk.get_by_role("link", name="Settle").count():
        desk.get_by_role("link", name="Settle").first.click()
        desk.get_by_label("It happened").check()
        desk.get_by_label("How you know").fill("The submission's page there shows the bonus.")
        desk.get_by_role("button", name="Settle").click()
        desk.wait_for_load_state()

    # The panel's own word once more: nothing is left, and the money adds up.
    act(desk, panel, "Ask the panel again", "Ask")
    open_panel(desk, panel)
    shot(desk, "prolific-settled")
    assert desk.get_by_text("None: the panel and this study agree.").is_visible()
    total = desk.locator("table.money tr.total td").all_text_contents()
    assert total == ["17.50", "17.50", "17.50", "0.00"]
    Worker(panel, prolific, bound="0").ends()
    assert len(prolific.paid) == 2
    assert sorted(Counter(each.path for each in prolific.sent("POST", approvals)).values()) == [1] * 9


def approved(prolific: Prolific) -> list[str]:  # noqa: F811
    return [one["id"] for one in list(prolific.submissions.values()) if one["status"] == "APPROVED"]


def shot(page: Page, name: str) -> None:
    SHOTS.mkdir(exist_ok=True)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.screenshot(path=SHOTS / f"{name}-{width}.png", full_page=True)
    page.set_viewport_size({"width": 1280, "height": 900})
