"""The period for which a study keeps what platforms know its people by, and the moments at which they worked."""

from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import TruncDay
from django.utils import timezone

from evaluation.counting import counted
from evaluation.models import AnswerText, ItemFlag, ItemTally, Judgment, Progress, Rater, Status, Study
from evaluation.seals import SealKey, open_seal_key
from evaluation.services.seals import JUDGMENT_FIELDS, count_judgments, judgment_content, written_texts

JUDGED_AT = JUDGMENT_FIELDS.index("judged_at")
WHAT = "Platform ids and exact times"


def deletion_day(study: Study) -> date | None:
    """The day on which ids and times are due to go; None where they are kept, are gone, or the study is not closed."""
    if study.retention_days is None or study.closed_at is None or study.ids_deleted_at is not None:
        return None
    return (study.closed_at + timedelta(days=study.retention_days)).astimezone(UTC).date()


def retention_text(study: Study) -> str:
    """When they go or went, in a sentence; empty where they are kept."""
    if study.ids_deleted_at is not None:
        return f"{WHAT} were deleted on {_in_words(study.ids_deleted_at.astimezone(UTC).date())}."
    if (day := deletion_day(study)) is not None:
        return f"{WHAT} are deleted on {_in_words(day)}."
    if study.retention_days is not None:
        return f"{WHAT} are deleted {counted(study.retention_days, 'day')} after the study is closed."
    return ""


def _in_words(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def studies_due() -> list[Study]:
    """Closed studies whose period is over."""
    closed = Study.objects.filter(
        status=Status.CLOSED, retention_days__isnull=False, closed_at__isnull=False, ids_deleted_at=None
    )
    today = timezone.now().date()
    return [each for each in closed.order_by("pk") if (deletion_day(each) or date.max) <= today]


def reduce_times(study: Study) -> None:
    """Reduce the moments of people's work to the day, with the order in which each person worked on it, and renew the
    seals over them. In a transaction.

    The nth moment of a rater's day becomes n microseconds after midnight, as where days alone were imported with
    their order (`dumps.imports.judgments`): no figure changes.
    """
    key = open_seal_key(study.seal_key)
    for rater in study.raters.filter(kind=Rater.Kind.PERSON).order_by("pk").values_list("pk", flat=True):
        _reduce_of(rater, key)
    reported = ItemFlag.objects.filter(Q(rater=None) | Q(rater__kind=Rater.Kind.PERSON), item__study=study)
    reported.update(at=TruncDay("at", tzinfo=UTC))
    ItemTally.objects.filter(study=study).update(last_judged_at=TruncDay("last_judged_at", tzinfo=UTC))
    Progress.objects.filter(study=study).update(last_activity=TruncDay("last_activity", tzinfo=UTC))


def _reduce_of(rater: int, key: SealKey | None) -> None:
    rows = list(
        Judgment.objects.filter(rater=rater, judged_at__isnull=False)
        .order_by("judged_at", "pk")
        .values_list("pk", "seal", *JUDGMENT_FIELDS)
    )
    moments: list[datetime] = []
    for _, of_day in groupby((row[2 + JUDGED_AT].astimezone(UTC) for row in rows), key=datetime.date):
        moments += _order_alone(list(of_day))
    marks = 0
    for start in range(0, len(rows), settings.ASSAY_BATCH_SIZE):
        some = rows[start : start + settings.ASSAY_BATCH_SIZE]
        texts = written_texts(AnswerText.objects.filter(judgment__in=[row[0] for row in some]))
        changed = []
        for (pk, seal, *values), moment in zip(some, moments[start:], strict=False):
            written = texts.get(pk, ())
            # One that was changed past the application stays told by its seal.
            if key is not None and seal == key.seal(judgment_content(values, written)):
                values[JUDGED_AT] = moment
                before, seal = key.mark(seal), key.seal(judgment_content(values, written))
                marks ^= before ^ key.mark(seal)
            changed.append(Judgment(pk=pk, judged_at=moment, seal=seal))
        Judgment.objects.bulk_update(changed, ["judged_at", "seal"])
    if marks:
        count_judgments([(rater, 0, marks)])


def _order_alone(moments: list[datetime]) -> list[datetime]:
    """The moments of one day, in their order, as midnight and so many microseconds; equal ones alike."""
    midnight = moments[0].replace(hour=0, minute=0, second=0, microsecond=0)
    places: dict[Any, int] = {}
    for each in moments:
        # Of what only the day was known stands at its first moment.
        places.setdefault(each, 0 if each == midnight else len(places) + (midnight not in places))
    return [midnight + timedelta(microseconds=places[each]) for each in moments]
