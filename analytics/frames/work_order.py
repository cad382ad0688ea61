"""The order in which people judged: in which third of their rater's work judgments stand."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from analytics.frames.needs import NeedSource
from analytics.frames.rows import StudyRows
from analytics.statistics.core.tidy import Ints
from analytics.statistics.raters.order_effects import UNKNOWN_THIRD
from analytics.statistics.raters.times import thirds_of_work
from evaluation.database.columns import NO_MOMENT
from evaluation.models import Rater


@dataclass(frozen=True, eq=False)
class WorkOrder:
    rows: StudyRows

    @classmethod
    def of(cls, source: NeedSource) -> Self:
        return cls(source.frame.rows)

    @cached_property
    def thirds(self) -> Ints:
        """The third of each of the rows' judgments, from 0; UNKNOWN_THIRD of judges and where no order is recorded.

        A person of whom two judgments have one moment, as where days alone were imported, has no recorded order.
        """
        judgments = self.rows.judgments
        rater, moment = judgments["rater"].to_numpy(), judgments["moment"].to_numpy()
        people = [pk for pk, each in self.rows.raters.items() if each.kind == Rater.Kind.PERSON]
        row = np.flatnonzero(np.isin(rater, people) & (moment != NO_MOMENT))
        row = row[np.lexsort((moment[row], rater[row]))]
        rater, moment = rater[row], moment[row]
        again = (rater[1:] == rater[:-1]) & (moment[1:] == moment[:-1])
        ordered = ~np.isin(rater, rater[1:][again])
        found = np.full(len(judgments), UNKNOWN_THIRD)
        found[row[ordered]] = thirds_of_work(rater[ordered])
        return found
