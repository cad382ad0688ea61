"""A mismatch between the panel and this installation, a kind of mismatches, and the facts that kinds read."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ClassVar

from annotator.models import KnownMismatch, Panel, PanelAct, PanelEvent
from annotator.panels.money.bonus_evidence import Evidence
from annotator.panels.reconciliation.cases import Case


@dataclass(frozen=True)
class Facts:
    """All that kinds of mismatches look at. They ask nothing of the database."""

    panel: Panel
    has_api: bool
    bonuses_show_within: timedelta
    codes: Mapping[str, str]
    now: datetime
    cases: Sequence[Case]
    # By the act's id, of bonuses whose outcome is unknown.
    evidence: Mapping[int, Evidence] = field(default_factory=dict)
    # People whom the open slots need, and people who can still come; None where places can't differ.
    places: tuple[int, int] | None = None
    filter_differences: Sequence[str] = ()
    unapplied_events: Sequence[PanelEvent] = ()


@dataclass(frozen=True)
class Mismatch:
    """One disagreement. `remedies` are keys, the likeliest first; `state` is in its own key, so that a change shows
    again."""

    kind: "MismatchKind"
    sentence: str
    remedies: tuple[str, ...]
    state: str
    case: Case | None = None
    act: PanelAct | None = None
    subject: str = ""
    # Of places: how many are to be added.
    more: int = 0
    known: KnownMismatch | None = None

    @property
    def key(self) -> str:
        about = self.case.key if self.case is not None else self.subject
        return f"{self.kind.key}:{about}:{self.state}"[:300]


class MismatchKind:
    """A kind of disagreement between the panel and this installation: its title, its rule, and its remedies."""

    key: ClassVar[str]
    # Stands over its lines.
    title: ClassVar[str]
    # Keys of `annotator.panels.admin.pages.PAGES`, the likeliest first.
    remedies: ClassVar[tuple[str, ...]]
    # About visits, by which the list of visits can be filtered; not about the study as a whole.
    is_of_visits: ClassVar[bool] = True

    @abstractmethod
    def find(self, facts: Facts) -> Iterator[Mismatch]:
        """Every mismatch of this kind."""

    def mismatch(
        self, sentence: str, state: str = "", *, remedies: tuple[str, ...] | None = None, **about: Any
    ) -> Mismatch:
        """A mismatch of this kind, with fewer remedies where not all fit. No rejection that is ruled out is offered."""
        offered = self.remedies if remedies is None else remedies
        case: Case | None = about.get("case")
        if case is not None and not case.may_reject:
            offered = tuple(each for each in offered if each != "reject")
        return Mismatch(self, sentence, offered, state, **about)


class VisitMismatch(MismatchKind):
    """A kind that shows in one visit alone."""

    def find(self, facts: Facts) -> Iterator[Mismatch]:
        for case in facts.cases:
            yield from self.check(facts, case)

    @abstractmethod
    def check(self, facts: Facts, case: Case) -> Iterator[Mismatch]:
        """The mismatches of one visit, at most one as a rule."""
