"""A study at its panel: publishing, pausing, places, and reading back how it goes. Acts leave their line in the
history once the panel has answered; `by` is who asks, and nobody where it is None.

What is asked of the panel is asked outside of transactions, and so that it may be done again after whatever went
wrong: where a study was moved is looked up.
"""

from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from annotator.models import LinkedStudy, Panel
from annotator.panels.platforms import get_api, get_platform, statuses
from annotator.panels.platforms.api import PanelStudy, PlatformClient, StudyAction
from annotator.panels.platforms.errors import NOT_FOUND, PanelError
from annotator.panels.services.connection import open_client
from annotator.panels.services.preflight import codes_of
from annotator.panels.services.retention.id_deletion import refuse_without_ids
from annotator.panels.states import FREED
from annotator.panels.visit_codes import COMPLETED, code_key
from evaluation.counting import counted
from evaluation.models import Status
from evaluation.refusals import Refused
from evaluation.services.history import log_action

# Said by the study's history, which has pauses of the study itself, too.
PUBLISHED, PAUSED, RESUMED = "Published on the panel.", "Recruiting paused.", "Recruiting resumed."


def publish(panel: Panel, *, by: Any = None, reason: str = "") -> Panel:
    """Participants can take places from now on, and that costs money. Raises Refused or PanelError."""
    if panel.study.status != Status.LIVE:
        raise Refused(f"The study here is {panel.study.get_status_display()}: nobody could take part.")
    _move(panel, StudyAction.PUBLISH, (statuses.DRAFT,), (statuses.ACTIVE, statuses.PUBLISHING))
    log_action(study=panel.study, by=by, message=PUBLISHED, reason=reason)
    return panel


def pause(panel: Panel, *, by: Any = None, reason: str = "") -> Panel:
    """Pause the study there: no new participants; those at work can finish."""
    _move(panel, StudyAction.PAUSE, (statuses.ACTIVE,), (statuses.PAUSED,))
    log_action(study=panel.study, by=by, message=PAUSED, reason=reason)
    return panel


def start(panel: Panel, *, by: Any = None, reason: str = "") -> Panel:
    """Resume after a pause."""
    if panel.study.status != Status.LIVE:
        raise Refused(f"The study here is {panel.study.get_status_display()}: nobody could take part.")
    _move(panel, StudyAction.START, (statuses.PAUSED,), (statuses.ACTIVE,))
    log_action(study=panel.study, by=by, message=RESUMED, reason=reason)
    return panel


def _move(panel: Panel, action: StudyAction, before: tuple[str, ...], after: tuple[str, ...]) -> None:
    """Move the study there, unless it is there already; ask where it is when a move got no answer."""
    asked = timezone.now()
    study = drafted_id(panel)
    with open_client(panel.platform) as client:
        there = client.get_study(study)
        if action is not StudyAction.PAUSE:
            _check_codes(panel, there)
        if there.status not in (*before, *after):
            state, label = statuses.study_label(there.status), get_platform(panel.platform).label
            raise Refused(f"The study is {state} on {label}, where this is not possible.")
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
    _note_study(panel, there, asked)


def add_places(panel: Panel, more: int, *, shown: int | None, by: Any = None, reason: str = "") -> bool:
    """Add places to the `shown` ones, which is the number that the user saw.

    Whether there are more now than before: asking twice adds them once. A panel never takes places away again. Raises
    Refused if it has another number than was shown; then that is noted, and none is added.
    """
    study = drafted_id(panel)
    if more < 1:
        raise Refused(f"{more} places can't be added; their number can only grow.")
    if shown is None:
        raise Refused("The number of places is not known yet; refresh from the panel first.")
    wanted = shown + more
    with open_client(panel.platform) as client:
        asked = timezone.now()
        there = client.get_study(study)
        _check_codes(panel, there)
        as_shown = there.places == shown
        if as_shown:
            asked = timezone.now()
            # A total and not an increment, so that a second attempt adds nothing either.
            there = client.set_places(study, wanted)
    _note_study(panel, there, asked)
    if not as_shown and there.places != wanted:
        label = get_platform(panel.platform).label
        raise Refused(
            f"{label} has {there.places} places, not {shown}. None were added; reload the page first."
        )
    if as_shown:
        log_action(study=panel.study, by=by, message=places_added(panel, more), reason=reason)
    return as_shown


def places_added(panel: Panel, more: int) -> str:
    return f"Added {counted(more, 'place')}: {panel.places} in total."


def sync_study(panel: Panel) -> Panel:
    """Read the states and places back, of the study and of those that are linked to it. One of these may be gone."""
    asked = timezone.now()
    study = drafted_id(panel)
    linked = list(panel.linked_studies.all())
    with open_client(panel.platform) as client:
        there = client.get_study(study)
        there_linked = [_look_up(client, each.external_id) for each in linked]
    for each, answer in zip(linked, there_linked, strict=True):
        # Of a study that is gone nobody takes another place.
        places = answer.places if answer is not None else each.records.exclude(status__in=FREED).count()
        LinkedStudy.objects.filter(pk=each.pk).update(places=places)
        note_study_status(
            panel, each.external_id, answer.status if answer is not None else statuses.GONE, asked
        )
    return _note_study(panel, there, asked)


def _look_up(client: PlatformClient, study: str) -> PanelStudy | None:
    """None where the panel knows no such study any more."""
    try:
        return client.get_study(study)
    except PanelError as error:
        if error.status == NOT_FOUND:
            return None
        raise


def note_study_status(panel: Panel, study: str, status: str, at: datetime) -> None:
    """The state there of the panel's own study or a linked one, unless something newer is known."""
    older = Q(status_at=None) | Q(status_at__lte=at)
    linked = LinkedStudy.objects.filter(panel=panel, external_id=study)
    rows: QuerySet[Any] = linked if linked.exists() else Panel.objects.filter(pk=panel.pk)
    rows.filter(older).update(status=status, status_at=at)


def drafted_id(panel: Panel) -> str:
    """The panel's id of the study, to ask it something. Raises Refused."""
    get_api(panel.platform)
    refuse_without_ids(panel.study)
    if not panel.external_id:
        raise Refused(f"The study is not drafted on {get_platform(panel.platform).label} yet.")
    return panel.external_id


def _check_codes(panel: Panel, there: PanelStudy) -> None:
    """Refuse if the codes there are not the study's: participants would leave with codes of another meaning."""
    platform, api = get_platform(panel.platform), get_api(panel.platform)
    codes = codes_of(panel.study)
    ours = {code: api.code_type(key) for key, code in codes.items()}
    # A visit with a study of its own there may have come to its code after this one was drafted.
    elsewhere = {codes.get(code_key(COMPLETED, each.visit_number), "") for each in panel.linked_studies.all()}
    missing = ours.keys() - there.codes.keys()
    if not dict(there.codes).items() <= ours.items() or not missing <= elsewhere:
        raise Refused(
            f"The completion codes on {platform.label} differ from the study's; correct them there first."
        )


def _note_study(panel: Panel, there: PanelStudy, asked: datetime) -> Panel:
    """Store the panel's answer, unless a webhook told something newer meanwhile; places and time in any case."""
    Panel.objects.filter(pk=panel.pk).update(places=there.places, there=there.eligibility, synced_at=asked)
    note_study_status(panel, panel.external_id, there.status, asked)
    panel.refresh_from_db()
    return panel
