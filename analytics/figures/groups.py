"""Groups of raters, and the questions that they answered, as figures show them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from analytics.display.tables import Where
from analytics.figures.document import GroupRecord, Written
from analytics.figures.figure_input import QuestionRecord
from analytics.statistics.core.reading import read


class GroupRecords(Mapping[str, Written]):
    """A group's records of one question as JSON, by the keys of the figures."""

    def __init__(self, found: Mapping[str, Written]) -> None:
        self._found = found
        self._read: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Written:
        return self._found[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def of(self, key: str, kind: Any) -> Any:
        """A figure's record, of this type; each is read once."""
        if key not in self._read:
            self._read[key] = read(kind, self._found[key])
        return self._read[key]


NO_RECORDS = GroupRecords({})


@dataclass(frozen=True, eq=False)
class GroupView:
    """Raters who are read together: all that they judged or, under a question, what they answered to it.

    `within` is the key of the group that it is a part of, `where` its judgments in the list of items.
    """

    key: str
    label: str
    kind: str
    heuristic: bool
    judgments: int
    raters: int
    items: int
    within: str = ""
    where: Where | None = None
    records: GroupRecords = field(default_factory=lambda: NO_RECORDS)

    @classmethod
    def of(cls, found: GroupRecord, where: Where | None = None) -> Self:
        """The group that a report describes."""
        return cls(
            key=found["key"],
            label=found["label"],
            kind=found["kind"],
            heuristic=found["heuristic"],
            judgments=found["judgments"],
            raters=found["raters"],
            items=found["items"],
            within=found.get("within", ""),
            where=where,
        )


@dataclass(frozen=True, eq=False)
class QuestionView(QuestionRecord):
    """A question with the groups that answered it."""

    groups: tuple[GroupView, ...]

    def of_groups(self, groups: Iterable[GroupView]) -> Self:
        """The same with these groups."""
        found = tuple(groups)
        return self if found == self.groups else replace(self, groups=found)

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest point of a scale."""
        return self.points[0].number, self.points[-1].number
