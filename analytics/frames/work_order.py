"""The order in which people judged: in which third of their rater's work judgments stand."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from django.db.models import Count

from analytics.frames.rows import StudyRows, places
from analytics.statistics.core.tidy import Ints
from analytics.statistics.raters.order_effects import UNKNOWN_THIRD
from analytics.statistics.raters.times import thirds_of_work
from evaluation.database.columns import ColumnType, read_columns
from evaluation.models import Judgment, Rater, Role


@dataclass(frozen=True, eq=False)
class WorkOrder:
    """Read once a figure asks for it, as it is of no other use."""

    rows: StudyRows

    @cached_property
    def thirds(self) -> Ints:
        """The third of each of the rows' judgments, from 0; UNKNOWN_THIRD of judges and where no order is recorded.

        A person of whom two judgments have one moment, as where days alone were imported, has no recorded order.
        """
        found = np.full(len(self.rows.judgment_pks), UNKNOWN_THIRD)
        judged = Judgment.objects.filter(
            self.rows.counting(),
            item__role=Role.MAIN,
            item__withdrawn_at=None,
            rater__kind=Rater.Kind.PERSON,
            judged_at__isnull=False,
        )
        at_once = [
            rater
            for rater, n, moments in judged.order_by()
            .values_list("rater")
            .annotate(n=Count("pk"), moments=Count("judged_at", distinct=True))
            if n != moments
        ]
        types = dict.fromkeys(("pk", "rater_id"), ColumnType.WHOLE)
        table = read_columns(judged.exclude(rater__in=at_once).order_by("judged_at", "pk"), types)
        row, known = places(self.rows.judgment_pks, table.array("pk"))
        found[row[known]] = thirds_of_work(table.array("rater_id")[known])
        return found
