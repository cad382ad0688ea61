"""The number of slots that each arm has in play, so that nobody who comes in has to count what is open.

A slot is in play while it is open, reserved, or filled by a participant who is in play themselves. So a claim, a submit
and a skip move no count, and wait for none: what is open is this number, less what leases hold and those few have
filled. Whoever comes in takes those out of play, with all that they have filled, who have ended or left (`sweep`), one
newcomer at a time; who comes back after that is brought back. Dealing, retiring and reopening slots moves the count in
the same transaction, after the last slot is locked: rows of slots come before rows of arms, everywhere.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q

from annotator.models import Assignment, ClaimCursor, Participant, Slot, SlotState
from annotator.selectors.arms import count_in_play, live_since
from annotator.services.slots import claim_cursors
from evaluation.models import Study

# How many people one newcomer takes out of play at most; each leaves once, so the others' turn comes.
AT_ONCE = 100


def count(moved: Mapping[int, int]) -> None:
    """Arms to how many slots came into play, or left it; one arm after the other, in the order that all keep."""
    for arm, n in sorted(moved.items()):
        if n:
            ClaimCursor.objects.filter(arm=arm).update(in_play=F("in_play") + n)


def note_filled(participant: Participant, slot: int) -> None:
    """After a fill: the slot has left play if whoever filled it has."""
    if not participant.in_play:
        arm = Slot.objects.filter(pk=slot).values("arm")
        ClaimCursor.objects.filter(arm__in=arm).update(in_play=F("in_play") - 1)


def bring_back(participant: Participant) -> None:
    """Count as in play whoever has something to do again. The caller has locked them. Where somebody else holds an
    arm's row just now, they come back with their next item: nobody waits for a row of an arm while holding another."""
    if participant.in_play or participant.outcome:
        return
    filled = _filled_by([participant.pk])
    rows = ClaimCursor.objects.filter(arm__in=filled).order_by("arm")
    if len(rows.select_for_update(skip_locked=True, no_key=True)) < len(filled):
        return
    count(filled)
    participant.in_play = True
    participant.save(update_fields=["in_play"])


def sweep(study: Study, now: datetime) -> None:
    """Take those out of play who have ended or left; the caller has locked the study."""
    since = live_since(study, now)
    recent = Assignment.objects.filter(participant=OuterRef("pk"), reserved_at__gte=since)
    left = (Q(consented_at=None) | Q(consented_at__lt=since)) & ~Exists(recent)
    gone = Participant.objects.filter(~Q(outcome="") | left, study=study, in_play=True)
    locked = gone.select_for_update(skip_locked=True, no_key=True).order_by("pk").only("pk")[:AT_ONCE]
    people = [participant.pk for participant in locked]
    if people:
        count({arm: -n for arm, n in _filled_by(people).items()})
        Participant.objects.filter(pk__in=people).update(in_play=False)


def _filled_by(people: Iterable[int]) -> Counter[int]:
    filled = Slot.objects.filter(state=SlotState.FILLED, holder__participant__in=list(people))
    return Counter(filled.values_list("arm", flat=True))


def recount(study: Study) -> None:
    """Recount, whatever is going on meanwhile: who moves a count now waits, and adds to what is counted here."""
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        claim_cursors.begin(
            Slot.objects.filter(study=study).order_by().values_list("arm", flat=True).distinct()
        )
        rows = ClaimCursor.objects.filter(arm__study=study).order_by("arm")
        arms = [cursor.pk for cursor in rows.select_for_update(no_key=True)]
        ClaimCursor.objects.filter(pk__in=arms).update(in_play=count_in_play(OuterRef("arm")))
