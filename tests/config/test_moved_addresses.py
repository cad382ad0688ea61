"""A study's pages in the admin stand under the study, whichever app serves them; the former addresses lead there."""

import pytest

from annotator.models import KnownMismatch
from tests.annotator.panels.panel_rows import act, make_panel_study, record, work
from tests.config.addresses import ROUTES

pytestmark = pytest.mark.django_db
OLD, NEW = "/admin/annotator/", "/admin/evaluation/study/{study}/"
# Former address to present one; {study}, {record}, {act}, {participant}, {known} and {link} are ids.
MOVED = {
    "panelrecord/{study}/reconciliation/": "panel/",
    "panelrecord/{study}/panel/reading/": "panel/reading/",
    "panelrecord/{study}/panel/preset/": "panel/preset/",
    "panelrecord/{study}/panel/whom/": "panel/recruitment-filters/",
    "panelrecord/{study}/panel/draft/": "panel/draft/",
    "panelrecord/{study}/panel/publish/": "panel/publish/",
    "panelrecord/{study}/panel/pause/": "panel/pause/",
    "panelrecord/{study}/panel/start/": "panel/start/",
    "panelrecord/{study}/panel/places/": "panel/places/",
    "panelrecord/{study}/panel/sync/": "panel/sync/",
    "panelrecord/{study}/panel/send/": "panel/send/",
    "panelrecord/{study}/panel/approve/": "panel/approve/",
    "panelrecord/{study}/panel/reject/{record}/": "panel/reject/{record}/",
    "panelrecord/{study}/panel/ask/{record}/": "panel/request-return/{record}/",
    "panelrecord/{study}/panel/bonuses/": "panel/bonuses/",
    "panelrecord/{study}/panel/settle/{act}/": "panel/settle/{act}/",
    "panelrecord/{study}/panel/settle-paid/{act}/": "panel/settle-paid/{act}/",
    "panelrecord/{study}/panel/pay-again/{act}/": "panel/pay-again/{act}/",
    "panelrecord/{study}/panel/take-down/{record}/": "panel/take-down/{record}/",
    "panelrecord/{study}/panel/cancel/{act}/": "panel/cancel/{act}/",
    "panelrecord/{study}/panel/link/": "panel/link/",
    "panelrecord/{study}/panel/discard/{participant}/": "panel/discard/{participant}/",
    "panelrecord/{study}/panel/know/": "panel/acknowledge/",
    "panelrecord/{study}/panel/reopen/{known}/": "panel/reopen/{known}/",
    "participant/{study}/quality/": "quality/",
    "participant/{study}/platform/": "platform/",
    "participant/{study}/attempts/": "attempts/",
    "participant/{study}/links/": "links/",
    "participant/{study}/links/{link}/revoke/": "links/{link}/revoke/",
    "participant/{study}/links/{link}/restore/": "links/{link}/restore/",
    "slot/{study}/redundancy/": "redundancy/",
    "slot/{study}/entry-rules/": "entry-rules/",
    "slot/{study}/replace/": "replace/",
}


@pytest.fixture
def ids(owner):
    panel = make_panel_study(owner=owner)
    participant = work(panel.study, "ann")
    there = record(panel, "ann", "awaiting_review")
    return {
        "study": panel.study_id,
        "record": there.pk,
        "act": act(panel, there, "approve", "unknown").pk,
        "participant": participant.pk,
        "link": 1,
        "known": KnownMismatch.objects.create(panel=panel, key="x", note="y").pk,
    }


@pytest.mark.parametrize(("former", "present"), MOVED.items())
def test_a_former_address_leads_to_the_page(ids, client, owner, outsider, former, present):
    old, new = OLD + former.format(**ids), (NEW + present).format(**ids)
    client.force_login(outsider)
    assert client.get(old).status_code == 404
    client.force_login(owner)
    answer = client.get(old, {"show": "odd", "q": "ä"})
    assert (answer.status_code, answer["Location"]) == (308, f"{new}?show=odd&q=%C3%A4")
    # What was filled in on a page that was loaded before is sent on with it.
    sent = client.post(old, {"reason": "x"})
    assert (sent.status_code, sent["Location"]) == (308, new)


@pytest.mark.parametrize(("model", "present"), [("slot", "slots"), ("participant", "participants")])
def test_a_section_is_found_at_its_former_address(ids, client, owner, outsider, model, present):
    former = f"/admin/annotator/{model}/panel/paid/"
    client.force_login(outsider)
    assert client.get(former).status_code == 404
    client.force_login(owner)
    answer = client.get(former)
    assert (answer.status_code, answer["Location"]) == (301, f"/studies/paid/{present}/")


def test_no_page_about_a_study_is_addressed_by_another_model():
    by_study = {route for route in ROUTES if route.startswith(OLD[1:]) and "<int:pk>" in route}
    ids = {"study": "<int:pk>"} | {
        name: f"<int:{name}>" for name in ("record", "act", "participant", "known", "link")
    }
    assert by_study == {OLD[1:] + former.format(**ids) for former in MOVED}
