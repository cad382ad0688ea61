"""The two sides of a comparison, each a study or a view of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from analytics.reports.build import fingerprint
from analytics.reports.common import NothingToReport
from analytics.reports.comparison.document import NAMES, SCHEMA
from evaluation.canonical import canonical_hash
from evaluation.filters import EVERYTHING, Filters, view_in_words
from evaluation.models import Study
from evaluation.selectors import counting_judgments

SAME = (
    "A study is compared with another study, or with another view of itself: choose the judgments of A, of B, or of "
    "both."
)


@dataclass(frozen=True)
class ComparisonSide:
    """A study, or the part of its judgments that a view leaves."""

    study: Study
    filters: Filters = EVERYTHING

    @property
    def title(self) -> str:
        view = view_in_words(self.filters.canonical())
        return f"{self.study.title} ({view})" if view else self.study.title

    def judgments(self, most: int) -> int:
        """Number of its judgments that count, no further than `most`."""
        return counting_judgments(self.study).filter(self.filters.judgments(self.study))[:most].count()


@dataclass(frozen=True)
class Sides:
    """Both sides; differences are `b` less `a`. The study of `a` is that under which the comparison is kept."""

    a: ComparisonSide
    b: ComparisonSide

    @classmethod
    def of(cls, a: ComparisonSide, b: ComparisonSide) -> Self:
        """Raises NothingToReport where both are the same judgments."""
        if a.study.pk == b.study.pk and a.filters == b.filters:
            raise NothingToReport(SAME)
        return cls(a, b)

    @property
    def both(self) -> tuple[ComparisonSide, ComparisonSide]:
        return self.a, self.b

    @property
    def same_study(self) -> bool:
        return self.a.study.pk == self.b.study.pk

    def shared_judgments(self) -> int:
        """Number of counting judgments that both sides have; of two studies there are none."""
        if not self.same_study:
            return 0
        a, b = (each.filters.judgments(each.study) for each in self.both)
        return counting_judgments(self.a.study).filter(a).filter(b).count()

    @property
    def digest(self) -> str:
        """A hash of both studies and views, whatever their judgments are at the moment."""
        return canonical_hash(
            ["comparison", *([each.study.pk, each.filters.canonical()] for each in self.both)]
        )

    @property
    def fingerprint(self) -> str:
        """Everything that the comparison depends on, as a hash."""
        of_reports = [fingerprint(each.study, filters=each.filters) for each in self.both]
        return canonical_hash([SCHEMA, *of_reports])

    @property
    def message(self) -> dict[str, Any]:
        """The same for a worker, who reads the studies anew."""
        return {
            name: {"study": each.study.pk, "view": each.filters.canonical()}
            for name, each in zip(NAMES, self.both, strict=True)
        }

    @classmethod
    def of_message(cls, message: Mapping[str, Any]) -> Self:
        a, b = (
            ComparisonSide(Study.objects.get(pk=message[name]["study"]), Filters.of(message[name]["view"]))
            for name in NAMES
        )
        return cls(a, b)
