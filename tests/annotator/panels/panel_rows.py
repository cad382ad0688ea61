"""A study on a panel and its visits, as rows made by hand: no client, no server."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from annotator.models import Assignment, Panel, PanelAct, PanelRecord, Participant, Submission
from annotator.selectors.participants import get_participant
from annotator.services.admission.entry import enter
from annotator.visit import Visit
from evaluation.models import Judgment, Role, Study
from evaluation.services.studies.creation import PAPER_ARMS
from tests.crowd import before, come, hand_in, make_crowd_study

CODES = {"completed": "CDONE", "full": "CFULL", "failed_attention": "CFAIL"}


def make_panel_study(slug: str = "paid", *, owner: Any = None, places: int = 6, **fields: Any) -> Panel:
    """Live and drafted on the panel: four items of one arm, three judgments each, two per person."""
    fields.setdefault("items_per_participant", 2)
    fields.setdefault("pay", "1.50")
    fields.setdefault("queries", 4)
    study = make_crowd_study(slug, owner=owner, arms=PAPER_ARMS[1:2], completion_codes=CODES, **fields)
    now = timezone.now()
    return Panel.objects.create(
        study=study,
        platform="prolific",
        external_id=f"panel-{slug}",
        drafted_at=now,
        status="ACTIVE",
        status_at=now,
        places=places,
        synced_at=now + timedelta(seconds=1),
    )


def work(study: Study, name: str, n: int = 2) -> Participant:
    """Somebody comes in the session visit-NAME and hands in so many items, or as many as they get."""
    there = Panel.objects.filter(study=study).exclude(external_id="").first()
    if name and there is not None:
        visit = Visit(there.platform, name, there.external_id, f"visit-{name}")
        token = enter(study, visit).token
    else:
        token = come(study, name).token
    for _ in range(n):
        if before(token) is None:
            break
        hand_in(token)
    return get_participant(token)


def fail_check(participant: Participant) -> None:
    """One more item, an attention check, that they met and got wrong."""
    study = participant.study
    item = study.items.filter(role=Role.MAIN)[0]
    item.pk, item.key, item.role = None, f"check-{Assignment.objects.count()}", Role.ATTENTION
    item.save()
    judgment = Judgment.objects.create(
        study=study, rater=participant.rater, item=item, revision=participant.revision
    )
    Assignment.objects.create(
        participant=participant, item=item, order="r1,r2", state="submitted", judgment=judgment, passed=False,
        ended_at=timezone.now() + timedelta(seconds=1),
    )  # fmt: skip


def finished_long_ago(participant: Participant) -> None:
    """So long ago that they should be back at the panel."""
    Submission.objects.filter(participant=participant).update(ended_at=timezone.now() - timedelta(hours=2))


def record(panel: Panel, name: str, status: str, *, session: str = "", **fields: Any) -> PanelRecord:
    """The panel's record of NAME's visit; linked to ours only where the test says so."""
    now = timezone.now()
    return PanelRecord.objects.create(
        panel=panel,
        external_id=session or f"visit-{name}",
        participant_id=name,
        status=status,
        status_at=now,
        **{"started_at": now, **fields},
    )


def act(panel: Panel, of: PanelRecord, kind: str, state: str, **fields: Any) -> PanelAct:
    sent = None if state in ("intended", "cancelled") else timezone.now()
    # The panel had been asked before a bonus was sent, and showed no other.
    others = Decimal(0) if kind == "bonus" and sent is not None else None
    return PanelAct.objects.create(
        panel=panel, record=of, kind=kind, state=state, **{"sent_at": sent, "others": others, **fields}
    )
