"""One kind of mismatch and one remedy more, each registered in one place: the page shows it, and the act is done."""

from importlib import reload

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import NoReverseMatch, clear_url_caches, reverse

import config.urls
from annotator.models import PanelRecord
from annotator.panels.admin.pages import PAGES, Remedy, panel_url, record_target
from annotator.panels.reconciliation.kinds import MISMATCH_KINDS, MismatchKind, VisitMismatch
from annotator.panels.reconciliation.overview import reconcile, reconcile_visit
from evaluation.admin.pages import ConfirmedAction
from evaluation.registry import EntryRefused
from tests.annotator.conftest import text
from tests.annotator.panels.panel_rows import make_panel_study, record, work

pytestmark = pytest.mark.django_db


class NightOwl(VisitMismatch):
    """The panel says that they began at night."""

    key = "night_owl"
    title = "Began at night"
    remedies = ("send_tea", "acknowledge")

    def check(self, facts, case):
        if case.record is not None and case.record.started_at.hour < 5:
            yield self.mismatch(f"{case.id} began at {case.record.started_at:%H:%M}.", case=case)


def send_tea(request, panel, record):
    there = PanelRecord.objects.get(panel=panel, pk=record)

    def do(data):
        there.code = "TEA"
        there.save()
        return f"Tea is sent to {there.participant_id}."

    return ConfirmedAction(
        title="Send tea", text="It keeps them awake.", button="Send it", objects=[there.external_id], do=do,
        back=panel_url(panel.study),
    )  # fmt: skip


SEND_TEA = Remedy("send_tea", "send-tea/<int:record>/", send_tea, "Send tea", record_target)


@pytest.fixture
def panel(owner):
    return make_panel_study(owner=owner)


@pytest.fixture
def owl(panel):
    """Complete and undecided; the panel says that they began at three."""
    work(panel.study, "owl")
    made = record(panel, "owl", "awaiting_review", code="CDONE")
    made.started_at = made.started_at.replace(hour=3, minute=7)
    made.save()
    return made


@pytest.fixture
def registered():
    """The kind and its remedy, and the site's addresses made anew as at a start."""

    def make_addresses():
        reload(config.urls)
        clear_url_caches()

    with MISMATCH_KINDS.registered(NightOwl()), PAGES.registered(SEND_TEA):
        make_addresses()
        yield
    make_addresses()


def test_the_page_lists_it_and_offers_its_remedy(panel, owl, admin, registered):
    page = admin.get(panel_url(panel.study))
    assert "Began at night 1" in text(page)
    assert "visit-owl began at 03:07." in text(page)
    address = panel_url(panel.study, "send_tea", owl.pk)
    assert address == f"/studies/{panel.study.slug}/panel/send-tea/{owl.pk}/"
    assert f'href="{address}">Send tea' in page.content.decode()
    assert '<option value="night_owl">' in page.content.decode()
    assert "visit-owl" in text(admin.get(panel_url(panel.study), {"kind": "night_owl"}))
    assert not reconcile(panel).approvable, "who has a mismatch is looked at first"


def test_the_remedy_is_confirmed_done_and_logged(panel, owl, admin, registered):
    address = panel_url(panel.study, "send_tea", owl.pk)
    assert "It keeps them awake." in text(admin.get(address))
    assert PanelRecord.objects.get().code == "CDONE"
    assert admin.post(address, {"reason": "They asked."}).status_code == 302
    assert PanelRecord.objects.get().code == "TEA"
    assert "Tea is sent to owl. Reason: They asked." in LogEntry.objects.latest("pk").get_change_message()


def test_it_can_be_acknowledged_and_shows_in_one_visit(panel, owl, admin, registered):
    [found] = reconcile_visit(panel, record=owl).mismatches
    assert (found.kind.key, found.key) == ("night_owl", "night_owl:visit-owl:")
    acknowledge = panel_url(panel.study, "acknowledge")
    assert admin.post(f"{acknowledge}?key={found.key}", {"note": "They like it."}).status_code == 302
    assert reconcile_visit(panel, record=owl).mismatches == ()
    assert "1 acknowledged mismatch" in text(admin.get(panel_url(panel.study)))


def test_without_it_nothing_of_it_is_left(panel, owl, admin):
    assert "night" not in text(admin.get(panel_url(panel.study)))
    with pytest.raises(NoReverseMatch):
        reverse("admin:evaluation_study_panel_send_tea", args=[panel.study.slug, owl.pk])


def test_a_kind_whose_remedy_is_forgotten_says_so(panel, owl, admin):
    with (
        MISMATCH_KINDS.registered(NightOwl()),
        pytest.raises(KeyError, match="no page at the panel 'send_tea'"),
    ):
        admin.get(panel_url(panel.study))


def test_every_remedy_that_a_kind_names_is_there():
    named = {key for kind in MISMATCH_KINDS.values() for key in kind.remedies}
    assert named <= {key for key, page in PAGES.items() if isinstance(page, Remedy)}


def test_a_forgotten_part_is_named():
    class Curt(VisitMismatch):
        key, title, remedies = "curt", "Curt", ("acknowledge",)

    with pytest.raises(
        EntryRefused, match=r"The kind of mismatch 'curt' .* lacks check \(its rule on one visit\)"
    ):
        MISMATCH_KINDS.register(Curt())

    class Mute(MismatchKind):
        key, remedies = "mute", ("acknowledge",)

        def find(self, facts):
            yield from ()

    with pytest.raises(
        EntryRefused, match=r"The kind of mismatch 'mute' .* lacks title \(the heading over its"
    ):
        MISMATCH_KINDS.register(Mute())
    with pytest.raises(EntryRefused, match=r"The page at the panel 'tea' .* lacks label"):
        PAGES.register(Remedy("tea", "tea/", send_tea, ""))
    with pytest.raises(EntryRefused, match=r"The page at the panel 'tea' .* lacks act"):
        PAGES.register(Remedy("tea", "tea/", None, "Tea"))
    with pytest.raises(EntryRefused, match=r"There are two of the page at the panel 'sync'"):
        PAGES.register(Remedy("sync", "sync/", send_tea, "Tea"))
