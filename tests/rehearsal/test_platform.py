"""One platform more: registered in one place, a study can be set to it, and people come and go by its words."""

import pytest
from django.urls import reverse

from annotator.models import Panel, Participant
from annotator.panels.platforms import PLATFORMS, Departure, Platform, Setting
from annotator.panels.platforms.base import clean_id
from annotator.panels.platforms.endings import LINK, Ending
from annotator.panels.services.panel_settings import set_panel
from annotator.services.work.leave import withdraw
from annotator.visit import Visit
from evaluation.registry import EntryRefused
from evaluation.services.studies.creation import PAPER_ARMS
from tests import factories
from tests.annotator.conftest import text

pytestmark = pytest.mark.django_db


class Guild(Platform):
    """A guild of readers, each with a badge."""

    key = "guild"
    label = "Guild of readers"
    about = "Readers who show a badge at the door."
    settings = (Setting("hall", "Hall", required=True),)
    endings = LINK | {"withdrawn": Ending("The guild pays by the hour.", "Ring the bell.", "Leave the hall.")}

    def needs_id(self, settings):
        return True

    def read_visit(self, params, settings):
        return Visit(self.key, clean_id(params.get("badge", "")))

    def visit_params(self, visit, settings):
        return {"badge": visit.external_id} if visit.external_id else {}

    def leave(self, outcome, code, visit, settings):
        return Departure(code=code, link=f"https://guild.example/{settings['hall']}/{visit.external_id}")


@pytest.fixture
def pairs(owner):
    study = factories.make_study(
        "pairs", owner=owner, arms=PAPER_ARMS[:1], training=False, checks=0, steps=factories.NO_STEPS
    )
    return factories.launch(study, title="Pairs")


def test_a_study_is_set_to_it(pairs, admin):
    page = reverse("admin:evaluation_study_platform", args=[pairs.slug])
    with PLATFORMS.registered(Guild()):
        assert "Readers who show a badge at the door." in admin.get(page).content.decode()
        refused = admin.post(page, {"platform": "guild", "hall": ""})
        assert refused.status_code == 422
        assert admin.post(page, {"platform": "guild", "hall": "north"}).status_code == 302
        panel = Panel.objects.get()
        assert (panel.platform, panel.settings) == ("guild", {"hall": "north"})


def test_people_come_by_its_address_and_leave_by_its_words(pairs, client):
    with PLATFORMS.registered(Guild()):
        set_panel(pairs, "guild", {"hall": "north"}, "keep")
        assert "I agree" not in text(client.get("/s/pairs/"))
        client.post("/s/pairs/", {"badge": "b7", "choice": "agree"})
        participant = Participant.objects.get()
        assert (participant.platform, participant.external_id) == ("guild", "b7")
        withdraw(participant.token)
        end = client.get(f"/p/{participant.token}/")
    assert "The guild pays by the hour. What to do now Ring the bell." in text(end)
    assert "https://guild.example/north/b7" in end.content.decode()


def test_a_forgotten_part_is_named():
    class NoDoor(Platform):
        key, label, about = "none", "None", "Nobody comes."

    with pytest.raises(
        EntryRefused, match=r"The platform 'none' .* lacks read_visit \(the reading of who comes"
    ):
        PLATFORMS.register(NoDoor())

    class Curt(Guild):
        key = "curt"
        endings = {"completed": LINK["completed"]}

    with pytest.raises(
        EntryRefused, match=r"The platform 'curt' .* lacks the outcome no_consent in its endings"
    ):
        PLATFORMS.register(Curt())
