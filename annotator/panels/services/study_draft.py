"""The draft of a study at its platform, made from what the study is here.

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
from annotator.panels.platforms import get_platform, statuses
from annotator.panels.platforms.api import CompletionCode, PanelStudy, PlatformClient, StudyDraft
from annotator.panels.platforms.eligibility import FilterRequest, FilterUnknown
from annotator.panels.services.arrivals import study_address
from annotator.panels.services.connection import open_client
from annotator.panels.services.panel_settings import panel_to_draft, set_codes
from annotator.panels.services.preflight import codes_of, draft_problems
from annotator.panels.services.recruitment_filters import filters_of, request_filters
from annotator.panels.visit_codes import further_keys
from annotator.selectors.arms import people_needed
from evaluation.counting import counted
from evaluation.models import Study
from evaluation.refusals import Refused
from evaluation.services.history import log_action

# While somebody drafts the study; the panel has no such status. After so long they are taken to have died: the client
# gives up sooner on the three calls of drafting, each of which may be attempted and waited for many times.
DRAFTING, DRAFTING_FOR = "DRAFTING", timedelta(minutes=15)

Outcome = ParticipantOutcome
# Why the panel is to ask whoever enters the outcome's code to return the submission; where there is no reason, a person
# looks at it and decides. Nobody is approved by a code alone.
RETURN_REASONS: Mapping[str, str] = {
    Outcome.COMPLETED: "",
    Outcome.NO_CONSENT: "You chose not to take part.",
    Outcome.FAILED_QUALIFICATION: "The questions at the start were not answered as needed.",
    Outcome.FAILED_ATTENTION: "",
    Outcome.FULL: "All places were taken when you arrived.",
    Outcome.WITHDRAWN: "",
}


def draft_on_panel(study: Study, *, by: Any = None, reason: str = "") -> Panel:
    """Create a draft at the study's platform, where nobody sees it yet. From now on its codes are fixed.

    Raises Refused, NotSetUp or PanelError. Repeated after a failure, it takes up the draft that the failure may
    have left there.
    """
    if problems := draft_problems(study):
        raise Refused(*problems)
    panel = panel_to_draft(study)
    _make_visit_codes(study, by)
    claimed = _claim_drafting(panel)
    try:
        codes = codes_of(study)
        with open_client(panel.platform) as client:
            asked = _ask_for_people(panel, client)
            there = _create_or_adopt(client, _draft_of(panel, asked))
        _keep_draft(panel, there, asked, codes, claimed, by, reason)
    except BaseException:
        _claim(panel, claimed).update(status="", status_at=None)
        raise
    panel.refresh_from_db()
    return panel


def _make_visit_codes(study: Study, by: Any) -> None:
    """A code for each further visit that has none yet."""
    codes = codes_of(study)
    if any(key not in codes for key in further_keys(study)):
        set_codes(study, codes, by=by)


def drafted_as(external_id: str, places: int | None) -> str:
    return f"Drafted as {external_id}, with {counted(places or 0, 'place')}."


def _claim_drafting(panel: Panel) -> datetime:
    """Claim the drafting, one at a time: two drafts would be two studies there. The time identifies the claim."""
    now = timezone.now()
    free = ~Q(status=DRAFTING) | Q(status_at__lt=now - DRAFTING_FOR)
    taken = Panel.objects.filter(free, pk=panel.pk, drafted_at=None).update(status=DRAFTING, status_at=now)
    if not taken:
        minutes = DRAFTING_FOR // timedelta(minutes=1)
        said = f", or began to less than {minutes} minutes ago without finishing"
        raise Refused(f"Somebody is drafting the study on {get_platform(panel.platform).label}{said}.")
    return now


def _claim(panel: Panel, at: datetime) -> QuerySet[Panel]:
    """The panel, while whoever began to draft at that time is the one who does."""
    return Panel.objects.filter(pk=panel.pk, drafted_at=None, status=DRAFTING, status_at=at)


def _ask_for_people(panel: Panel, client: PlatformClient) -> FilterRequest | None:
    """The filters to draft it with; None where the platform takes everybody."""
    criteria = filters_of(panel)
    try:
        return request_filters(panel, criteria, client) if criteria is not None else None
    except FilterUnknown as unknown:
        raise Refused(str(unknown)) from None


def _draft_of(panel: Panel, asked: FilterRequest | None) -> StudyDraft:
    study = panel.study
    assert study.pay is not None, "draft_problems() says so before"
    return StudyDraft(
        name=study.title,
        internal_name=internal_name(study),
        description=_description(study),
        address=get_platform(panel.platform).entry_address(study_address(study), panel.settings),
        codes=tuple(
            CompletionCode(outcome, code, RETURN_REASONS.get(outcome, ""))
            for outcome, code in codes_of(study).items()
        ),
        places=people_needed(study, timezone.now()),
        minutes=study.paid_minutes,
        pay=study.pay,
        visits=study.visits,
        settings=panel.settings,
        filters=asked,
    )


def internal_name(study: Study) -> str:
    """The name that only researchers see there; by it a draft is found again whose creation got no answer."""
    return f"Assay {study.slug} {study.study_hash[:12]}"


def _description(study: Study) -> str:
    items = f"{study.items_per_participant} items" if study.items_per_participant > 1 else "one item"
    return (
        f"You will read and judge {items} and explain your choices, in about {study.paid_minutes} minutes. "
        f"Everything is explained at the start. Questions: {study.contact}"
    )


def _create_or_adopt(client: PlatformClient, draft: StudyDraft) -> PanelStudy:
    """The draft of that internal name, made if there is none yet."""
    same = [each for each in client.list_studies() if each.internal_name == draft.internal_name]
    begun = [each for each in same if each.status != statuses.DRAFT]
    if begun:
        state = statuses.study_label(begun[0].status)
        name = draft.internal_name
        raise Refused(f"The panel already has a study {name!r}, which is {state}: {begun[0].id}.")
    return client.update_study(same[0].id, draft) if same else client.create_study(draft)


def _keep_draft(
    panel: Panel,
    there: PanelStudy,
    asked: FilterRequest | None,
    codes: Mapping[str, str],
    claimed: datetime,
    by: Any,
    reason: str,
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
            drafted=asked.kept if asked is not None else {},
            there=there.eligibility,
            synced_at=now,
        )
        if not kept:
            raise Refused("Drafting took too long, and somebody else has begun to draft the study.")
        log_action(study=study, by=by, message=drafted_as(there.id, there.places), reason=reason)
