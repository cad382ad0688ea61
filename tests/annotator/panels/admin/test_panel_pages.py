"""The panel's page of a study: what it shows, what its acts do, whom they are refused, and what history says."""

import re
import uuid
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse
from django.utils import timezone

from annotator.models import KnownMismatch, Panel, PanelAct, PanelRecord, ParticipantOutcome
from annotator.panels import tasks
from annotator.services.work.progress import finish
from evaluation.models import Job, StudyMember
from evaluation.services.jobs import waiting_jobs
from evaluation.tasks import work_on_job
from tests.annotator.panels import prolific_server
from tests.annotator.panels.panel_rows import (
    CODES,
    act,
    fail_check,
    finished_long_ago,
    make_panel_study,
    record,
    work,
)
from tests.evaluation.admin.conftest import signed_in

pytestmark = pytest.mark.django_db
TOLD = (
    "Two of the attention checks in this study were not answered as their text asks; they stand on "
    "items four and "
    "nine, and each says plainly which answer to choose."
)


@pytest.fixture
def panel(owner: Any, colleague: Any) -> Panel:
    made = make_panel_study(owner=owner)
    StudyMember.objects.create(study=made.study, user=colleague, role="editor")
    return made


def url(panel: Panel, name: str, *args: Any) -> str:
    suffix = f"_{name}" if name else ""
    return reverse(f"admin:evaluation_study_panel{suffix}", args=[panel.study.slug, *args])


def text(response: Any) -> str:
    """The page with single spaces, and none between the cells of a table."""
    return re.sub(r"> <(?=/?t[dhr]\b)", "><", " ".join(response.content.decode().split()))


def history(panel: Panel) -> str:
    return " ".join(entry.get_change_message() for entry in LogEntry.objects.all())


def test_where_nothing_was_compared_no_agreement_is_claimed(panel: Panel, owner: Any) -> None:
    drafted = Panel.objects.values("drafted_at", "external_id").get()
    Panel.objects.update(drafted_at=None, external_id="")
    shown = text(signed_in(owner).get(url(panel, "")))
    assert "Nothing was compared yet: no study on Prolific is linked to this one." in shown
    assert "agree" not in shown
    Panel.objects.update(**drafted)
    assert "None: the panel and this study agree." in text(signed_in(owner).get(url(panel, "")))


def open_kinds(page: Any) -> list[str]:
    """What stands open about visits."""
    return [group.title for group in page.context["groups"] if group.title != "Places"]


def acts() -> list[tuple[str, str, str]]:
    rows = PanelAct.objects.order_by("pk").values_list("record__participant_id", "kind", "state")
    return list(rows)


def test_the_page_shows_both_sides_the_money_and_what_to_do(
    panel: Panel, colleague: Any, viewer: Any
) -> None:
    StudyMember.objects.create(study=panel.study, user=viewer, role="viewer")
    work(panel.study, "ann")
    record(panel, "ann", "awaiting_review", code="CDONE")
    record(panel, "stranger", "awaiting_review")
    page = text(signed_in(colleague).get(url(panel, "")))
    assert "Prolific: recruiting" in page
    assert "2: 2 awaiting review" in page
    assert (
        '<td class="n">3.00</td><td class="n">0.00</td><td class="n">0.00</td><td class="n">3.00</td>' in page
    )
    assert "nobody came here with this id" in page
    assert "Approve the one that is complete and passes" in page
    for_viewers = text(signed_in(viewer).get(url(panel, "")))
    assert "nobody came here with this id" in for_viewers
    assert "Approve" not in for_viewers.replace("Approved", "")
    assert url(panel, "acknowledge") not in for_viewers


def test_what_the_page_offers_fits_the_visit(panel: Panel, owner: Any) -> None:
    """No rejection for a failed qualification, and places to add with their number filled in."""
    finish(work(panel.study, "ann", 0), ParticipantOutcome.FAILED_QUALIFICATION)
    mine = record(panel, "ann", "awaiting_review")
    Panel.objects.filter(pk=panel.pk).update(places=4)
    client = signed_in(owner)
    page = text(client.get(url(panel, "")))
    assert url(panel, "ask", mine.pk) in page
    assert url(panel, "reject", mine.pk) not in page
    add = f"{url(panel, 'places')}?more=3"
    assert f'href="{add}"' in page
    assert client.get(add).context["form"].initial["more"] == "3"


def test_a_study_without_a_panel_says_so(panel: Panel, owner: Any) -> None:
    Panel.objects.all().delete()
    page = text(signed_in(owner).get(url(panel, "")))
    assert "No recruitment platform is set for this study yet" in page
    assert signed_in(owner).get(url(panel, "approve")).status_code == 404


def test_the_list_is_filtered_and_searched(panel: Panel, owner: Any) -> None:
    for name in ("ann", "bob"):
        work(panel.study, name)
        record(panel, name, "awaiting_review", code="CDONE")
    record(panel, "gone", "returned")
    record(panel, "odd", "approved")
    client = signed_in(owner)

    def listed(query: str) -> list[str]:
        page = client.get(url(panel, "") + query)
        return sorted(row.case.person for row in page.context["rows"])

    assert listed("") == ["ann", "bob", "gone", "odd"]
    assert listed("?show=ready") == ["ann", "bob"]
    assert listed("?show=gone") == ["gone"]
    assert listed("?show=odd") == ["odd"]
    assert listed("?kind=unknown_here") == ["odd"]
    assert listed("?q=VISIT-BO") == ["bob"]
    assert listed("?q=nobody") == []
    assert listed("?show=x&page=99&kind=y") == ["ann", "bob", "gone", "odd"]


def test_approving_all_that_are_complete(panel: Panel, colleague: Any) -> None:
    for name in ("ann", "bob"):
        work(panel.study, name)
        record(panel, name, "awaiting_review", code="CDONE")
    record(panel, "stranger", "awaiting_review")
    client = signed_in(colleague)
    page = client.get(url(panel, "approve"), {"all": 1})
    assert "That is 3.00 GBP" in text(page)
    chosen = page.context["form"].initial["records"]
    work(panel.study, "late")
    record(panel, "late", "awaiting_review", code="CDONE")  # after the page was read
    answer = client.post(url(panel, "approve"), {"records": chosen, "reason": "Read all of it."})
    assert answer.status_code == 302
    assert sorted(acts()) == [("ann", "approve", "intended"), ("bob", "approve", "intended")]
    assert set(PanelAct.objects.values_list("by", flat=True)) == {colleague.pk}
    assert "Approving 2 submissions: " in history(panel)
    assert "Reason: Read all of it." in history(panel)
    again = client.post(url(panel, "approve"), {"records": chosen})
    assert again.status_code == 422
    assert "All of them are approved or being approved." in text(again)
    assert client.post(url(panel, "approve"), {"records": "999999"}).status_code == 404
    PanelRecord.objects.filter(participant_id="stranger").update(status="returned")
    stranger = PanelRecord.objects.get(participant_id="stranger")
    refused = client.post(url(panel, "approve"), {"records": stranger.pk})
    assert "visit-stranger is returned" in text(refused)


def test_a_rejection_shows_the_rules_and_obeys_them(panel: Panel, colleague: Any) -> None:
    careful = work(panel.study, "ann")
    mine = record(panel, "ann", "awaiting_review", submission=careful.submissions.get())
    client = signed_in(colleague)
    address = url(panel, "reject", mine.pk)
    page = text(client.get(address))
    assert "only those who failed at least 2 attention checks" in page
    assert 'data-least="100"' in page
    short = client.post(address, {"category": "LOW_EFFORT", "reason": "Bad."})
    assert short.status_code == 422
    assert "The reason has 4 characters; the panel requires at least 100." in text(short)
    assert "0 failed attention checks; a study of 20 minutes needs at least 2." in text(short)
    assert PanelAct.objects.count() == 0
    fail_check(careful)
    assert "failed 1 of 1 attention checks" in text(client.get(address))
    empty = record(panel, "stranger", "awaiting_review")
    sent = client.post(url(panel, "reject", empty.pk), {"category": "NO_DATA", "reason": TOLD})
    assert sent.status_code == 302
    assert acts() == [("stranger", "reject", "intended")]
    assert f"Rejecting visit-stranger (no data). Reason: {TOLD}" in history(panel)


def test_asking_to_return(panel: Panel, colleague: Any) -> None:
    mine = record(panel, "ann", "awaiting_review")
    client = signed_in(colleague)
    assert client.post(url(panel, "ask", mine.pk), {"reason": " "}).status_code == 422
    told = "You came twice; please return this one."
    assert client.post(url(panel, "ask", mine.pk), {"reason": told}).status_code == 302
    assert acts() == [("ann", "request_return", "intended")]
    assert PanelAct.objects.get().reason == told
    assert client.post(url(panel, "ask", mine.pk), {"reason": told}).status_code == 422
    assert client.get(url(panel, "ask", 999_999)).status_code == 404


def test_bonuses_show_their_sum_before_they_are_paid(panel: Panel, colleague: Any) -> None:
    for name in ("ann", "bob"):
        record(panel, name, "approved")
    client, address = signed_in(colleague), url(panel, "bonus")
    bad = client.post(
        address, {"lines": "id,amount\nann,0.5\nzoe,1\nbob;1.234\nann,2\nbob", "purpose": "more items"}
    )
    said = text(bad)
    for problem in (
        "Line 3: no submission or participant has the id zoe.", "Line 4: “1.234” is not an amount such as 0.50.",
        "Line 5: visit-ann is listed twice.", "Line 6: “bob” is not an id and an amount.",
    ):  # fmt: skip
        assert problem in said
    data = {
        "lines": "id,amount\nann,0.50\nvisit-bob\t1.25\n",
        "purpose": "more items",
        "reason": "Extra work.",
    }
    shown = client.post(address, data)
    assert "1.75 GBP in 2 bonuses" in text(shown)
    assert PanelAct.objects.count() == 0
    # Whoever changes the lines is shown the sum anew.
    changed = client.post(address, data | {"lines": "ann,5", "total": "1.75"})
    assert "5 GBP to one person" in text(changed)
    assert client.post(address, data | {"total": "1.75"}).status_code == 302
    paid = PanelAct.objects.order_by("amount").values_list("record__participant_id", "amount", "purpose")
    assert list(paid) == [("ann", Decimal("0.50"), "more items"), ("bob", Decimal("1.25"), "more items")]
    assert "Paying 2 bonuses of 1.75 GBP in total for “more items”" in history(panel)
    twice = client.post(address, data | {"total": "1.75"})
    assert "already has a bonus for &#x27;more items&#x27;" in text(twice)
    assert PanelAct.objects.count() == 2


def test_settling_an_unknown_outcome(panel: Panel, colleague: Any) -> None:
    mine = record(panel, "ann", "approved")
    doubted = act(panel, mine, "bonus", "unknown", amount=Decimal("0.50"), purpose="thanks")
    client, address = signed_in(colleague), url(panel, "settle", doubted.pk)
    assert address in text(client.get(url(panel, "")))
    assert client.post(address, {"happened": "yes"}).status_code == 422
    answer = client.post(address, {"happened": "no", "note": "Their page shows no bonus."})
    assert answer.status_code == 302
    doubted.refresh_from_db()
    assert doubted.state == "cancelled"
    assert history(panel).count("Their page shows no bonus.") == 1
    assert client.post(address, {"happened": "yes", "note": "Or so."}).status_code == 422


def test_cancelling_what_is_not_sent_yet(panel: Panel, colleague: Any) -> None:
    mine = record(panel, "ann", "approved")
    waiting = act(panel, mine, "bonus", "intended", amount=Decimal("0.50"), purpose="thanks")
    client, address = signed_in(colleague), url(panel, "cancel", waiting.pk)
    assert address in text(client.get(url(panel, "")))
    assert "Cancel: bonus of 0.50 GBP" in text(client.get(address))
    assert client.post(address, {"reason": ""}).status_code == 422
    assert client.post(address, {"reason": "Paid by hand."}).status_code == 302
    assert acts() == [("ann", "bonus", "cancelled")]
    assert history(panel).count("Paid by hand.") == 1
    assert address not in text(client.get(url(panel, "")))
    assert client.post(address, {"reason": "Again."}).status_code == 422


def test_linking_leaving_out_letting_stand(panel: Panel, colleague: Any) -> None:
    client, page = signed_in(colleague), url(panel, "")
    nameless = work(panel.study, "")
    stranger = record(panel, "stranger", "awaiting_review", code="CDONE")
    link = f"{url(panel, 'link')}?record={stranger.pk}"
    assert link in text(client.get(page))
    assert str(nameless.rater) in text(client.get(link))
    visit = nameless.submissions.get()
    assert client.post(link, {"other": visit.pk, "reason": "Same minute."}).status_code == 302
    stranger.refresh_from_db()
    assert stranger.submission == visit
    assert client.get(link).status_code == 404  # it is linked

    back = work(panel.study, "back", 1)
    record(panel, "back", "returned")
    know = next(
        url for label, url in client.get(page).context["groups"][0].lines[0][1] if label == "Acknowledge"
    )
    assert client.post(know, {"note": ""}).status_code == 422
    assert client.post(know, {"note": "They asked us to keep it."}).status_code == 302
    found = client.get(page)
    assert open_kinds(found) == []
    assert "They asked us to keep it." in text(found)
    assert client.get(know).status_code == 404
    known = KnownMismatch.objects.get()
    assert (
        client.post(url(panel, "reopen", known.pk), {"reason": "They changed their mind."}).status_code == 302
    )
    discard = url(panel, "discard", back.pk)
    assert client.post(discard, {"reason": "Not kept."}).status_code == 302
    assert open_kinds(client.get(page)) == []
    assert panel.study.slots.filter(replaces__isnull=False, state="open").count() == 1
    assert client.post(discard, {"reason": "Not kept."}).status_code == 422
    said = history(panel)
    for line in (
        "Linked submission visit-stranger to the visit of", "Reason: Same minute.",
        "They asked us to keep it.", f"Excluded {back.rater}. Reason: Not kept.",
        "Opened 1 slot for excluded judgments. Reason: Not kept.",
    ):  # fmt: skip
        assert line in said


def test_nobody_else_acts(panel: Panel, viewer: Any, outsider: Any, owner: Any) -> None:
    StudyMember.objects.create(study=panel.study, user=viewer, role="viewer")
    participant = work(panel.study, "ann")
    mine = record(panel, "ann", "awaiting_review")
    doubted = act(panel, mine, "bonus", "unknown", amount=Decimal("0.50"), purpose="thanks")
    known = KnownMismatch.objects.create(panel=panel, key="x", note="y")
    pages = [
        ("reject", mine),
        ("ask", mine),
        ("settle", doubted),
        ("settle_paid", doubted),
        ("pay_again", doubted),
        ("take_down", mine),
        ("cancel", doubted),
        ("discard", participant),
        ("reopen", known),
    ]
    other = make_panel_study("other", owner=outsider)
    for name, row in pages:
        for method in ("get", "post"):
            assert getattr(signed_in(viewer), method)(url(panel, name, row.pk)).status_code == 403
            assert getattr(signed_in(outsider), method)(url(panel, name, row.pk)).status_code == 404
            # A row of this study under the other study's address is not there.
            assert getattr(signed_in(outsider), method)(url(other, name, row.pk)).status_code == 404
        assert signed_in(owner).put(url(panel, name, row.pk)).status_code == 405
    assert acts() == [("ann", "bonus", "unknown")]


def test_a_study_is_drafted_published_synced_and_paid_from_its_page(
    panel: Panel, colleague: Any, settings: Any, django_capture_on_commit_callbacks: Any, monkeypatch: Any
) -> None:
    """Against a server that behaves as the panel does."""
    monkeypatch.setattr(tasks.send_panel_acts, "delay", tasks.send_panel_acts)
    Panel.objects.all().delete()
    study, client = panel.study, signed_in(colleague)
    study.contact = "research@example.org"
    study.completion_codes = {**CODES, "no_consent": "CNO", "withdrawn": "CWITH"}
    study.pay = Decimal("3.50")
    study.save()
    Panel.objects.create(study=study, platform="prolific")

    def post(name: str, **data: Any) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            answer = client.post(url(panel, name), {"reason": "As planned.", **data})
        assert answer.status_code == 302, text(answer)

    refused = client.post(url(panel, "draft"), {"reason": ""})
    assert "ASSAY_PROLIFIC_TOKEN is not set" in text(refused)
    with prolific_server.serve() as prolific:
        settings.ASSAY_PROLIFIC_URL, settings.ASSAY_PROLIFIC_TOKEN = prolific.url, prolific.token
        post("draft")
        assert "a draft" in text(client.get(url(panel, "")))
        post("publish")
        post("pause")
        assert "paused" in text(client.get(url(panel, "")))
        assert "Recruiting paused. Reason: As planned." in history(panel)
        post("start")
        for _ in range(2):  # the same page, sent twice
            post("places", more=2, shown=6)
        ours = Panel.objects.get()
        assert (ours.places, ours.status) == (8, "ACTIVE")
        there = prolific.arrive(ours.external_id, "ann", submission="visit-ann")
        finished_long_ago(work(study, "ann"))
        prolific.complete(there, "CDONE")
        post("sync")
        page = client.get(url(panel, ""))
        assert [row.case.status for row in page.context["rows"]] == ["awaiting_review"]
        chosen = client.get(url(panel, "approve"), {"all": 1}).context["form"].initial["records"]
        post("approve", records=chosen)
        post("bonus", lines="ann,0.25", purpose="thanks", total="0.25")
        assert prolific.submissions[there]["status"] == "APPROVED"
        assert prolific.paid == [(there, Decimal("0.25"))]
        money = client.get(url(panel, "")).context["found"].money.total
        assert (money.owed, money.paid, money.to_come) == (Decimal("3.75"), Decimal("3.75"), Decimal("0.00"))
        prolific.fail("GET", "/studies/", "400")
        failed = client.post(url(panel, "sync"), {"reason": ""})
        assert failed.status_code == 422
    said = history(panel)
    for line in (
        "Drafted as ",
        "Published on the panel. Reason: As planned.",
        "Added 2 places: 8 in total.",
        "Refreshed: 1 sub",
    ):
        assert line in said


# --- whom to take -----------------------------------------------------------------------------------------------------


@pytest.fixture
def undrafted(panel: Panel) -> Panel:
    Panel.objects.filter(pk=panel.pk).update(external_id="", drafted_at=None, status="")
    panel.refresh_from_db()
    return panel


@pytest.fixture
def prolific(settings: Any) -> Any:
    with prolific_server.serve() as served:
        settings.ASSAY_PROLIFIC_URL, settings.ASSAY_PROLIFIC_TOKEN = served.url, served.token
        yield served


def test_a_preset_fills_the_fields_in_and_the_researcher_changes_them(
    undrafted: Panel, colleague: Any, prolific: Any
) -> None:
    client = signed_in(colleague)
    assert client.post(url(undrafted, "preset"), {"preset": "href"}).status_code == 302
    shown = client.get(url(undrafted, "filters")).context["form"].initial
    assert (shown["approval_rate"], shown["first"]) == (100, "English")
    assert shown["countries"] == "United States, United Kingdom, Canada"
    asked = {
        "approval_rate": "95", "first": "English", "countries": "Canada", "education": shown["education"],
        "devices": ["desktop"],
    }  # fmt: skip
    assert client.post(url(undrafted, "filters"), asked).status_code == 302
    takes = (
        "Eligibility: approval rate of at least 95 %; English as first language; living in Canada; "
        "education: Undergraduate "
        "degree (BA/BSc/other) or more; on desktop."
    )
    assert takes in text(client.get(url(undrafted, "")))
    summary = text(client.get(url(undrafted, "draft")))
    assert "Eligibility: living in Canada" in summary
    assert takes in history(undrafted)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"approval_rate": "101"}, "less than or equal to 100"),
        ({"approval_rate": "9.5"}, "Enter a whole number"),
        ({"least": "9", "most": "3"}, "Maximum approved submissions: 3 is less than the 9"),
        ({"countries": "Kanada"}, "Living in any of: Prolific&#x27;s filter"),
        ({"devices": []}, "This field is required"),
    ],
)
def test_what_is_wrong_about_whom_to_take_is_said_where(
    undrafted: Panel, owner: Any, prolific: Any, given: Any, said: str
) -> None:
    answer = signed_in(owner).post(url(undrafted, "filters"), {"devices": ["desktop"], **given})
    assert answer.status_code == 422
    assert said in text(answer)
    assert Panel.objects.get(pk=undrafted.pk).whom == {}


def test_only_one_s_own_studies_are_offered_to_be_kept_out(
    undrafted: Panel, owner: Any, outsider: Any, prolific: Any
) -> None:
    make_panel_study("mine-too", owner=owner)
    make_panel_study("theirs", owner=outsider)
    page = signed_in(owner).get(url(undrafted, "filters"))
    assert [slug for slug, _ in page.context["form"].fields["not_from"].choices] == ["mine-too"]
    given = {"devices": ["desktop"], "by": "studies", "not_from": ["theirs"]}
    assert signed_in(owner).post(url(undrafted, "filters"), given).status_code == 422
    assert (
        signed_in(owner).post(url(undrafted, "filters"), given | {"not_from": ["mine-too"]}).status_code
        == 302
    )
    assert "nobody who took part in mine-too" in text(signed_in(owner).get(url(undrafted, "")))


# --- asking again, and what it shows ----------------------------------------------------------------------------------


def test_a_long_list_is_read_by_a_worker_and_the_page_shows_how_far(
    panel: Panel, colleague: Any, django_capture_on_commit_callbacks: Any, monkeypatch: Any
) -> None:
    queued: list[int] = []
    monkeypatch.setattr(work_on_job, "delay", queued.append)
    Panel.objects.filter(pk=panel.pk).update(places=300)
    client = signed_in(colleague)
    assert "This takes a while and runs in the background" in text(client.get(url(panel, "sync")))
    with django_capture_on_commit_callbacks(execute=True):
        assert client.post(url(panel, "sync"), {"reason": ""}).status_code == 302
    begun = Job.objects.get()
    assert queued == [begun.pk]
    page = text(client.get(url(panel, "")))
    assert "Waiting for a worker to refresh from the panel" in page
    assert f'hx-get="{url(panel, "reading")}"' in page
    again = client.post(url(panel, "sync"), {"reason": ""})
    assert (
        again.status_code,
        "A refresh is already running; the page shows its progress" in text(again),
    ) == (422, True)
    running = {
        "state": "running",
        "lease": uuid.uuid4(),
        "phase": "reading bonuses",
        "done": 120,
        "total": 300,
    }
    Job.objects.update(**running)
    part = client.get(url(panel, "reading"))
    assert "reading bonuses, 120 of 300" in text(part)
    assert "HX-Refresh" not in part
    Job.objects.update(state="done", lease=None, message="Read back: 300 submissions.")
    assert client.get(url(panel, "reading"))["HX-Refresh"] == "true"
    page = text(client.get(url(panel, "")))
    assert "Read back: 300 submissions." in page
    assert "hx-get" not in page


def test_a_refresh_that_no_broker_takes_is_kept_and_the_page_says_so(
    panel: Panel, colleague: Any, django_capture_on_commit_callbacks: Any, monkeypatch: Any
) -> None:
    def refuse(pk: int) -> None:
        raise OSError("no broker")

    monkeypatch.setattr(work_on_job, "delay", refuse)
    Panel.objects.filter(pk=panel.pk).update(places=300)
    client = signed_in(colleague)
    with django_capture_on_commit_callbacks(execute=True):
        client.post(url(panel, "sync"), {"reason": ""})
    said = "The job queue can't be reached right now. The refresh is saved, and starts by itself once it can."
    assert said in text(client.get(url(panel, "")))
    assert Job.objects.get().pk in waiting_jobs()


def test_bonuses_in_doubt_are_settled_by_what_the_panel_shows(
    panel: Panel, colleague: Any, django_capture_on_commit_callbacks: Any, monkeypatch: Any
) -> None:
    sent: list[int] = []
    monkeypatch.setattr(tasks.send_panel_acts, "delay", sent.append)
    client, now = signed_in(colleague), timezone.now()
    rows = []
    for name in ("ann", "bob"):
        mine = record(panel, name, "approved", bonuses=Decimal("0.75"), bonuses_at=now)
        rows.append(act(panel, mine, "bonus", "unknown", amount=Decimal("0.75"), purpose="more", batch="b1"))
    PanelAct.objects.update(sent_at=now - timedelta(hours=1))
    page = text(client.get(url(panel, "")))
    assert "the panel shows 2 bonuses of 0.75 on these submissions" in page
    assert url(panel, "settle_paid", rows[0].pk) in page
    assert url(panel, "pay_again", rows[0].pk) not in page
    assert client.post(url(panel, "pay_again", rows[0].pk), {"note": "x"}).status_code == 422
    PanelRecord.objects.update(bonuses=0)
    assert client.post(url(panel, "settle_paid", rows[0].pk), {"note": "x"}).status_code == 422
    assert (
        client.get(url(panel, "pay_again", rows[0].pk)).context["form"].initial["note"].startswith("Read on")
    )
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(url(panel, "pay_again", rows[0].pk), {"note": "Neither page shows it."})
    assert (answer.status_code, sent) == (302, [panel.pk])
    assert [state for _, _, state in acts()] == ["cancelled", "cancelled", "intended", "intended"]
    PanelAct.objects.filter(state="intended").update(
        state="unknown", sent_at=now - timedelta(hours=1), batch="b2", others=0
    )
    PanelRecord.objects.update(bonuses=Decimal("0.75"))
    again = PanelAct.objects.filter(state="unknown").first()
    assert again is not None
    assert client.post(url(panel, "settle_paid", again.pk), {"note": "Both show it."}).status_code == 302
    assert [state for _, _, state in acts()][2:] == ["done", "done"]
    assert client.get(url(panel, "settle_paid", again.pk)).status_code == 404
    assert "Neither page shows it." in history(panel)
    assert "Both show it." in history(panel)


def test_a_bonus_that_was_paid_there_is_taken_down_from_the_page(panel: Panel, colleague: Any) -> None:
    client = signed_in(colleague)
    mine = record(panel, "ann", "approved", bonuses=Decimal("0.30"), bonuses_at=timezone.now())
    page = url(panel, "take_down", mine.pk)
    assert page in text(client.get(url(panel, "")))
    assert client.post(page, {"note": ""}).status_code == 422
    assert client.post(page, {"note": "Paid on its page there."}).status_code == 302
    assert acts() == [("ann", "bonus", "done")]
    assert client.get(page).status_code == 404


def test_an_approval_of_who_was_asked_to_return_says_so(
    panel: Panel, colleague: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(tasks.send_panel_acts, "delay", lambda *a: None)
    work(panel.study, "ann")
    mine = record(panel, "ann", "awaiting_review", code="CDONE")
    act(panel, mine, "request_return", "done")
    client, page = signed_in(colleague), f"{url(panel, 'approve')}?record={mine.pk}"
    shown = text(client.get(page))
    assert "Asked to return, no response yet" in shown
    assert "Also approve those who were asked to return and have not responded" in shown
    refused = client.post(page, {"records": mine.pk})
    assert (refused.status_code, "was asked to return it and has not responded yet" in text(refused)) == (
        422,
        True,
    )
    assert client.post(page, {"records": mine.pk, "despite": "on"}).status_code == 302
    assert ("ann", "approve", "intended") in acts()
