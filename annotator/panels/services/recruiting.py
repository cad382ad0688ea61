"""A study on Prolific: publishing, pausing, places, and reading back how it goes.

What is asked of the panel is asked outside of transactions, and so that it may be done again after whatever went
wrong: where a study was moved is looked up.
"""

from datetime import datetime

from django.db.models import Q
from django.utils import timezone

from annotator.models import Panel
from annotator.panels.prolific import statuses
from annotator.panels.prolific.answers import PanelStudy
from annotator.panels.prolific.errors import PanelError
from annotator.panels.services.connection import open_client
from annotator.panels.services.prolific_preflight import PLATFORM, codes_of
from annotator.panels.services.recruitment_filters import filters_there
from annotator.panels.services.study_draft import CODE_TYPES, OTHER
from evaluation.models import Status
from evaluation.refusals import Refused


def publish(panel: Panel) -> Panel:
    """Participants can take places from now on, and that costs money. Raises Refused or PanelError."""
    if panel.study.status != Status.LIVE:
        raise Refused(f"The study here is {panel.study.get_status_display()}: nobody could take part.")
    return _move(panel, "PUBLISH", (statuses.DRAFT,), (statuses.ACTIVE, statuses.PUBLISHING))


def pause(panel: Panel) -> Panel:
    """Pause the study there: no new participants; those at work can finish."""
    return _move(panel, "PAUSE", (statuses.ACTIVE,), (statuses.PAUSED,))


def start(panel: Panel) -> Panel:
    """Resume after a pause."""
    if panel.study.status != Status.LIVE:
        raise Refused(f"The study here is {panel.study.get_status_display()}: nobody could take part.")
    return _move(panel, "START", (statuses.PAUSED,), (statuses.ACTIVE,))


def _move(panel: Panel, action: str, before: tuple[str, ...], after: tuple[str, ...]) -> Panel:
    """Move the study there, unless it is there already; ask where it is when a move got no answer."""
    study = drafted_id(panel)
    asked = timezone.now()
    with open_client() as client:
        there = client.get_study(study)
        if action != "PAUSE":
            _check_codes(panel, there)
        if there.status not in (*before, *after):
            state = statuses.STUDY.get(there.status, there.status)
            raise Refused(f"The study is {state} on Prolific, where this is not possible.")
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
    """Add places to the `shown` ones, which is the number that the user saw.

    Whether there are more now than before: asking twice adds them once. Prolific never takes places away again. Raises
    Refused if it has another number than was shown; then that is noted, and none is added.
    """
    study = drafted_id(panel)
    if more < 1:
        raise Refused(f"{more} places can't be added; their number can only grow.")
    if shown is None:
        raise Refused("The number of places is not known yet; refresh from the panel first.")
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
        raise Refused(
            f"Prolific has {there.places} places, not {shown}. None were added; reload the page first."
        )
    return as_shown


def sync_study(panel: Panel) -> Panel:
    """Read the study's state and places back."""
    asked = timezone.now()
    with open_client() as client:
        there = client.get_study(drafted_id(panel))
    return _note_study(panel, there, asked)


def drafted_id(panel: Panel) -> str:
    """The panel's id of the study. Raises Refused."""
    if panel.platform != PLATFORM or not panel.external_id:
        raise Refused("The study is not drafted on Prolific yet.")
    return panel.external_id


def _check_codes(panel: Panel, there: PanelStudy) -> None:
    """Refuse if the codes there are not the study's: participants would leave with codes of another meaning."""
    codes = codes_of(panel.study).items()
    ours = {code: CODE_TYPES.get(outcome, OTHER)[0] for outcome, code in codes}
    if dict(there.codes) != ours:
        raise Refused("The completion codes on Prolific differ from the study's; correct them there first.")


def _note_study(panel: Panel, there: PanelStudy, asked: datetime) -> Panel:
    """Store the panel's answer, unless a webhook told something newer meanwhile; places and time in any case."""
    Panel.objects.filter(pk=panel.pk).update(places=there.places, there=filters_there(there), synced_at=asked)
    older = Q(status_at=None) | Q(status_at__lte=asked)
    Panel.objects.filter(older, pk=panel.pk).update(status=there.status, status_at=asked)
    panel.refresh_from_db()
    return panel
