"""Recorded times of people's judgments that count, and how often people skipped."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from analytics.frames.rows import StudyRows
from analytics.statistics.core.tidy import Floats, Ints
from evaluation.models import Outcome, Rater
from evaluation.selectors import excluded_q, main_judgments

TIMED = (Rater.Kind.PERSON, Rater.Kind.SIMULATED)


@dataclass(frozen=True, eq=False)
class RecordedTimes:
    """One row per timed judgment of one kind of raters, rater by rater in the order of their work; arrays (n,).

    `rater` codes `raters` (pseudonyms), who have such a judgment or skipped an item. `active` are seconds between
    opening and submitting, `visible` those with the page in view, nan where they are not recorded. `skipped` is the
    number of items that each rater skipped, `skips` the number of raters who skipped each item, by its row's key.
    `imported`: some of them come from a file, with its times.
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


def read_times(rows: StudyRows) -> list[RecordedTimes]:
    """Of people and of simulated raters, whichever have recorded times or skipped something; judges' calls have none.

    Where no time is recorded the arrays are empty, since skips are known without times.
    """
    study = rows.study
    skips = main_judgments(study).filter(
        rows.filters.judgments(study), ~excluded_q(study), outcome=Outcome.SKIPPED
    )
    found = []
    for kind in TIMED:
        left = list(skips.filter(rater__kind=kind).values_list("rater", "item"))
        skipped = Counter(rater for rater, _ in left)
        members = [pk for pk, rater in rows.raters.items() if rater.kind == kind]
        judgments = rows.judgments[rows.judgments["rater"].isin(members) & rows.judgments["active"].notna()]
        # By rater first: a bundle keeps the order of a rater's day alone, and sums go by order in their last digit.
        judgments = judgments.iloc[np.lexsort((judgments["moment"], judgments["rater"]))]
        item, rater = judgments["item"].to_numpy(), judgments["rater"].to_numpy()
        pks = np.union1d(rater, np.array(list(skipped), dtype=np.int64))
        if not len(pks):
            continue
        names = dict(Rater.objects.filter(study=study, kind=kind).values_list("pk", "pseudonym"))
        found.append(
            RecordedTimes(
                str(kind),
                tuple(names[pk] for pk in pks.tolist()),
                rows.item_pks[item],
                np.searchsorted(pks, rater),
                rows.items.query[item],
                judgments["active"].to_numpy(),
                judgments["visible"].to_numpy(),
                {names[pk]: n for pk, n in skipped.items()},
                dict(Counter(item for _, item in left)),
                Rater.objects.filter(study=study, kind=kind, source=Rater.Source.IMPORTED).exists(),
            )
        )
    return found
