"""A figure: one statistic of a report, with its tables, plots, findings and methods sentences.

A figure is a module in a folder of its subject, with an instance named FIGURE; its key is that folder and its name,
such as `agreement/kappa`. Figures are found there: no list names them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from types import NoneType, UnionType
from typing import Any, ClassVar, Generic, TypeVar, cast, get_args

from analytics.display.blocks import Block
from analytics.figures.document import FigureFinding
from analytics.figures.families import FamilyTest
from analytics.figures.figure_input import FigureInput
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.quantities import Quantity
from analytics.figures.report_view import ReportView
from analytics.frames.needs import Need
from analytics.statistics.core.reading import read
from evaluation.facts import Fact
from evaluation.protocols import QuestionSpec

AnyNeed = TypeVar("AnyNeed", bound=Need)
AnyRecord = TypeVar("AnyRecord")
# Where a figure stands under its heading that has no other place.
LAST = 100


class UndeclaredNeedError(Exception):
    """A figure reads what it does not name among its `needs`."""


class Figure(ABC, Generic[AnyRecord]):
    """A figure of this record: the dataclass that `compute` gives, or a union of some, of which its schema is made.

    `heading` is the key of the heading under which it stands, `place` its place there (smaller is earlier).
    `definition` is one sentence for docs/report.md.
    """

    key: ClassVar[str]
    # None of a figure that is shown from what every report says of the study.
    record_type: ClassVar[type | UnionType | None] = None
    heading: ClassVar[str]
    place: ClassVar[int] = LAST
    # True of what stands in one table of all judges: they are tested together.
    across_judges: ClassVar[bool] = False
    # Where its findings stand among those of one question.
    finding_place: ClassVar[int] = LAST
    # Of a figure that takes long over many judgments: its name for the reader who has it computed by opening its
    # section. For figures without findings and facts alone, so that nothing else in the report waits for it; the tests
    # of a family are all of figures that wait below one heading, or none of them is.
    deferred_as: ClassVar[str] = ""
    # Of a figure that repeats the number of a stopping rule ("win_rate", "agreement"): in a study that may stop by it,
    # records of people have no intervals and tests. `beside_people`: nor records of judges, in which people stand, too.
    # `stops_in`: only in these parts of a record, by their keys; in all of it where none are named.
    stops_with: ClassVar[tuple[str, ...]] = ()
    stops_in: ClassVar[tuple[str, ...]] = ()
    beside_people: ClassVar[bool] = False
    # What it reads of the study beside a group's answers (`analytics/figures/needs.py` has those of several figures).
    needs: ClassVar[tuple[type[Need], ...]] = ()
    # By their keys, figures that are computed wherever it is: those with tests in the same family, and those whose
    # records its sentences, tables and plots read.
    beside: ClassVar[tuple[str, ...]] = ()
    definition: ClassVar[str]

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "key" not in vars(cls):
            cls.key = "/".join(cls.__module__.split(".")[-2:])
        for kind in (each for base in vars(cls).get("__orig_bases__", ()) for each in get_args(base)):
            if not isinstance(kind, TypeVar):
                cls.record_type = None if kind is NoneType else kind

    @classmethod
    def is_in(cls, group: GroupView) -> bool:
        """True if a group of a report has a record of it."""
        return cls.key in group.records

    @classmethod
    def of(cls, group: GroupView) -> AnyRecord:
        """A group's record of it, as reports have it: with corrected tests, and without what is withheld."""
        return cast(AnyRecord, group.records.of(cls.key, cls.record_type))

    @classmethod
    def read(cls, found: Mapping[str, Any]) -> AnyRecord:
        """A record of it in a report's JSON."""
        return cast(AnyRecord, read(cast(Any, cls.record_type), found))

    def need(self, given: FigureInput, kind: type[AnyNeed]) -> AnyNeed:
        """One of its needs. UndeclaredNeedError for what it does not name among them."""
        if kind not in self.needs:
            raise UndeclaredNeedError(f"{self.key} reads {kind.__name__}, which is not among its needs.")
        return cast(AnyNeed, given.terms.needs[kind])

    @abstractmethod
    def applies(self, question: QuestionSpec, form: str) -> bool:
        """True for the questions that it is of, by their kind, form, part and level of measurement."""

    def is_of(self, given: FigureInput) -> bool:
        """False where it is seen at once that a group has no record of a question; no reader is to wait for that."""
        return True

    def compute(self, given: FigureInput) -> AnyRecord | None:
        """One group's record of one question that it `is_of`; None where it has nothing to be computed from."""
        return None

    def quantities(self, given: FigureInput) -> Iterable[Quantity]:
        """Its numbers of one group and one question that can be compared with those of another study."""
        return ()

    def tests(self, record: AnyRecord) -> Iterable[FamilyTest]:
        """The tests of a record that a finding could be made of."""
        return ()

    def settle(self, record: AnyRecord) -> Mapping[str, Any]:
        """The parts of a record, by their keys, that its corrected tests decide."""
        return {}

    def findings(self, view: ReportView, group: GroupView, question: QuestionView) -> Iterator[FigureFinding]:
        """Sentences that the tests support, of the leading group's record of one question."""
        yield from ()

    def facts(self, view: ReportView, group: GroupView, question: QuestionView) -> Iterator[Fact]:
        """Numbers for the strip at the top, of a group's record of its first question."""
        yield from ()

    def intro(self, view: ReportView) -> str:
        """A sentence below the heading; the first figure there that has one gives it."""
        return ""

    def title(self, view: ReportView) -> str:
        """The title of the heading, if not the usual one."""
        return ""

    def blocks(self, view: ReportView) -> Iterable[Block]:
        """Tables and plots of all records of this figure."""
        return ()

    def methods(self, view: ReportView) -> Iterable[str]:
        """Sentences on how it is computed; asked for only where the report has a record of it."""
        return ()

    def records(self, view: ReportView) -> list[AnyRecord]:
        """All records of it in a report."""
        return view.records_of(self.key, self.record_type)


class StudyFigure(Figure[None]):
    """A figure of the study as a whole, shown from what every report says of it."""

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return False
