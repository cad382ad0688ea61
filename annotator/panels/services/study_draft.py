"""The draft of a study on Prolific, made from what the study is here.

What is asked of the panel is asked outside of transactions, and so that it may be done again after whatever went
wrong: a draft is found there by its name.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotator.models import Panel, ParticipantOutcome
from annotator.panels.platforms import get_platform
from annotator.panels.prolific import statuses
from annotator.panels.prolific.answers import PanelStudy
from annotator.panels.prolific.client import Client
from annotator.panels.prolific.filters import FilterUnknown
from annotator.panels.prolific.presets import CENT
from annotator.panels.services.arrivals import study_address
from annotator.panels.services.connection import open_client
from annotator.panels.services.panel_settings import panel_of, set_panel
from annotator.panels.services.prolific_preflight import PLATFORM, codes_of, draft_problems
from annotator.panels.services.recruitment_filters import (
    FilterRequest,
    filters_of,
    filters_there,
    request_filters,
)
from annotator.selectors import people_needed
from evaluation.models import Study
from evaluation.refusals import Refused

# While somebody drafts the study; the panel has no such status. After so long they are taken to have died: the client
# gives up sooner on the three calls of drafting, each of which may be attempted and waited for many times.
DRAFTING, DRAFTING_FOR = "DRAFTING", timedelta(minutes=15)

Outcome = ParticipantOutcome
OTHER = ("OTHER", "")
# What Prolific calls the code of each outcome, and why it is to ask that participant to return the submission; where
# there is no reason, a person looks at it and decides. Nobody is approved by a code alone.
CODE_TYPES: Mapping[str, tuple[str, str]] = {
    Outcome.COMPLETED: ("COMPLETED", ""),
    Outcome.NO_CONSENT: ("NO_CONSENT", "You chose not to take part."),
    Outcome.FAILED_QUALIFICATION: ("SCREENED_OUT", "The questions at the start were not answered as needed."),
    Outcome.FAILED_ATTENTION: ("FAILED_ATTENTION_CHECK", ""),
    Outcome.FULL: ("OTHER", "All places were taken when you arrived."),
    Outcome.WITHDRAWN: OTHER,
}


def draft_on_panel(study: Study) -> Panel:
    """Create a draft on Prolific, where nobody sees it yet. From now on its codes are fixed.

    Raises Refused, NotSetUp or PanelError. Repeated after a failure, it takes up the draft that the failure may
    have left there.
    """
    if problems := draft_problems(study):
        raise Refused(*problems)
    panel = panel_of(study) or set_panel(study, PLATFORM, {}, Panel.Returned.KEEP)
    claimed = _claim_drafting(panel)
    try:
        codes = codes_of(study)
        with open_client() as client:
            asked = _ask_for_people(panel, client)
            there = _create_or_adopt(client, _study_fields(panel, asked))
        _keep_draft(panel, there, asked, codes, claimed)
    except BaseException:
        _claim(panel, claimed).update(status="", status_at=None)
        raise
    panel.refresh_from_db()
    return panel


def _claim_drafting(panel: Panel) -> datetime:
    """Claim the drafting, one at a time: two drafts would be two studies there. The time identifies the claim."""
    now = timezone.now()
    free = ~Q(status=DRAFTING) | Q(status_at__lt=now - DRAFTING_FOR)
    taken = Panel.objects.filter(free, pk=panel.pk, drafted_at=None).update(status=DRAFTING, status_at=now)
    if not taken:
        minutes = DRAFTING_FOR // timedelta(minutes=1)
        said = f", or began to less than {minutes} minutes ago without finishing"
        raise Refused(f"Somebody is drafting the study on Prolific{said}.")
    return now


def _claim(panel: Panel, at: datetime) -> QuerySet[Panel]:
    """The panel, while whoever began to draft at that time is the one who does."""
    return Panel.objects.filter(pk=panel.pk, drafted_at=None, status=DRAFTING, status_at=at)


def _ask_for_people(panel: Panel, client: Client) -> FilterRequest:
    """Prolific's list of filters is read only where something is asked for."""
    whom = filters_of(panel)
    try:
        return request_filters(panel, whom, client.list_filters() if whom.sentences() else ())
    except FilterUnknown as unknown:
        raise Refused(str(unknown)) from None


def _study_fields(panel: Panel, asked: FilterRequest) -> dict[str, Any]:
    """The study as Prolific takes it. The reward is in hundredths; the account there has its own currency."""
    study = panel.study
    assert study.pay is not None, "draft_problems() says so before"
    address = get_platform(PLATFORM).entry_address(study_address(study), panel.settings)
    fields = {
        "name": study.title,
        "internal_name": internal_name(study),
        "description": panel.settings.get("description") or _description(study),
        "external_study_url": address,
        "prolific_id_option": "url_parameters",
        "completion_codes": [_code_field(outcome, code) for outcome, code in codes_of(study).items()],
        "total_available_places": people_needed(study, timezone.now()),
        "estimated_completion_time": study.paid_minutes,
        "reward": int(study.pay / CENT),
        "device_compatibility": asked.devices,
        "filters": asked.filters,
    }
    project = panel.settings.get("project")
    return {**fields, "project": project} if project else fields


def internal_name(study: Study) -> str:
    """The name that only researchers see there; by it a draft is found again whose creation got no answer."""
    return f"Assay {study.slug} {study.study_hash[:12]}"


def _description(study: Study) -> str:
    items = f"{study.items_per_participant} items" if study.items_per_participant > 1 else "one item"
    return (
        f"You will read and judge {items} and explain your choices, in about {study.paid_minutes} minutes. "
        f"Everything is explained at the start. Questions: {study.contact}"
    )


def _code_field(outcome: str, code: str) -> dict[str, Any]:
    kind, reason = CODE_TYPES.get(outcome, OTHER)
    action = (
        {"action": "REQUEST_RETURN", "return_reason": reason} if reason else {"action": "MANUALLY_REVIEW"}
    )
    return {"code": code, "code_type": kind, "actions": [action], "actor": "participant"}


def _create_or_adopt(client: Client, fields: Mapping[str, Any]) -> PanelStudy:
    """The draft of that internal name, made if there is none yet."""
    name = fields["internal_name"]
    same = [each for each in client.list_studies() if each.internal_name == name]
    begun = [each for each in same if each.status != statuses.DRAFT]
    if begun:
        state = statuses.STUDY.get(begun[0].status, begun[0].status)
        raise Refused(f"Prolific already has a study {name!r}, which is {state}: {begun[0].id}.")
    return client.update_study(same[0].id, fields) if same else client.create_study(fields)


def _keep_draft(
    panel: Panel, there: PanelStudy, asked: FilterRequest, codes: Mapping[str, str], claimed: datetime
) -> None:
    """The codes are fixed in the moment in which they are known to be those that the panel has."""
    now = timezone.now()
    with transaction.atomic():
        study = Study.objects.select_for_update(no_key=True).get(pk=panel.study_id)
        if codes_of(study) != codes:
            raise Refused("The study's codes were changed while it was drafted; draft it again.")
        # Locked, so that whom it takes is not changed any more until the draft made from it is kept.
        if Panel.objects.select_for_update(no_key=True).get(pk=panel.pk).whom != panel.whom:
            raise Refused("The filters were changed while the study was drafted; draft it again.")
        kept = _claim(panel, claimed).update(
            external_id=there.id,
            drafted_at=now,
            status=there.status,
            status_at=now,
            places=there.places,
            drafted=asked.kept,
            there=filters_there(there),
            synced_at=now,
        )
        if not kept:
            raise Refused("Drafting took too long, and somebody else has begun to draft the study.")
