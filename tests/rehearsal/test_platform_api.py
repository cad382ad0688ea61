"""A platform with an API more: a package and one registration, and a study is recruited for there from draft to pay."""

from decimal import Decimal
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotator.models import Panel, PanelAct, PanelEvent, PanelRecord, Participant
from annotator.panels import tasks
from annotator.panels.money.decisions import intend_bonuses, intend_rejection, intend_return_request
from annotator.panels.money.sending import send
from annotator.panels.platforms import PLATFORMS, statuses
from annotator.panels.platforms.errors import NotSetUp, PanelBusy
from annotator.panels.reconciliation.overview import reconcile
from annotator.panels.services import recruiting
from annotator.panels.services.panel_settings import set_panel
from annotator.panels.services.preflight import draft_problems, draft_warnings
from annotator.panels.services.readings import sync
from annotator.panels.services.recruitment_filters import filter_sentences, set_filters
from annotator.panels.services.study_draft import draft_on_panel
from evaluation.refusals import Refused
from evaluation.registry import EntryRefused
from tests.annotator.conftest import text
from tests.annotator.panels.recruits import make, run
from tests.crowd import hand_in
from tests.rehearsal.bazaar.platform import BazaarAPI, BazaarPlatform
from tests.rehearsal.bazaar.server import SERVERS, Bazaar

pytestmark = pytest.mark.django_db
URL = "https://bazaar.example/gate"
REASON = "You handed the ticket in without having answered any of the questions that the stall had asked you to answer."


@pytest.fixture
def bazaar(settings, monkeypatch):
    """The platform, registered, and the account that this installation has the key and the seal of."""
    account = Bazaar()
    monkeypatch.setitem(SERVERS, URL, account)
    settings.ASSAY_BAZAAR_URL, settings.ASSAY_BAZAAR_KEY = URL, account.key
    settings.ASSAY_BAZAAR_SEAL = account.seal
    settings.ASSAY_PUBLIC_URL = "https://assay.example.org"
    with PLATFORMS.registered(BazaarPlatform()):
        yield account


@pytest.fixture
def pairs(bazaar, owner):
    """Live, and set to the bazaar: four people are needed, three items each."""
    study = make("pairs", owner=owner, pay=Decimal(6))
    set_panel(study, "bazaar", {"quarter": "spices"}, "keep")
    return study


@pytest.fixture
def panel(pairs):
    return recruiting.publish(draft_on_panel(pairs))


def come(bazaar, panel, person):
    """Somebody takes a ticket, follows the address and agrees to take part; their ticket and their row here."""
    ticket, address = bazaar.buy(panel.external_id, person)
    parts = urlsplit(address)
    Client().post(parts.path, dict(parse_qsl(parts.query)) | {"choice": "agree"})
    return ticket, Participant.objects.get(platform="bazaar", external_id=person)


def finish(bazaar, panel, person):
    """The same, who does all of it and comes back with the code."""
    ticket, participant = come(bazaar, panel, person)
    for _ in range(participant.quota):
        hand_in(participant.token)
    bazaar.hand_in(ticket, "C-DONE")
    return ticket


def record(ticket):
    return PanelRecord.objects.get(external_id=ticket)


def url(panel, name="", *args):
    return reverse(
        f"admin:evaluation_study_panel{f'_{name}' if name else ''}", args=[panel.study.slug, *args]
    )


# --- setting it up ----------------------------------------------------------------------------------------------------


def test_a_study_is_set_to_it_and_says_what_its_draft_lacks(bazaar, owner, admin, settings):
    study = make("pairs", owner=owner, pay=Decimal("2.50"), completion_codes={"completed": "MUCH-TOO-LONG"})
    page = reverse("admin:evaluation_study_platform", args=[study.slug])
    assert "Work from visits that are returned" in text(admin.get(page, {"platform": "bazaar"}))
    assert admin.post(page, {"platform": "bazaar", "quarter": "", "returned": "keep"}).status_code == 422
    assert (
        admin.post(page, {"platform": "bazaar", "quarter": "spices", "returned": "keep"}).status_code == 302
    )
    settings.ASSAY_BAZAAR_KEY = settings.ASSAY_BAZAAR_SEAL = ""
    settings.ASSAY_PUBLIC_URL = "http://127.0.0.1:8000"
    said = " ".join(draft_problems(type(study).objects.get()))
    for problem in (
        "must have 1 to 8 characters",
        "The pay of 2.50 is not in steps of 1.",
        "ASSAY_BAZAAR_KEY is not set.",
        "which participants can't reach",
    ):
        assert problem in said
    assert draft_warnings(type(study).objects.get()) == [
        "The bazaar laughs at so few coins.",
        "Without webhooks, returned places are free again only after the next sync.",
    ]
    assert "Fix first: ASSAY_BAZAAR_KEY is not set." in text(admin.get(url(Panel.objects.get(), "draft")))


def test_a_platform_whose_api_lacks_a_part_is_refused():
    class Loose(BazaarAPI):
        def __getattribute__(self, name):
            if name == "bonuses_at_once":
                raise AttributeError(name)
            return super().__getattribute__(name)

    class LoosePlatform(BazaarPlatform):
        api = Loose()

    with pytest.raises(EntryRefused, match=r"The platform 'bazaar' .* lacks bonuses_at_once of its API"):
        PLATFORMS.register(LoosePlatform())


# --- recruiting -------------------------------------------------------------------------------------------------------


def test_a_study_is_recruited_for_by_commands(bazaar, pairs):
    assert "can be drafted on The Grand Bazaar" in run("panel", "pairs", "check")
    assert "a draft, 4 places" in run("panel", "pairs", "draft")
    [stall] = bazaar.stalls.values()
    assert (stall["coins"], stall["seats"], stall["quarter"]) == (6, 4, "spices")
    assert stall["words"]["C-FULL"] == {"for": "full", "ask_back": "All places were taken when you arrived."}
    assert "on The Grand Bazaar" in run("panel", "pairs", "publish")
    assert "recruiting, 6 places" in run("panel", "pairs", "places", "2")
    assert "paused" in run("panel", "pairs", "pause")
    assert "recruiting" in run("panel", "pairs", "start")
    ticket, _ = bazaar.buy(stall["stall"], "amal")
    assert "1 submission read, 1 with news" in run("panel", "pairs", "sync")
    assert f"{ticket} on The Grand Bazaar: active." in run("panel", "pairs", "sync", ticket)
    bazaar.fail("POST", "shut", "no")
    with pytest.raises(CommandError, match="The bazaar refused: Not today"):
        run("panel", "pairs", "pause")


def test_a_draft_whose_making_got_no_answer_is_found_again(bazaar, pairs):
    bazaar.fail("POST", "^/stalls$", "lost")
    with pytest.raises(CommandError, match="fell silent"):
        run("panel", "pairs", "draft")
    assert "a draft, 4 places" in run("panel", "pairs", "draft")
    assert len(bazaar.stalls) == 1


def test_its_filters_and_presets_are_its_own(bazaar, pairs, admin):
    panel = Panel.objects.get()
    page = text(admin.get(url(panel, "filters")))
    assert "Speaks any of" in page
    assert "Minimum approval rate" not in page
    admin.post(url(panel, "filters"), {"tongues": "Arabic, French"})
    panel.refresh_from_db()
    assert filter_sentences(panel) == ["speaks Arabic or French"]
    assert "Speaks any of: Nobody at the bazaar speaks 'Elvish'." in text(
        admin.post(url(panel, "filters"), {"tongues": "Elvish"})
    )
    choices = text(admin.get(url(panel, "preset")))
    assert "Caravan" in choices
    assert "ContextEval" not in choices
    assert "speaks Arabic" in run("panel", "pairs", "preset", "caravan")
    draft_on_panel(type(pairs).objects.get())
    [stall] = bazaar.stalls.values()
    assert stall["takes"] == {"tongues": ["Arabic"], "not_people": []}
    set_filters(type(pairs).objects.get(), {"tongues": "French"})
    assert stall["takes"]["tongues"] == ["French"]
    stall["takes"] = {"tongues": []}
    sync(Panel.objects.get())
    titles = [each.kind.key for each in reconcile(Panel.objects.get()).mismatches]
    assert "filters" in titles


def test_filters_of_another_platform_are_left_behind(bazaar, owner):
    study = make("pairs", owner=owner)
    run("panel", "pairs", "preset", "href")
    set_panel(type(study).objects.get(), "bazaar", {"quarter": "spices"}, "keep")
    panel = Panel.objects.get()
    assert (panel.whom, filter_sentences(panel)) == ({}, [])


# --- people -----------------------------------------------------------------------------------------------------------


def test_people_come_work_and_leave_and_are_read_back(bazaar, panel, admin):
    tickets = [finish(bazaar, panel, person) for person in ("amal", "badr", "dina")]
    end = Client().get(f"/p/{Participant.objects.get(external_id='amal').token}/")
    assert "https://bazaar.example/back?word=C-DONE" in end.content.decode()
    assert str(sync(panel)) == "3 submissions, 3 changed."
    assert len([each for each in bazaar.asked if each[1].endswith("/tickets")]) == 2, "two to a page"
    assert [record(each).status for each in tickets] == ["awaiting_review"] * 3
    found = reconcile(Panel.objects.get())
    assert {case.person for case in found.approvable} == {"amal", "badr", "dina"}
    page = text(admin.get(url(panel)))
    assert "The Grand Bazaar: recruiting" in page
    assert "Approve all 3 that are complete and pass" in page
    for name in ("sync", "places", "pause", "approve", "bonus", "send"):
        assert admin.get(url(panel, name)).status_code == 200, name


def test_a_busy_bazaar_is_waited_for_and_then_left(bazaar, panel):
    waited = []
    bazaar.fail("GET", "/tickets$", "busy")
    with PLATFORMS["bazaar"].api.open(patience=10, wait=waited.append) as client:
        assert client.list_submissions(panel.external_id) == []
        assert waited == [7]
        bazaar.fail("GET", "/tickets$", "busy")
        client.patience = 1
        with pytest.raises(PanelBusy, match="crowded"):
            client.list_submissions(panel.external_id)


def test_without_a_key_it_is_not_asked(panel, settings):
    settings.ASSAY_BAZAAR_KEY = ""
    with pytest.raises(NotSetUp, match="ASSAY_BAZAAR_KEY is not set"):
        sync(panel)


# --- decisions and money ----------------------------------------------------------------------------------------------


def test_approvals_are_sent_from_the_page(
    bazaar, panel, admin, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.setattr(tasks.send_panel_acts, "delay", tasks.send_panel_acts)
    tickets = [finish(bazaar, panel, person) for person in ("amal", "badr")]
    sync(panel)
    chosen = admin.get(url(panel, "approve"), {"all": 1}).context["form"].initial["records"]
    with django_capture_on_commit_callbacks(execute=True):
        admin.post(url(panel, "approve"), {"records": chosen})
    assert [bazaar.tickets[each]["state"] for each in tickets] == ["paid", "paid"]
    assert [record(each).status for each in tickets] == ["approved", "approved"]


def test_an_approval_without_an_answer_is_looked_up(bazaar, panel, owner):
    ticket = finish(bazaar, panel, "amal")
    sync(panel)
    PanelAct.objects.create(panel=panel, record=record(ticket), kind="approve", by=owner)
    bazaar.fail("POST", "/pay$", "lost")
    assert send(panel).done == 1
    assert len([each for each in bazaar.asked if each[1] == f"/tickets/{ticket}/pay"]) == 1


def test_a_rejection_and_a_request_to_return(bazaar, panel, owner):
    empty, _ = bazaar.buy(panel.external_id, "amal")
    bazaar.hand_in(empty, "C-OUT")
    asked = finish(bazaar, panel, "badr")
    sync(panel)
    intend_rejection(record(empty), REASON, "NO_DATA", owner)
    intend_return_request(record(asked), "The questions were shown twice.", owner)
    assert send(panel).done == 2
    assert (bazaar.tickets[empty]["state"], bazaar.tickets[empty]["note"]) == (
        "thrown_out",
        f"no_data: {REASON}",
    )
    assert bazaar.tickets[asked]["note"] == "The questions were shown twice."
    sync(panel)
    assert record(empty).status == "rejected"
    assert record(asked).return_asked_at is not None


def test_bonuses_are_whole_coins_in_purses_of_two(bazaar, panel, owner):
    tickets = [finish(bazaar, panel, person) for person in ("amal", "badr", "dina")]
    sync(panel)
    rows = [record(each) for each in tickets]
    with pytest.raises(Refused, match=r"0\.50 is not an amount above 0 in steps of 1"):
        intend_bonuses(panel, {rows[0]: Decimal("0.50")}, "goodwill", owner)
    intend_bonuses(panel, dict.fromkeys(rows, Decimal(2)), "goodwill", owner)
    assert send(panel).done == 3
    assert bazaar.tipped == [(each, 2) for each in tickets]
    assert [len(tips) for tips in bazaar.purses.values()] == [2, 1]
    assert sync(panel, everyone=True).bonuses == 3
    assert record(tickets[0]).bonuses == 2
    bazaar.tickets[tickets[0]]["tips"].append(5)
    sync(panel, everyone=True)
    [odd] = [each for each in reconcile(Panel.objects.get()).mismatches if each.kind.key == "bonus"]
    assert odd.sentence.startswith("The panel shows bonuses of 7.00, but 2.00 was paid from here.")


def test_a_bonus_that_is_refused_keeps_no_other(bazaar, panel, owner):
    tickets = [finish(bazaar, panel, person) for person in ("amal", "badr")]
    bazaar.become(tickets[0], "left")
    sync(panel)
    intend_bonuses(panel, {record(each): Decimal(1) for each in tickets}, "goodwill", owner)
    sent = send(panel)
    assert (sent.done, sent.refused) == (1, 1)
    assert bazaar.tipped == [(tickets[1], 1)]
    assert PanelAct.objects.get(state="refused").note == "The bazaar refused: Who has left is not tipped."


def test_a_bonus_that_may_have_been_paid_waits_for_a_person(bazaar, panel, owner):
    ticket = finish(bazaar, panel, "amal")
    sync(panel)
    intend_bonuses(panel, {record(ticket): Decimal(2)}, "goodwill", owner)
    bazaar.fail("POST", "/purses/.*/pay", "lost")
    assert send(panel).unknown == 1
    assert send(panel).done == 0
    assert bazaar.tipped == [(ticket, 2)]


# --- webhooks ---------------------------------------------------------------------------------------------------------


def test_news_is_asked_for_by_a_command(bazaar, settings):
    printed = run("panel_hooks", "spices", "--platform", "bazaar", "--new-secret")
    assert f"ASSAY_BAZAAR_SEAL={bazaar.seal}" in printed
    assert "news is sent to https://assay.example.org/hooks/bazaar/" in run(
        "panel_hooks", "spices", "--platform", "bazaar"
    )
    assert "exist already" in run("panel_hooks", "spices", "--platform", "bazaar")
    settings.ASSAY_BAZAAR_SEAL = ""
    with pytest.raises(CommandError, match="ASSAY_BAZAAR_SEAL is not set"):
        call_command("panel_hooks", "spices", "--platform", "bazaar")


def test_news_is_applied_once_and_believed_by_its_seal_alone(
    bazaar, panel, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.setattr(tasks.apply_panel_events, "delay", tasks.apply_panel_events)
    run("panel_hooks", "spices", "--platform", "bazaar")
    ticket, participant = come(bazaar, panel, "amal")
    bazaar.become(ticket, "left")
    bazaar.move(panel.external_id, "shut", {})
    client, (_, inside, left, shut) = Client(), bazaar.news
    assert bazaar.deliver(client, left, seal="another") == [401]
    assert not PanelEvent.objects.exists()
    with django_capture_on_commit_callbacks(execute=True):
        assert [bazaar.deliver(client, each) for each in (shut, left, inside)] == [[204]] * 3
    participant.refresh_from_db()
    panel.refresh_from_db()
    assert panel.status == statuses.PAUSED
    assert (record(ticket).status, participant.outcome) == ("returned", "returned")
    bazaar.deliver(client, left)
    assert PanelEvent.objects.filter(platform="bazaar", applied_at__lte=timezone.now()).count() == 3
    bazaar.become(ticket, "bewitched")
    with django_capture_on_commit_callbacks(execute=True):
        bazaar.deliver(client, bazaar.news[-1])
    assert (
        PanelEvent.objects.get(applied_at=None).problem
        == "A submission's status 'bewitched' is not known here."
    )
    assert "3 events of the panel applied again" in run("panel", "pairs", "replay")
    assert client.post("/hooks/sona/", b"{}", content_type="application/json").status_code == 404
