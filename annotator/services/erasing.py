"""Erasing a participant: everything that they gave, and every copy of it here, is deleted.

The act is one transaction, so that a kill leaves all or nothing of it; files and kept figures are removed after it
(`evaluation.services.erasing.clear_erasures`), and by the next sweep if that is cut short. Exports, bundles and backups
that were taken before are out of reach: `plan_erasure` names them with their dates.
"""

import logging
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import OperationalError, connection, transaction

from annotator.models import (
    Assignment,
    DraftRound,
    Participant,
    Slot,
    SlotState,
    Submission,
)
from annotator.recruiters import recruiters
from annotator.services.mentions import mentions_of
from annotator.services.slots import claim_cursors, in_play
from annotator.services.slots.claim import is_wanted
from annotator.services.work.draft_rounds import is_lost
from evaluation.counting import counted
from evaluation.database.deadlock import is_deadlock
from evaluation.extension import extensions
from evaluation.job_kinds import kind_of
from evaluation.models import AnswerText, ItemFlag, Job, Judgment, Note, Status, Study
from evaluation.permissions import get_study_for, studies_for
from evaluation.refusals import Refused
from evaluation.services.erasing import (
    Copies,
    Words,
    clear_erasures,
    delete_rater,
    erase_items,
    erase_mentions,
    files_since,
    find_copies,
    is_being_copied,
    record_erasure,
    rename_systems,
    words_of,
)
from evaluation.services.history import copies_of, server_account
from evaluation.storable import storable

logger = logging.getLogger(__name__)

WITHDREW = "The participant withdrew and asked for it."
MEANWHILE = "Something else changed the same rows at this moment, so nothing was erased. Try again."
OPEN = (Status.LIVE, Status.PAUSED)


# --- what it would come to --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ErasurePlan:
    """Sentences on what goes, what stays and what is out of reach; `problems` keep it from being done. `is_open` says
    that the slots of the judgments can be given to others."""

    pseudonym: str
    is_open: bool
    goes: list[str] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    stays: list[str] = field(default_factory=list)
    # Places where others have written a name of theirs.
    mentions: list[str] = field(default_factory=list)
    out_of_reach: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def plan_erasure(participant: Participant, *, by: Any = None) -> ErasurePlan:
    """Count what erasing this participant would come to, and change nothing. Studies that `by` is no member of are not
    named."""
    study, rater = participant.study, participant.rater
    judgments = Judgment.objects.filter(rater=rater)
    n_judgments = judgments.count()
    rounds = DraftRound.objects.filter(assignment__participant=participant).count()
    texts = AnswerText.objects.filter(judgment__rater=rater).count()
    notes = Note.objects.filter(judgment__rater=rater).count()
    reports = ItemFlag.objects.filter(rater=rater).count()
    goes = [
        f"{counted(n_judgments, 'judgment')} with all answers, {counted(texts, 'text')} among them, times and traces",
        "drafts, comments, their address here, and their place among the study's raters and participants",
        f"the platform's ids for them and for {counted(participant.submissions.count(), 'visit')}",
        *([f"revisions that they asked a model for: {rounds:,}"] if rounds else []),
        *([counted(reports, "report of a problem", "reports of problems")] if reports else []),
        *([f"members' notes on their judgments: {notes:,}"] if notes else []),
        "their name in the study's history, with the reasons of the lines that name them",
    ]  # fmt: skip
    stays = [
        "amount and day of what they were paid, without the person",
        "that somebody was erased: by whom, when, why, and how many judgments",
        *(
            f"what they gave in {title}, where they took part, too: erase them there"
            for title in _elsewhere(participant, by)
        ),
    ]
    return ErasurePlan(
        rater.pseudonym,
        study.status in OPEN,
        goes=goes,
        copies=list(_copies_in_words(find_copies(rater), by)),
        stays=stays,
        mentions=list(mentions_of(participant, {rater.pseudonym, *names_of(participant)})),
        out_of_reach=list(_out_of_reach(participant)),
        problems=list(_refusals(participant)),
    )


def _elsewhere(participant: Participant, by: Any) -> list[str]:
    """The titles of other studies in which the platform's id of them is known, as far as `by` may see them."""
    if not participant.external_id:
        return []
    same = Participant.objects.filter(platform=participant.platform, external_id=participant.external_id)
    studies = Study.objects.visible() if by is None else studies_for(by)
    others = studies.filter(pk__in=same.exclude(study=participant.study_id).values("study"))
    return list(others.order_by("pk").values_list("title", flat=True))


def _copies_in_words(copies: Copies, by: Any) -> Iterator[str]:
    for study, (raters, items) in copies.by_study().items():
        known = by is None or studies_for(by).filter(pk=study.pk).exists()
        title = study.title if known else "a study that you are no member of"
        if raters:
            yield f"{title} has a copy of their judgments. It is erased, too."
        if items:
            done = "withdrawn, and the text is erased" if study.is_frozen else "deleted from the draft"
            verb, which = ("quotes", "It is") if items == 1 else ("quote", "They are")
            yield f"{counted(items, 'item')} of {title} {verb} this person. {which} {done}."


def _out_of_reach(participant: Participant) -> Iterator[str]:
    study, came = participant.study, participant.created_at
    for job in files_since(study, came):
        assert job.finished_at is not None  # as it is done
        who = f", for {job.by}" if job.by else ""
        written = f"{job.file_name or kind_of(job).noun}, written on {job.finished_at:%Y-%m-%d}{who}"
        yield f"{written}: deleted here, not where somebody has fetched it to"
    for (what, who), days in copies_of(study, came).items():
        yield f"{what}: copied out by {who} on {', '.join(f'{day:%Y-%m-%d}' for day in days)}"
    yield (
        f"backups of the database and its logs that were taken since they came on {came:%Y-%m-%d}: they hold it until "
        "they are deleted"
    )
    yield "tables that were copied from a page: nothing tells who has one"
    yield "what was sent to models at endpoints, which keep it by their own rules"


def _refusals(participant: Participant) -> Iterator[str]:
    yield from recruiters().unsettled(participant)
    waiting = DraftRound.objects.filter(assignment__participant=participant, state=DraftRound.State.WAITING)
    if any(not is_lost(each) for each in waiting.select_related("job")):
        yield "A model is revising a draft of theirs at this moment. Try again in a minute."
    if is_being_copied(participant.study):
        yield "A study is being made of this one at this moment. Try again once it is done."


# --- the act ----------------------------------------------------------------------------------------------------------


def erase_participant(
    participant: Participant, *, by: Any = None, reason: str, typed: str, deal_again: bool | None = None
) -> str:
    """Erase a participant with every copy of what they gave; the sentence of the history.

    For owners; `by` is None for whoever runs the server. `typed` is the pseudonym, to be sure of the person.
    `deal_again`: whether the slots of their judgments open again, to be said of a study under way. Refused while one of
    their submissions is unsettled, and without a reason.
    """
    if by is not None:
        get_study_for(by, participant.study.slug, right="own")
    problems = [] if reason.strip() else ["Give a reason."]
    if typed.strip() != participant.rater.pseudonym:
        problems.append(f"Type the pseudonym, {participant.rater.pseudonym}, to confirm whom to erase.")
    if participant.study.status in OPEN and deal_again is None:
        problems.append("Say whether the slots of their judgments open again or are retired.")
    if problems:
        raise Refused(*problems)
    said = _erase(participant.pk, by=by, reason=storable(reason).strip(), deal_again=bool(deal_again))
    clear_erasures()
    return said


def erase_withdrawn(participant: Participant) -> bool:
    """Erase whoever asked for it as they withdrew; False while something of theirs is unsettled."""
    try:
        _erase(participant.pk, by=None, reason=WITHDREW, deal_again=True)
    except Refused:
        return False
    clear_erasures()
    return True


def sweep_erasures() -> None:
    """Erase those who asked for it and are settled by now, and clear away what a kill has left."""
    asked = Participant.objects.filter(erasure_asked_at__isnull=False).select_related("study")
    for participant in asked.order_by("pk"):
        try:
            erase_withdrawn(participant)
        except Exception:
            # One that can't be erased must not keep the others; it is tried again.
            logger.exception("Participant %s, who asked for it, could not be erased.", participant.pk)
    clear_erasures()


def _erase(pk: int, *, by: Any, reason: str, deal_again: bool) -> str:
    _overwrite_what_is_deleted()
    try:
        return _erase_at_once(pk, by, reason, deal_again)
    except OperationalError as error:
        # As with another erasure that has copies in this study while this one has some in that one's.
        if is_deadlock(error):
            raise Refused(MEANWHILE) from None
        raise


def _erase_at_once(pk: int, by: Any, reason: str, deal_again: bool) -> str:
    with transaction.atomic():
        # The study before the participant, as whoever comes in locks them.
        studies = Study.objects.select_for_update(no_key=True, of=("self",))
        study = studies.filter(participants=pk).first()
        people = Participant.objects.select_for_update(no_key=True, of=("self",)).select_related("rater")
        participant = people.filter(pk=pk).first()
        if study is None or participant is None:
            raise Refused("They were erased already.")
        participant.study = study
        if problems := list(_refusals(participant)):
            raise Refused(*problems)
        return _erase_locked(participant, by, reason, deal_again)


def _erase_locked(participant: Participant, by: Any, reason: str, deal_again: bool) -> str:
    study, rater = participant.study, participant.rater
    copies, own = find_copies(rater), set(names_of(participant))
    words = Words(words_of([rater, *copies.raters]))
    acting = by or server_account()
    numbers = _erase_copies(copies, words)
    _erase_way(participant, deal_again)
    n = delete_rater(rater)
    again = deal_again and study.status in OPEN
    slots = ("slot opens again", "slots open again") if again else ("slot is retired", "slots are retired")
    said = f"Erased a participant: {counted(n, 'judgment')}, whose {slots[n != 1]}."
    erase_mentions(study, rater.pseudonym, own)
    record_erasure(study, by=by, acting=acting, reason=reason, raters=1, judgments=n, said=said)
    for copy, (raters, judgments, items) in numbers.items():
        parts = [counted(judgments, "judgment")] if raters else []
        parts += [counted(items, "item")] if items else []
        record_erasure(
            copy, by=by, acting=acting, reason=reason, raters=raters, judgments=judgments, items=items,
            said=f"Erased what a participant of {study.title} had given: {', '.join(parts)}.",
        )  # fmt: skip
    return said


def names_of(participant: Participant) -> Iterator[str]:
    """The names that platforms have for them and their visits, which are known in this study alone."""
    rows = Submission.objects.filter(participant=participant).values_list("external_id", flat=True)
    yield from filter(None, (participant.external_id, *rows))
    yield from recruiters().names(participant)


def _erase_copies(copies: Copies, words: Words) -> dict[Study, tuple[int, int, int]]:
    """By study, how many raters, judgments and items were erased."""
    found: dict[Study, tuple[int, int, int]] = {}
    for study, (raters, n_items) in copies.by_study().items():
        judgments = sum(delete_rater(each) for each in copies.raters if each.study_id == study.pk)
        items = list(study.items.filter(pk__in=copies.items).values_list("pk", flat=True))
        if items:
            erase_items(study, {pk: copies.items[pk] for pk in items}, words.without)
            _erase_drafts(items, words)
        found[study] = raters, judgments, n_items
    rename_systems(copies.systems)
    return found


def _erase_drafts(items: list[int], words: Words) -> None:
    """Drafts of others on items that quote them."""
    for row in Assignment.objects.filter(item__in=items).exclude(draft={}).only("pk", "draft"):
        if (draft := words.without(row.draft)) != row.draft:
            Assignment.objects.filter(pk=row.pk).update(draft=draft)
    for each in DraftRound.objects.filter(assignment__item__in=items):
        left = {name: words.without(getattr(each, name)) for name in ("instruction", "before", "after")}
        DraftRound.objects.filter(pk=each.pk).update(**left)


def _erase_way(participant: Participant, deal_again: bool) -> None:
    """Their slots are free or retired; their assignments, visits, panel's records and own row are deleted."""
    study = participant.study
    rounds = DraftRound.objects.filter(assignment__participant=participant)
    if items := list(rounds.order_by().values_list("assignment__item", flat=True).distinct()):
        for each in extensions():
            each.erase_revisions(study, items)
        Job.objects.filter(pk__in=rounds.filter(job__isnull=False).values("job")).delete()
    moved, opened = _free_slots(participant, deal_again and study.status in OPEN)
    recruiters().erase(participant)
    Submission.objects.filter(participant=participant).delete()
    Assignment.objects.filter(participant=participant).delete()
    participant.delete()
    in_play.count(moved)
    claim_cursors.move_back(Slot.objects.filter(pk__in=opened))


def _free_slots(participant: Participant, deal_again: bool) -> tuple[Counter[int], list[int]]:
    """By arm, how many slots came into play, or left it; and those that are open now. An item that was reserved is
    always given to others; a slot is retired where enough others judge its item, or another stands in its place."""
    study, moved, opened = participant.study, Counter[int](), []
    held = Slot.objects.filter(holder__participant=participant).order_by("arm", "pk")
    for slot in held.select_for_update(no_key=True, of=("self",)):
        is_counted = slot.state == SlotState.RESERVED or participant.in_play
        goes_on = slot.state == SlotState.RESERVED or deal_again
        replaced = Slot.objects.filter(replaces=slot).exists()
        opens = goes_on and not replaced and is_wanted(slot.item_id, study)
        slot.state = SlotState.OPEN if opens else SlotState.RETIRED
        slot.holder = slot.leased_until = None
        slot.save(update_fields=["state", "holder", "leased_until"])
        moved[slot.arm_id] += int(opens) - int(is_counted)
        opened += [slot.pk] if opens else []
    return moved, opened


def _overwrite_what_is_deleted() -> None:
    """SQLite leaves what is deleted in its file until the room is used again, unless it is told otherwise."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA secure_delete = ON")
