"""The end of a study's retention period: what platforms know its people by goes, and the moments of their work."""

from collections.abc import Iterable
from datetime import UTC
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import DurationField, ExpressionWrapper, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import TruncDay
from django.utils import timezone

from annotator.models import (
    Assignment,
    DraftRound,
    KnownMismatch,
    Panel,
    PanelAct,
    PanelEvent,
    PanelRecord,
    Participant,
    PersonalLink,
    Submission,
)
from annotator.panels.selectors import studies_there
from annotator.panels.services.retention.unsettled import unsettled_problems
from annotator.selectors.private_words import private_words
from evaluation.models import Job, Status, Study
from evaluation.private_words import PrivateWords
from evaluation.refusals import Refused, WrongState
from evaluation.services.history import log_action, server_account
from evaluation.services.jobs import files_of
from evaluation.services.private_texts import black_out, black_out_texts
from evaluation.services.studies.retention import reduce_times, retention_text

BATCH = settings.ASSAY_BATCH_SIZE


def refuse_without_ids(study: Study) -> None:
    """Raise Refused for what needs the ids of a study's people at their platform, once they are deleted."""
    if study.ids_deleted_at is not None:
        raise Refused(f"{retention_text(study)} Nothing is read of the study or asked of its panel any more.")


def delete_ids(study: Study, *, by: Any = None) -> str:
    """Delete a closed study's platform ids and reduce the moments of people's work to the day, for good.

    Refused while a submission is not settled on the panel. Amounts and days of payments stay, as do durations, the
    order of each person's work, and every figure. One transaction, with the seals renewed.
    """
    with transaction.atomic():
        locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if locked.status != Status.CLOSED or locked.ids_deleted_at is not None:
            raise WrongState("Platform ids are deleted of a closed study, and once.")
        if problems := list(unsettled_problems(locked)):
            raise Refused(*problems)
        words = list(private_words(locked))
        panel = Panel.objects.filter(study=locked).first()
        if panel is not None:
            studies = studies_there(panel)
            words = [word for word in words if word not in studies]
            _clean_panel(panel, words)
        black_out_texts(locked, PrivateWords(words))
        # Last of all: the shift is read from the participants' own times.
        _clean_people(locked)
        reduce_times(locked)
        _remove_exact_files(locked)
        locked.ids_deleted_at, locked.exact_times = timezone.now(), False
        locked.save(update_fields=["ids_deleted_at", "exact_times"])
        said = "Deleted platform ids, and exact times but for their day."
        log_action(study=locked, by=by or server_account(), message=said)
    return said


# --- what platforms know people by ------------------------------------------------------------------------------------


def _clean_panel(panel: Panel, words: Iterable[str]) -> None:
    """Each id becomes a number here; what was delivered and what was asked for there goes."""
    PanelEvent.objects.filter(panel=panel).delete()
    panel.drafted, panel.there = {}, {}
    panel.save(update_fields=["drafted", "there"])
    records = list(PanelRecord.objects.filter(panel=panel).select_related("submission").order_by("pk"))
    people: dict[str, str] = {}
    renamed: dict[str, str] = {}
    for record in records:
        # As they are in their participants' rows.
        shift = _shift_of(record)
        person = people.setdefault(record.participant_id, f"deleted-{len(people) + 1}")
        renamed[record.external_id] = f"deleted-{record.pk}"
        record.participant_id, record.external_id = person, renamed[record.external_id]
        for name in ("status_at", "started_at", "completed_at"):
            if (moment := getattr(record, name)) is not None:
                setattr(record, name, moment - shift)
    PanelRecord.objects.bulk_update(
        records,
        ["participant_id", "external_id", "status_at", "started_at", "completed_at"],
        batch_size=BATCH,
    )
    private = PrivateWords(words)
    for known in KnownMismatch.objects.filter(panel=panel):
        kind, _, rest = known.key.partition(":")
        about, _, state = rest.partition(":")
        known.key = f"{kind}:{renamed.get(about, about)}:{private.blacked_out(state)}"[:300]
        known.note = private.blacked_out(known.note)
        known.save(update_fields=["key", "note"])
    black_out(PanelAct.objects.filter(panel=panel), ("note", "reason", "purpose"), private)


def _shift_of(record: PanelRecord) -> Any:
    """The distance from midnight of the day on which the participant came, or else of the record's own first moment."""
    visit = record.submission
    began = visit.participant.created_at if visit is not None else record.started_at or record.status_at
    began = began.astimezone(UTC)
    return began - began.replace(hour=0, minute=0, second=0, microsecond=0)


def _clean_people(study: Study) -> None:
    """Empty ids. The moments of each participant move to where they would be had they come at midnight."""
    PersonalLink.objects.filter(study=study).delete()
    visits = Submission.objects.filter(participant__study=study)
    for visit in visits.exclude(external_id="").only("pk").iterator():
        Submission.objects.filter(pk=visit.pk).update(external_id=f"deleted-{visit.pk}")
    visits.update(extra={}, external_study_id="")
    assignments = Assignment.objects.filter(participant__study=study)
    rounds = DraftRound.objects.filter(assignment__participant__study=study)
    of_person = Participant.objects.filter(pk=OuterRef("participant")).annotate(shift=_shift("created_at"))
    of_assignment = Assignment.objects.filter(pk=OuterRef("assignment"))
    of_assignment = of_assignment.annotate(shift=_shift("participant__created_at"))
    of_rows: tuple[tuple[QuerySet[Any], QuerySet[Any], tuple[str, ...]], ...] = (
        (visits, of_person, ("entered_at", "ended_at")),
        (assignments, of_person, ("reserved_at", "ended_at")),
        (rounds, of_assignment, ("asked_at", "answered_at")),
    )
    for rows, whose, names in of_rows:
        shift = Subquery(whose.values("shift"), output_field=DurationField())
        rows.model._default_manager.filter(pk__in=rows.values("pk")).update(
            **{name: F(name) - shift for name in names}
        )
    own = _shift("created_at")
    Participant.objects.filter(study=study).update(
        external_id="",
        created_at=F("created_at") - own,
        consented_at=F("consented_at") - own,
        ended_at=F("ended_at") - own,
    )


def _shift(began: str) -> ExpressionWrapper:
    """The distance of a moment from its day's midnight."""
    return ExpressionWrapper(F(began) - TruncDay(began, tzinfo=UTC), output_field=DurationField())


# --- files ------------------------------------------------------------------------------------------------------------


def _remove_exact_files(study: Study) -> None:
    """Remove the files that were written for the study while its exports carried exact times."""
    if not study.exact_times:
        return
    ended = Job.objects.filter(study=study, finished_at__isnull=False)
    paths = [path for job in ended for path in files_of(job)]
    ended.update(file="")
    transaction.on_commit(lambda: _unlink(paths))


def _unlink(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
