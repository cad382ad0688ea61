"""A study inside another site's frame, from its preview to the form that the site receives; and the pages around it."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, quote, urlencode

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse
from playwright.sync_api import expect

from annotator.models import Participant
from annotator.panels.services.arrivals import read_arrival
from annotator.panels.services.panel_settings import set_panel
from annotator.panels.services.personal_links import make_links, revoke_link
from annotator.services.admission.entry import enter
from annotator.services.work.progress import finish
from evaluation.models import Judgment, StudyMember
from tests.browser import material
from tests.browser.conftest import Visitor
from tests.browser.looking import look
from tests.browser.test_admin import sign_in
from tests.browser.test_screens import ITEMS_ONLY
from tests.browser.walking import fill_by_mouse, leave_by
from tests.protocol_factories import (
    BOILING,
    BOILING_DRAFT,
    BOILING_FRAGMENTS,
    add_protocol_item,
    make_protocol_draft,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
NOT_AVAILABLE = "ASSIGNMENT_ID_NOT_AVAILABLE"
HIT = {"assignmentId": "a-1", "hitId": "h-1", "workerId": "w-1"}


@pytest.fixture
def site() -> Iterator[SimpleNamespace]:
    """Another site than the live server's: it shows addresses in a frame, and takes the form at the end."""
    found = SimpleNamespace(posted=[], frame="", address="")

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._say(
                found.frame if self.path == "/" else "<!doctype html><title>Site</title><p>Received.</p>"
            )

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            found.posted.append((self.path, parse_qs(body), self.headers.get("Referer")))
            self.send_response(302)
            self.send_header("Location", "/received")
            self.end_headers()

        def _say(self, page: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Set-Cookie", "site=1; SameSite=Lax")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *args: Any) -> None:
            """Silence."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    found.address = f"http://127.0.0.1:{server.server_port}"
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


def show(site: SimpleNamespace, address: str, params: dict[str, str]) -> None:
    query = "&amp;".join(f"{name}={quote(value, safe='')}" for name, value in params.items())
    title = "<!doctype html><link rel=icon href=data:,><title>Site</title><h1>Site</h1>"
    site.frame = f'{title}<iframe title="task" width="1200" height="800" src="{address}?{query}"></iframe>'


def make_question(site: SimpleNamespace, **fields: Any) -> Any:
    study = material.make_study("coffee", steps=ITEMS_ONLY, items_per_participant=2, **fields)
    set_panel(
        study, "external_question", {"submit_origins": site.address, "frame_origins": site.address}, "keep"
    )
    return study


def test_in_a_frame_without_cookies_to_the_site_s_form(
    visitor: Visitor, site: SimpleNamespace, live_server: Any
) -> None:
    make_question(site)
    page = visitor.page
    params = HIT | {"turkSubmitTo": site.address}
    show(site, f"{live_server.url}/s/coffee/", params | {"assignmentId": NOT_AVAILABLE})
    page.goto(site.address)
    frame = page.frames[1]
    frame.wait_for_selector("text=This is a preview")
    assert frame.locator("form").count() == 0
    assert frame.locator("fieldset[disabled] :is(input, textarea):enabled").count() == 0
    assert Participant.objects.count() == 0

    show(site, f"{live_server.url}/s/coffee/", params)
    page.goto(site.address)
    frame = page.frames[1]
    frame.get_by_role("button", name="I agree").click()
    finish_button = frame.get_by_role("button", name="Send and finish")
    for _ in range(2):
        frame.wait_for_selector("#judge")
        fill_by_mouse(frame)
        done = frame.locator("#judge").get_attribute("action")
        frame.get_by_role("button", name="Submit and continue").click()
        frame.wait_for_selector(f'#judge:not([action="{done}"]), #comments')
    assert site.posted == []
    frame.get_by_role("button", name="Finish").click()
    finish_button.click()
    frame.wait_for_selector("text=Received.")
    [(path, fields, referer)] = site.posted
    assert path == "/mturk/externalSubmit"
    assert fields == {"assignmentId": ["a-1"], "outcome": ["completed"], "code": ["C1TUA9KX"]}
    assert referer is None  # the participant's address is their key
    assert Judgment.objects.filter(outcome="ok").count() == 2
    assert Participant.objects.get().submissions.get().external_id == "a-1"
    assert visitor.complaints == []
    assert [url for url in visitor.cookies_set if url.startswith(live_server.url)] == []


def test_a_site_that_the_study_does_not_name_can_not_frame_it(
    visitor: Visitor, site: SimpleNamespace, live_server: Any, settings: Any
) -> None:
    """Not even one that other studies of the installation may be framed by."""
    settings.ASSAY_FRAME_ANCESTORS = [site.address]
    study = make_question(site)
    set_panel(study, "connect", {}, "keep")
    show(site, f"{live_server.url}/s/coffee/", {"participantId": "p", "projectId": "7", "assignmentId": "a"})
    with visitor.page.expect_console_message(lambda message: "frame-ancestors" in message.text):
        visitor.page.goto(site.address)
    assert visitor.page.frames[1].locator("button").count() == 0


def test_the_pages_of_a_participant(visitor: Visitor, site: SimpleNamespace) -> None:
    study = make_question(site, follow_ups=2)
    visitor.go(f"/s/coffee/?assignmentId={NOT_AVAILABLE}&hitId=h-1")
    look(visitor, "platform_preview")
    visitor.go("/s/coffee/")
    look(visitor, "platform_no_id")
    params = HIT | {"turkSubmitTo": site.address}
    participant = enter(study, read_arrival(study, params).visit)
    finish(participant, "completed")
    visitor.go(f"/p/{participant.token}/")
    look(visitor, "platform_send")
    visitor.go(f"/s/coffee/?{urlencode(params | {'assignmentId': 'a-2'})}")
    leave_by(visitor.page.get_by_role("button", name="Continue"))
    expect(visitor.page.get_by_role("heading", name="You have already done this study")).to_be_visible()
    look(visitor, "platform_done_before")
    [link] = make_links(study, ["Ann"])
    revoke_link(link, "Sent to the wrong person.")
    visitor.go(f"/s/coffee/?personal={link.key}")
    expect(visitor.page.get_by_role("heading", name="This link no longer works")).to_be_visible()
    look(visitor, "platform_link_revoked")
    set_panel(study, "link", {"return_completed": "https://panel.example/end?c={code}"}, "keep")
    visitor.go("/s/coffee/")
    participant = enter(study, read_arrival(study, {}).visit)
    finish(participant, "completed")
    visitor.go(f"/p/{participant.token}/")
    assert visitor.page.get_by_role("link", name="Back to where you came from").get_attribute("href") == (
        "https://panel.example/end?c=C1TUA9KX"
    )
    look(visitor, "platform_back")
    visitor.assert_calm()


def test_the_pages_of_a_researcher(visitor: Visitor) -> None:
    study = material.make_study("coffee")
    ada = get_user_model().objects.create_user("ada", password="a-long-password-of-ada", is_staff=True)
    StudyMember.objects.create(study=study, user=ada, role="owner")
    sign_in(visitor)
    page = visitor.page
    visitor.go(reverse("admin:evaluation_study_platform", args=[study.slug]))
    leave_by(page.get_by_role("link", name="CloudResearch Connect"))
    page.get_by_label("Partial Completes address").fill("connect.cloudresearch.com/partial")
    leave_by(page.get_by_role("button", name="Use CloudResearch Connect"))
    assert "must be a whole address" in (page.text_content("[role=alert]") or "")
    look(visitor, "admin_platform_wrong")
    page.get_by_label("Partial Completes address").fill("https://connect.cloudresearch.com/partial/9")
    leave_by(page.get_by_role("button", name="Use CloudResearch Connect"))
    assert "connect.cloudresearch.com/participant/project/STUDY/complete" in (
        page.text_content("table") or ""
    )
    look(visitor, "admin_platform")
    leave_by(page.get_by_role("link", name="Link", exact=False).first)
    look(visitor, "admin_platform_link")
    make_links(study, ["Ann of the second floor", "Ben"])
    visitor.go(reverse("admin:evaluation_study_links", args=[study.slug]))
    page.get_by_label("Names, one per line").fill("Cleo\nDan")
    leave_by(page.get_by_role("button", name="Create links"))
    assert page.locator("tbody tr").count() == 4
    leave_by(page.get_by_role("link", name="Revoke Cleo"))
    page.get_by_label("Reason").fill("Sent to the wrong person.")
    look(visitor, "admin_link_revoke")
    leave_by(page.get_by_role("button", name="Revoke it"))
    expect(page.get_by_role("link", name="Restore Cleo")).to_be_visible()
    expect(page.locator("tbody tr").nth(2)).to_contain_text("Sent to the wrong person.")
    look(visitor, "admin_links")


def test_the_pages_of_lists_and_of_what_to_think_about(visitor: Visitor) -> None:
    pilot = material.make_study("coffee")
    draft = make_protocol_draft("condition_calibration", "conditions", systems=("aspen",), redundancy=1)
    texts = (json.dumps(BOILING_DRAFT),)
    add_protocol_item(draft, "boiling", BOILING, texts, documents=BOILING_FRAGMENTS)
    ada = get_user_model().objects.create_user("ada", password="a-long-password-of-ada", is_staff=True)
    for study in (pilot, draft):
        StudyMember.objects.create(study=study, user=ada, role="owner")
        codes = {"site": "https://x.sona-systems.com", "experiment_id": "3", "credit_token": "t9"}
        set_panel(study, "sona", codes, "keep")
    sign_in(visitor)
    page = visitor.page
    visitor.go(reverse("admin:evaluation_study_launch", args=[draft.slug]))
    expect(page.locator(".missing-list li:not(.blocks, :has(.quiet))")).to_have_count(1)
    visitor.go(reverse("admin:evaluation_study_entry_rules", args=[draft.slug]))
    page.get_by_text("Studies whose people can't be recognised here").click()
    expect(page.get_by_text("SONA gives each person a new survey code").first).to_be_visible()
    page.get_by_label("Study, rule 1").select_option(str(pilot))
    page.get_by_label("Reason").fill("They know the items.")
    assert visitor.complaints == []
    look(visitor, "admin_entry_rules")
    visitor.complaints.clear()  # what looks at the page sets styles, which the policy refuses
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".messagelist .warning")).to_contain_text("recognised are let in")
    visitor.go(reverse("admin:evaluation_study_launch", args=[draft.slug]))
    expect(page.locator(".missing-list li:not(.blocks, :has(.quiet))")).to_have_count(2)
    expect(page.get_by_role("button", name="Launch now")).to_be_visible()
    assert visitor.complaints == []
    look(visitor, "admin_launch_advice")
    page.get_by_role("link", name="Who may take part").click()
    expect(page.get_by_role("button", name="Save")).to_be_visible()
