"""A study on the tests' own Prolific, and people who come from there."""

from decimal import Decimal

from django.utils import timezone

from annotator.models import Panel, PanelRecord
from annotator.panels.platforms.api import CompletionCode, StudyAction, StudyDraft
from annotator.panels.services.connection import open_client
from annotator.panels.services.readings import sync_submissions
from annotator.panels.services.recruiting import publish
from annotator.panels.services.study_draft import draft_on_panel
from annotator.services.admission.entry import enter
from annotator.visit import Visit
from evaluation.services.studies.creation import PAPER_ARMS, create_study
from tests import factories
from tests.crowd import hand_in

CODES = {
    "completed": "CDONE",
    "no_consent": "CNO",
    "full": "CFULL",
    "failed_attention": "CFAIL",
    "withdrawn": "CLEFT",
}


def recruiting_study(slug="paid", *, owner, steps=None, **fields):
    """Eight items of one arm, two judgments each, two per person; drafted on the panel and published."""
    fields = {
        "queries": 8, "redundancy": 2, "items_per_participant": 2, "pay": "1.75", "paid_minutes": 7,
        "contact": "lab@example.org", "completion_codes": CODES, "arms": PAPER_ARMS[1:2], "training": False,
        "checks": 0,
    } | fields  # fmt: skip
    study = factories.make_study(slug, owner=owner, steps=factories.NO_STEPS | (steps or {}), **fields)
    return publish(draft_on_panel(factories.launch(study)))


def publish_there(client):
    """A study that recruits on the panel; its id there."""
    draft = StudyDraft(
        name="Paid", internal_name="Paid", description="Reading", address="https://assay.example",
        codes=(CompletionCode("completed", "CDONE"),), places=20, minutes=7, pay=Decimal("1.75"),
    )  # fmt: skip
    there = client.create_study(draft)
    client.transition_study(there.id, StudyAction.PUBLISH)
    return there.id


def bare_panel(slug="paid", *, owner, there=""):
    """A study that recruits on the panel, and of ours only the row: for what does not look at participants."""
    study = create_study(slug=slug, title=slug, protocol="pairwise", owner=owner)
    if not there:
        with open_client("prolific") as client:
            there = publish_there(client)
    return Panel.objects.create(
        study=study, platform="prolific", external_id=there, drafted_at=timezone.now(), status="ACTIVE"
    )


def came_back(prolific, panel, *people):
    """Records of so many who came back there with the code, as a sync sees them."""
    sessions = [prolific.arrive(panel.external_id, person) for person in people]
    for session in sessions:
        prolific.complete(session, "CDONE")
    sync_submissions(panel)
    return list(PanelRecord.objects.filter(external_id__in=sessions).order_by("pk"))


def come(prolific, panel, person):
    """A person takes a place there and consents here; the submission's id and the participant."""
    session = prolific.arrive(panel.external_id, person)
    return session, enter(panel.study, Visit("prolific", person, panel.external_id, session))


def work(participant, n=2):
    """Hands in so many items."""
    for _ in range(n):
        hand_in(participant.token)
    participant.refresh_from_db()
    return participant


def finish(prolific, panel, person):
    """Somebody who does all of it and comes back to the panel with the code."""
    session, participant = come(prolific, panel, person)
    work(participant, participant.quota)
    prolific.complete(session, CODES[participant.outcome])
    return session
