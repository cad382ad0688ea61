"""Bonuses as the panel shows them, held against those that were paid from here. No queries.

Of a bonus whose outcome is unknown the panel's own list is the evidence: what it shows beyond everything else that is
known there is either exactly the bonus, or nothing, or neither; only the first two say what happened. A person settles
it in every case. `shows_within` is the time in which the panel shows a bonus that it was asked to pay.
"""

import enum
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from annotator.models import PanelAct, PanelRecord
from annotator.panels.states import Kind, State

ZERO = Decimal("0.00")
# A submission as the panel has it, and all acts about it.
SubmissionActs = tuple[PanelRecord | None, Sequence[PanelAct]]


class EvidenceVerdict(enum.Enum):
    PAID = "paid"
    UNPAID = "unpaid"
    # Nobody has read the submission since the bonus was sent, or too soon after.
    UNREAD = "unread"
    UNCLEAR = "unclear"


@dataclass(frozen=True)
class Evidence:
    """The evidence on all bonuses that were sent in one call."""

    verdict: EvidenceVerdict
    sentence: str
    acts: tuple[PanelAct, ...] = ()


def bonuses_of(acts: Iterable[PanelAct], *states: str) -> list[PanelAct]:
    return [act for act in acts if act.kind == Kind.BONUS and act.state in states]


def total(acts: Iterable[PanelAct]) -> Decimal:
    return sum((act.amount for act in acts if act.amount is not None), ZERO)


def unexplained(record: PanelRecord, acts: Iterable[PanelAct]) -> Decimal:
    """The sum that the panel shows beyond the bonuses paid from here, or perhaps paid; 0 where it has not been read."""
    if record.bonuses is None or record.bonuses_at is None:
        return ZERO
    ours = total(_sent_before(bonuses_of(acts, State.DONE, State.UNKNOWN), record.bonuses_at))
    return max(ZERO, record.bonuses - ours)


def _sent_before(acts: Iterable[PanelAct], at: datetime) -> list[PanelAct]:
    return [act for act in acts if act.sent_at is not None and act.sent_at <= at]


def is_early(record: PanelRecord, acts: Iterable[PanelAct], shows_within: timedelta) -> bool:
    """True where missing bonuses may only not show yet. An act is taken a while before the panel is asked to pay it,
    and ends after that."""
    asked = [act.ended_at or act.sent_at for act in acts]
    return record.bonuses_at is None or any(
        each is not None and each + shows_within > record.bonuses_at for each in asked
    )


# --- bonuses in doubt -------------------------------------------------------------------------------------------------


def evidence_by_act(visits: Iterable[SubmissionActs], shows_within: timedelta) -> dict[int, Evidence]:
    """The evidence on each bonus whose outcome is unknown, by the act's id; the bonuses of one call share theirs."""
    by_batch: dict[str, list[tuple[SubmissionActs, PanelAct]]] = defaultdict(list)
    for visit in visits:
        for act in bonuses_of(visit[1], State.UNKNOWN):
            by_batch[act.batch or f"#{act.pk}"].append((visit, act))
    found = {}
    for lines in by_batch.values():
        evidence = _of_batch(lines, shows_within)
        found.update({act.pk: evidence for _, act in lines})
    return found


def _of_batch(lines: Sequence[tuple[SubmissionActs, PanelAct]], shows_within: timedelta) -> Evidence:
    acts = tuple(act for _, act in lines)
    verdicts = [_verdict(*visit, shows_within) for visit, _ in lines]
    read = [record.bonuses_at for (record, _), _ in lines if record and record.bonuses_at]
    when = f"on {min(read):%Y-%m-%d %H:%M} UTC" if read else ""
    what, which = _listed(acts), "this submission" if len(acts) == 1 else "these submissions"
    if EvidenceVerdict.UNREAD in verdicts:
        minutes = shows_within // timedelta(minutes=1)
        said = f"Refresh from the panel {minutes} minutes after it was sent to see which bonuses it shows."
        return Evidence(EvidenceVerdict.UNREAD, said, acts)
    if set(verdicts) == {EvidenceVerdict.PAID}:
        return Evidence(
            EvidenceVerdict.PAID,
            f"Read {when}, the panel shows {what} on {which} that it did not show before.",
            acts,
        )
    if set(verdicts) == {EvidenceVerdict.UNPAID}:
        return Evidence(
            EvidenceVerdict.UNPAID, f"Read {when}, the panel shows none of {what} on {which}.", acts
        )
    paid = sum(each is EvidenceVerdict.PAID for each in verdicts)
    said = f"Read {when}, the panel shows {paid} of {what} on {which}: check each one there."
    if any(act.others is None for act in acts):
        said = (
            f"Read {when}, the panel shows bonuses on {which}, but what it showed before {what} was "
            "sent is unknown: they may be other bonuses. Check each one there."
        )
    return Evidence(EvidenceVerdict.UNCLEAR, said, acts)


def _verdict(
    record: PanelRecord | None, acts: Sequence[PanelAct], shows_within: timedelta
) -> EvidenceVerdict:
    """The verdict on all of the submission's bonuses in doubt together."""
    doubted = bonuses_of(acts, State.UNKNOWN)
    if record is None or record.bonuses_at is None:
        return EvidenceVerdict.UNREAD
    if record.bonuses is None:
        return EvidenceVerdict.UNCLEAR  # the panel was asked and has no such submission
    if len(_sent_before(doubted, record.bonuses_at)) < len(doubted):
        return EvidenceVerdict.UNREAD
    done = bonuses_of(acts, State.DONE)
    others = min(doubted, key=lambda act: act.sent_at or record.status_at).others
    extra = record.bonuses - total(_sent_before(done, record.bonuses_at)) - (others or ZERO)
    if extra == total(doubted) and others is not None:
        return EvidenceVerdict.PAID  # else somebody may have paid as much there before
    if extra != 0:
        return EvidenceVerdict.UNCLEAR
    early = is_early(record, [*done, *doubted], shows_within)
    return EvidenceVerdict.UNREAD if early else EvidenceVerdict.UNPAID


def _listed(acts: Sequence[PanelAct]) -> str:
    """ "2 bonuses of 0.75", or their sum where they are not all the same."""
    amounts = {act.amount for act in acts}
    if len(acts) == 1:
        return f"a bonus of {acts[0].amount}"
    if len(amounts) == 1:
        return f"{len(acts):,} bonuses of {acts[0].amount}"
    return f"{len(acts):,} bonuses of {total(acts)} in total"


# --- bonuses that are settled -----------------------------------------------------------------------------------------


def missing_there(record: PanelRecord, acts: Sequence[PanelAct], shows_within: timedelta) -> Decimal:
    """The sum by which the panel shows less than was paid from here; 0 while that may only not be shown yet."""
    done = bonuses_of(acts, State.DONE)
    in_doubt = bonuses_of(acts, State.UNKNOWN, State.SENDING)
    if record.bonuses is None or in_doubt or is_early(record, done, shows_within):
        return ZERO
    return max(ZERO, total(done) - record.bonuses)


def paid_there_only(record: PanelRecord, acts: Sequence[PanelAct]) -> Decimal:
    """The sum by which the panel shows more than was paid from here."""
    if bonuses_of(acts, State.UNKNOWN, State.SENDING):
        return ZERO
    return unexplained(record, acts)
