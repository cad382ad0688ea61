"""A study's progress: its counts, kept in one row (`Progress`).

Pages read the row. Of a small study it is counted anew for who asks, once it is some seconds old; a large one is
counted by workers alone, every minute while it changes (`evaluation.tasks.count_progress`).
"""

from datetime import datetime, timedelta
from time import monotonic
from typing import Any

from django.db.models import Case, Count, F, IntegerField, Max, Min, Q, QuerySet, Sum, Value, When
from django.utils import timezone

from evaluation.canonical import canonical_hash
from evaluation.extension import extensions
from evaluation.models import Judgment, Outcome, Progress, Rater, Role, Status, Study
from evaluation.selectors import (
    count_items_of_people,
    counting_judgments,
    left_out_by_kind,
    main_judgments,
    queries_of_people,
)

# Judgments of a study that is still counted in a request.
SMALL = 20_000
FRESH_FOR = timedelta(seconds=10)
# A worker counts a study again after this long, and after this many times what counting took.
COUNTED_EVERY = timedelta(seconds=50)
# And looks so often whether one changed that is not under way: there may be a thousand of them.
LOOKED_AT_EVERY = timedelta(minutes=10)
PATIENCE = 20
RECENT = timedelta(hours=1)
# Of nobody in the crowd.
NOT_CROWD = Q(rater__kind__in=[Rater.Kind.JUDGE, Rater.Kind.SETTLED])


def progress_of(study: Study) -> Progress:
    """The study's row; counted now if it is small and its row old. A large study without a row has an unsaved one."""
    row = Progress.objects.filter(study=study).first()
    if row is None:
        several = Judgment.objects.filter(study=study).order_by().values("pk")[: SMALL + 1]
        return refresh_progress(study) if several.count() <= SMALL else Progress(study=study)
    row.study = study
    if row.n_people + row.n_judges >= SMALL:
        return row
    if timezone.now() - row.at < FRESH_FOR and row.figures.get("stamp") == _stamp(study):
        return row
    return refresh_progress(study)


def refresh_progress(study: Study) -> Progress:
    """Count the study and keep the counts. The judgments are counted if one came or changed since the last time."""
    began, now = monotonic(), timezone.now()
    row = Progress.objects.filter(study=study).first()
    stamp = _stamp(study)
    figures: dict[str, Any] = {} if row is None else dict(row.figures)
    values: dict[str, Any] = {}
    # What was done in the last hour goes down by itself.
    if row is None or figures.get("stamp") != stamp or figures.get("recent"):
        values, counted = _count(study, now)
        figures |= {"stamp": stamp, **counted}
    elif row is not None:
        values = {"n_filled": row.n_filled}
    for each in extensions():
        figures |= each.progress_figures(study)
    # What came with its judgments needs none.
    n_wanted = count_items_of_people(study) * study.redundancy if figures.get("recruits", True) else 0
    # Items may have been withdrawn at this moment.
    values["n_filled"] = min(values["n_filled"], n_wanted)
    figures["seconds"] = round(monotonic() - began, 3)
    values |= {"at": now, "n_wanted": n_wanted, "figures": figures}
    kept, _ = Progress.objects.update_or_create(study=study, defaults=values)
    kept.study = study
    return kept


def studies_to_count(now: datetime | None = None) -> list[Study]:
    """Those that workers shall count: never counted, under way, or changed since they were counted."""
    now = now or timezone.now()
    found = []
    for study in Study.objects.visible().filter(archived_at=None).select_related("progress").order_by("pk"):
        row: Progress | None = getattr(study, "progress", None)
        if row is not None:
            under_way = study.status in (Status.LIVE, Status.PAUSED) or row.figures.get("recent")
            every = COUNTED_EVERY if under_way else LOOKED_AT_EVERY
            if now - row.at < max(every, PATIENCE * timedelta(seconds=row.figures.get("seconds", 0))):
                continue
            if not under_way and row.figures.get("stamp") == _stamp(study):
                Progress.objects.filter(study=study).update(at=now)  # the counts are those of now
                continue
        found.append(study)
    return found


def _stamp(study: Study) -> str:
    """Changes with everything that the counts of judgments depend on, and is asked for at no scan of judgments."""
    facts = Study.objects.filter(pk=study.pk).values_list("corrections", "status", "redundancy").get()
    latest = Judgment.objects.filter(study=study).order_by("-pk").values_list("pk", flat=True).first()
    judges = study.raters.filter(kind=Rater.Kind.JUDGE).order_by("pk").values_list("pk", "in_figures")
    items = study.items.order_by().aggregate(n=Count("pk"), gone=Count("withdrawn_at"))
    return canonical_hash([latest, *facts, list(map(list, judges)), items["n"], items["gone"]])


def _count(study: Study, now: datetime) -> tuple[dict[str, Any], dict[str, Any]]:
    """Its judgments, counted: the row's columns, and figures."""
    counting = counting_judgments(study).order_by()
    kinds = dict(counting.values_list("rater__kind").annotate(n=Count("pk")))
    n_judges = kinds.get(Rater.Kind.JUDGE, 0)
    theirs = Judgment.objects.filter(study=study).exclude(NOT_CROWD)
    first, last = theirs.aggregate(first=Min("judged_at"), last=Max("judged_at")).values()
    recent, minutes = 0, 0.0
    if last is not None and last > now - RECENT:
        done = main_judgments(study).exclude(NOT_CROWD).filter(outcome=Outcome.OK, surplus=False)
        recent = done.filter(judged_at__gt=now - RECENT).count()
        minutes = (now - max(first, now - RECENT)).total_seconds() / 60
    columns = {
        "n_filled": _filled(study, counting.exclude(NOT_CROWD)),
        "n_people": sum(kinds.values()) - n_judges,
        "n_judges": n_judges,
        "last_activity": last,
    }
    figures = {
        "recent": recent,
        "recent_minutes": minutes,
        "simulated": kinds.get(Rater.Kind.SIMULATED, 0),
        "items": study.items.filter(role=Role.MAIN, withdrawn_at=None).count(),
        "left_out": left_out_by_kind(study),
    }
    return columns, figures


def _filled(study: Study, judgments: QuerySet[Judgment]) -> int:
    """The judgments that items need and have, none counted for more than its item needs."""
    theirs = queries_of_people(study)
    per_item = judgments.values("item").annotate(
        n=Count("pk"),
        needed=Case(
            When(n__gt=study.redundancy, then=Value(study.redundancy)),
            default=F("n"),
            output_field=IntegerField(),
        ),
    )
    if theirs is None:
        return per_item.aggregate(total=Sum("needed"))["total"] or 0
    rows = per_item.values_list("item__query", "needed").iterator()
    return sum(needed for query, needed in rows if query in theirs)
