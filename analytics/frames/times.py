"""Recorded times of people's judgments that count, and how often each of them skipped."""

from dataclasses import dataclass

import numpy as np
from django.db.models import Count

from analytics.frames.filters import EVERYTHING, Filters
from analytics.statistics.core.tidy import Floats, Ints
from evaluation.database.columns import ColumnType, read_columns
from evaluation.models import Outcome, Rater, Study
from evaluation.selectors import counting_judgments, main_judgments

TIMED = (Rater.Kind.PERSON, Rater.Kind.SIMULATED)


@dataclass(frozen=True, eq=False)
class RecordedTimes:
    """One row per judgment of one kind of raters with a recorded time, in the order of the work; arrays (n,).

    `rater` codes `raters` (pseudonyms). `active` are seconds between opening and submitting, `visible` those with the
    page in view, nan where they are not recorded. `skipped` is the number of items that each rater skipped, `skips` the
    number of raters who skipped each item, by its row's key. `imported`: some of them come from a file, with its times.
    """

    kind: str
    raters: tuple[str, ...]
    item: Ints
    rater: Ints
    query: Ints
    active: Floats
    visible: Floats
    skipped: dict[str, int]
    skips: dict[int, int]
    imported: bool


def read_times(study: Study, filters: Filters = EVERYTHING) -> list[RecordedTimes]:
    """Of people and of simulated raters, whichever have recorded times; judges' calls have none."""
    viewed = filters.judgments(study)
    judged = counting_judgments(study).filter(viewed)
    timed = judged.filter(rater__kind__in=TIMED, duration_ms__isnull=False)
    if not timed.exists():
        return []
    whole = ("item_id", "rater_id", "item__query_id")
    types = dict.fromkeys(whole, ColumnType.WHOLE) | dict.fromkeys(
        ("duration_ms", "visible_ms"), ColumnType.NUMBER
    )
    left = main_judgments(study).filter(viewed, outcome=Outcome.SKIPPED, rater__kind__in=TIMED).order_by()
    skipped = dict(left.values_list("rater").annotate(n=Count("pk")))
    found = []
    for kind in TIMED:
        table = read_columns(timed.filter(rater__kind=kind).order_by("judged_at", "pk"), types)
        pks, rater = np.unique(table.array("rater_id"), return_inverse=True)
        if not len(pks):
            continue
        names = dict(Rater.objects.filter(study=study, kind=kind).values_list("pk", "pseudonym"))
        found.append(
            RecordedTimes(
                str(kind),
                tuple(names[pk] for pk in pks.tolist()),
                table.array("item_id"),
                rater,
                table.array("item__query_id"),
                table.array("duration_ms") / 1000,
                table.array("visible_ms") / 1000,
                {names[pk]: n for pk, n in skipped.items() if pk in names},
                dict(left.filter(rater__kind=kind).values_list("item").annotate(n=Count("pk"))),
                Rater.objects.filter(study=study, kind=kind, source=Rater.Source.IMPORTED).exists(),
            )
        )
    return found
