"""A study on Prolific: drafting it there from what it is here, publishing, places, and reading back how it goes.

What is asked of the panel is asked outside of transactions, and so that it may be done again after whatever went
wrong: a draft is found there by its name, and where a study was moved is looked up.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotator.models import Panel, ParticipantOutcome
from annotator.platforms import get_platform
from annotator.platforms.prolific import statuses
from annotator.platforms.prolific.answers import PanelStudy
from annotator.platforms.prolific.client import Client
from annotator.platforms.prolific.errors import PanelError
from annotator.platforms.prolific.filters import FilterUnknown
from annotator.platforms.prolific.presets import CENT
from annotator.selectors import people_needed
from annotator.services.draft_checks import PLATFORM, NotReady, codes_of, draft_problems
from annotator.services.panel_client import open_client
from annotator.services.panels import panel_of, set_panel, study_address
from annotator.services.whom import Asked, as_there, ask_for, whom_of
from evaluation.models import Status, Study

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


# --- drafting --------------------------------------------------------------------------------------------------------


def draft_on_panel(study: Study) -> Panel:
    """Drafts the study on Prolific; nobody sees it there yet. From now on its codes are fixed.

    Raises NotReady, NotSetUp or PanelError. Done again after a failure, it takes up the draft that the failure may have
    left there.
    """
    if problems := draft_problems(study):
        raise NotReady(problems)
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
    """One at a time: two drafts would be two studies there. The time names whose turn it is."""
    now = timezone.now()
    free = ~Q(status=DRAFTING) | Q(status_at__lt=now - DRAFTING_FOR)
    taken = Panel.objects.filter(free, pk=panel.pk, drafted_at=None).update(status=DRAFTING, status_at=now)
    if not taken:
        minutes = DRAFTING_FOR // timedelta(minutes=1)
        said = f"at this moment, or began less than {minutes} minutes ago and did not get to the end"
        raise NotReady([f"Somebody is drafting the study on Prolific {said}."])
    return now


def _claim(panel: Panel, at: datetime) -> QuerySet[Panel]:
    """The panel, while whoever began to draft at that time is the one who does."""
    return Panel.objects.filter(pk=panel.pk, drafted_at=None, status=DRAFTING, status_at=at)


def _ask_for_people(panel: Panel, client: Client) -> Asked:
    """Prolific's list of filters is read only where something is asked for."""
    whom = whom_of(panel)
    try:
        return ask_for(panel, whom, client.list_filters() if whom.sentences() else ())
    except FilterUnknown as unknown:
        raise NotReady([str(unknown)]) from None


def _study_fields(panel: Panel, asked: Asked) -> dict[str, Any]:
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
    """What only researchers see there; by it a draft is found again whose creation got no answer."""
    return f"Assay {study.slug} {study.study_hash[:12]}"


def _description(study: Study) -> str:
    items = f"{study.items_per_participant} items" if study.items_per_participant > 1 else "one item"
    return (
        f"You will read and judge {items} and say why, in about {study.paid_minutes} minutes. "
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
        raise NotReady([f"Prolific has a study {name!r} already, which is {state}: {begun[0].id}."])
    return client.update_study(same[0].id, fields) if same else client.create_study(fields)


def _keep_draft(
    panel: Panel, there: PanelStudy, asked: Asked, codes: Mapping[str, str], claimed: datetime
) -> None:
    """The codes are fixed in the moment in which they are known to be those that the panel has."""
    now = timezone.now()
    with transaction.atomic():
        study = Study.objects.select_for_update(no_key=True).get(pk=panel.study_id)
        if codes_of(study) != codes:
            raise NotReady(["The study's codes were changed while it was drafted; draft it again."])
        # Locked, so that whom it takes is not changed any more until the draft made from it is kept.
        if Panel.objects.select_for_update(no_key=True).get(pk=panel.pk).whom != panel.whom:
            raise NotReady(["Whom the study takes was changed while it was drafted; draft it again."])
        kept = _claim(panel, claimed).update(
            external_id=there.id,
            drafted_at=now,
            status=there.status,
            status_at=now,
            places=there.places,
            drafted=asked.kept,
            there=as_there(there),
            synced_at=now,
        )
        if not kept:
            raise NotReady(["It took too long, and somebody else began to draft the study meanwhile."])


# --- moving it -------------------------------------------------------------------------------------------------------


def publish(panel: Panel) -> Panel:
    """Participants can take places from now on, and that costs money. Raises NotReady or PanelError."""
    if panel.study.status != Status.LIVE:
        raise NotReady([f"The study here is {panel.study.get_status_display()}: nobody would be taken in."])
    return _move(panel, "PUBLISH", (statuses.DRAFT,), (statuses.ACTIVE, statuses.PUBLISHING))


def pause(panel: Panel) -> Panel:
    """Nobody new comes; who is at it goes on."""
    return _move(panel, "PAUSE", (statuses.ACTIVE,), (statuses.PAUSED,))


def start(panel: Panel) -> Panel:
    """Goes on after a pause."""
    if panel.study.status != Status.LIVE:
        raise NotReady([f"The study here is {panel.study.get_status_display()}: nobody would be taken in."])
    return _move(panel, "START", (statuses.PAUSED,), (statuses.ACTIVE,))


def _move(panel: Panel, action: str, before: tuple[str, ...], after: tuple[str, ...]) -> Panel:
    """Moves the study there, unless it is there already; asks where it is when a move got no answer."""
    study = drafted_id(panel)
    asked = timezone.now()
    with open_client() as client:
        there = client.get_study(study)
        if action != "PAUSE":
            _check_codes(panel, there)
        if there.status not in (*before, *after):
            state = statuses.STUDY.get(there.status, there.status)
            raise NotReady([f"The study is {state} on Prolific; it can't be asked to {action}."])
        if there.status in before:
            asked = timezone.now()
            try:
                there = client.transition_study(study, action)
            except PanelError as error:
                if not error.sent:
                    raise
                there = client.get_study(study)
                if there.status not in after:
                    raise
    return _note_study(panel, there, asked)


def add_places(panel: Panel, more: int, *, shown: int | None) -> bool:
    """So many more participants than the `shown` ones, which is what whoever asks took there to be.

    Whether there are more now than before: asking twice adds them once. Prolific never takes places away again. Raises
    NotReady if it has another number than was shown; then that is noted, and none is added.
    """
    study = drafted_id(panel)
    if more < 1:
        raise NotReady([f"{more} places can't be added; Prolific only takes more of them."])
    if shown is None:
        raise NotReady(["How many places there are is not known here yet; ask the panel first."])
    wanted = shown + more
    with open_client() as client:
        asked = timezone.now()
        there = client.get_study(study)
        _check_codes(panel, there)
        as_shown = there.places == shown
        if as_shown:
            asked = timezone.now()
            # A total and not an increment, so that a second attempt adds nothing either.
            there = client.update_study(study, {"total_available_places": wanted})
    _note_study(panel, there, asked)
    if not as_shown and there.places != wanted:
        raise NotReady(
            [
                f"Prolific has {there.places} places, and not the {shown} that it was known to have. None was added: "
                "look again first."
            ]
        )
    return as_shown


def sync_study(panel: Panel) -> Panel:
    """Reads the study's state and places back."""
    asked = timezone.now()
    with open_client() as client:
        there = client.get_study(drafted_id(panel))
    return _note_study(panel, there, asked)


def drafted_id(panel: Panel) -> str:
    """The panel's id of the study. Raises NotReady."""
    if panel.platform != PLATFORM or not panel.external_id:
        raise NotReady(["The study is not drafted on Prolific yet."])
    return panel.external_id


def _check_codes(panel: Panel, there: PanelStudy) -> None:
    """Whoever edits the draft there could send participants away with codes that mean something else here."""
    codes = codes_of(panel.study).items()
    ours = {code: CODE_TYPES.get(outcome, OTHER)[0] for outcome, code in codes}
    if dict(there.codes) != ours:
        raise NotReady(
            ["The completion codes on Prolific are not the study's own; set them right there first."]
        )


def _note_study(panel: Panel, there: PanelStudy, asked: datetime) -> Panel:
    """What the panel said, unless a webhook told something newer meanwhile; places and time in any case."""
    Panel.objects.filter(pk=panel.pk).update(places=there.places, there=as_there(there), synced_at=asked)
    older = Q(status_at=None) | Q(status_at__lte=asked)
    Panel.objects.filter(older, pk=panel.pk).update(status=there.status, status_at=asked)
    panel.refresh_from_db()
    return panel
