"""A report dict seen by what its pages need: names, the leading group, and who else has a say."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from evaluation.reports.findings import Names, leading_group
from evaluation.reports.numbers import NBSP, decimal, percent
from evaluation.reports.plots import DotPlot, Mark, Row, dot_plot
from evaluation.reports.several import prompt_of
from evaluation.reports.tables import Cell, head

Record = dict[str, Any]
SIMULATED = "simulated"
# In tables and plots judges stand next to people, and simulated raters apart from both.
PLACES = ("person", "judges", "judge", SIMULATED)
# Labels of groups that are words of the language and not names.
SPOKEN = ("People", "Judges together", "Simulated raters")
FORMS = {"person": "filled dots", "judge": "open dots", "simulated": "diamonds"}


class Subject:
    """The report and the names in it."""

    def __init__(self, report: Record) -> None:
        self.report = report
        # Of the preference that the figures are of; without a prompt where the study asks for one alone.
        self.key = (report.get("preference") or {}).get("key", "")
        self.prompt = prompt_of(report)
        self.names = Names(report)
        everybody: list[Record] = sorted(report["groups"], key=lambda group: PLACES.index(group["kind"]))
        # Judges that were asked for the checklist alone stand under the follow-ups; here they would be dashes.
        self.judging = [group for group in everybody if group["items"]] or everybody
        # Heuristics stand in the judges' section only, unless nobody else has judged.
        self.groups = [group for group in self.judging if not group["heuristic"]] or self.judging
        self.checked = [
            group for group in everybody if group["follow_ups"] is not None and not group["heuristic"]
        ]
        self.leading = leading_group(report)
        self.arms = [arm for arm in self.names.arms if arm in self._arms_judged()]
        self.raters = {rater["rater"]: rater["label"] for rater in report["raters"]}

    def _arms_judged(self) -> set[str]:
        return {cell["arm"] for cell in self.leading["agreement"]["by_cell"]}

    @property
    def several_arms(self) -> bool:
        return len(self.arms) > 1

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """In the order of the report."""
        cells = self.leading["agreement"]["by_cell"]
        return list(dict.fromkeys((cell["system_1"], cell["system_2"]) for cell in cells))

    @property
    def sides(self) -> tuple[str, str]:
        """What the two canonical responses are called: their systems, unless there are several pairs of them."""
        if len(self.pairs) != 1:
            return "First", "Second"
        one, two = self.pairs[0]
        return self.system(one), self.system(two)

    @property
    def first_side(self) -> str:
        """Whose win rates are shown, in the middle of a sentence."""
        return self.sides[0] if len(self.pairs) == 1 else "the system named first"

    @property
    def hints(self) -> tuple[str, str]:
        """What it means to lie further left or right in a plot of win rates."""
        one, two = self.sides
        return (two, one) if len(self.pairs) == 1 else ("second preferred", "first preferred")

    @property
    def several_opponents(self) -> bool:
        """Whether some system was compared with more than one other."""
        opponents: dict[str, set[str]] = {}
        for one, two in self.pairs:
            opponents.setdefault(one, set()).add(two)
            opponents.setdefault(two, set()).add(one)
        return any(len(each) > 1 for each in opponents.values())

    @property
    def panels(self) -> list[Record]:
        """Groups of several raters, the leading one first: those with an agreement among themselves."""
        several = [group for group in self.groups if group["raters"] > 1]
        return sorted(several, key=lambda group: group is not self.leading) or [self.leading]

    @property
    def voices(self) -> list[Record]:
        """The groups that a plot compares: people, judges (together if there are several), simulated raters."""
        together = any(group["kind"] == "judges" for group in self.groups)
        return [group for group in self.groups if not (together and group["kind"] == "judge")]

    @property
    def judges(self) -> list[Record]:
        """How each judge was asked, and what came back."""
        judges: list[Record] = self.report["judges"]
        return judges

    @property
    def ties_are_wins(self) -> bool:
        return bool(self.report["parameters"]["ties"] == "win")

    def arm(self, key: str) -> str:
        return str(self.names.arms[key])

    def system(self, key: str) -> str:
        return str(self.names.systems[key])

    def pair(self, cell: Record) -> str:
        return self.names.pair(cell)


def tag_of(group: Record) -> str:
    return SIMULATED if group["kind"] == SIMULATED else ""


def group_head(group: Record) -> Cell:
    """The group as the head of a row. Simulated raters are named so already; single ones get the mark."""
    return head(group["label"], tag=tag_of(group))


def title_for(group: Record, what: str, subject: Subject) -> str:
    """A heading, with the group's name where it is not the leading one."""
    return what if group is subject.leading else f"{group['label']}: {what[:1].lower()}{what[1:]}"


def mark_of(group: Record, estimate: Record) -> Mark:
    kind = "judge" if group["kind"] in ("judge", "judges") else group["kind"]
    return Mark(kind, group["label"], estimate["value"], estimate["low"], estimate["high"], estimate["n"])


def legend(marks: Iterable[Mark]) -> str:
    """Which form of dot is whom: "Filled dots: people; open dots: judges together"."""
    who: dict[str, list[str]] = {}
    for mark in marks:
        names = who.setdefault(FORMS[mark.kind], [])
        name = mark.who.lower() if mark.who in SPOKEN else mark.who
        if name not in names:
            names.append(name)
    parts = [f"{form}: {', '.join(names) if len(names) < 4 else 'judges'}" for form, names in who.items()]
    text = "; ".join(parts)
    return text[:1].upper() + text[1:]


def share_plot(
    rows: Iterable[tuple[str, Iterable[tuple[Record, Record]]]],
    *,
    what: str,
    caption: str,
    reference: float | None = None,
    hints: tuple[str, str] = ("", ""),
    named: bool = False,
) -> DotPlot | None:
    """A plot of shares; rows are (label, (group, estimate) pairs). None where nothing is defined.

    `named` writes beside each mark whose it is.
    """
    made = _rows(rows)
    if not any(mark.value is not None for mark in _marks(made)):
        return None
    return dot_plot(
        made,
        what=what,
        caption=f"{caption} {legend(_marks(made))}, with 95 % intervals.",
        form=lambda value: f"{percent(value).removesuffix('.0')}{NBSP}%",
        within=(0.0, 1.0),
        reference=reference,
        hints=hints,
        named=named,
    )


def score_plot(
    rows: Iterable[tuple[str, Iterable[tuple[Record, Record]]]],
    *,
    what: str,
    caption: str,
    form: Callable[[float], str] = decimal,
) -> DotPlot | None:
    """The same for figures without bounds, around zero."""
    made = _rows(rows)
    if not any(mark.value is not None for mark in _marks(made)):
        return None
    return dot_plot(
        made,
        what=what,
        caption=f"{caption} {legend(_marks(made))}, with 95 % intervals.",
        form=form,
        reference=0.0,
    )


def mean_plot(
    rows: Iterable[tuple[str, Iterable[tuple[Record, Record]]]],
    *,
    what: str,
    caption: str,
    within: tuple[float, float],
    reference: float | None = None,
) -> DotPlot | None:
    """The same for means on a scale, whose ends are `within`."""
    made = _rows(rows)
    if not any(mark.value is not None for mark in _marks(made)):
        return None
    return dot_plot(
        made,
        what=what,
        caption=f"{caption} {legend(_marks(made))}, with 95 % intervals.",
        form=decimal,
        within=within,
        reference=reference,
    )


def _rows(rows: Iterable[tuple[str, Iterable[tuple[Record, Record]]]]) -> list[Row]:
    return [Row(label, tuple(mark_of(*each) for each in estimates)) for label, estimates in rows]


def _marks(rows: Iterable[Row]) -> Iterator[Mark]:
    return (mark for row in rows for mark in row.marks)


def by_cell(records: Iterable[Record], *factors: str) -> dict[tuple[Any, ...], Record]:
    """Records by the cell that they are of."""
    return {tuple(record[factor] for factor in factors): record for record in records}
