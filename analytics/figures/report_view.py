"""A report as its figures read it: names, who leads, and the records of each question and group."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol, TypeVar

from analytics.display.blocks import Block
from analytics.display.numbers import percent
from analytics.display.tables import TableCell, head, words
from analytics.figures import where
from analytics.figures.document import FigureRecord, JudgeRecord, ReportRecord, Written
from analytics.figures.figure_input import PAIRS, QuestionRecord
from analytics.figures.groups import NO_RECORDS, GroupRecords, GroupView, QuestionView
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.reading import read

AnyPart = TypeVar("AnyPart")
SIMULATED = "simulated"
# In tables and plots judges stand next to people, and simulated raters apart from both.
PLACES = ("person", "judges", "jury", "judge", SIMULATED)
# People lead a report; who comes next stands in where they are missing. Heuristics lead where nobody else has judged.
LEADERS = {"person": 0, SIMULATED: 1, "judges": 2, "jury": 3, "judge": 4}
SYSTEM_KINDS = {"model": "All by models", "person": "All by people", "prompt": "All by prompt variants"}
# Beside people more judges than this are apart from them: each would be one more mark in every row of a plot.
MOST_BESIDE = 3
# Of more preferences than this the details are opened by who wants them.
MOST_OPEN = 2
# Figures of a category with fewer items than this say little: they are opened by who wants them.
FEW_ITEMS = 10
SMALL = "small categories"
SPLIT_NAMES = {"private": "Private", "dev": "Development", "agreement": "Agreement"}
# The figure by whose cells settings and pairs are told.
CELLS = "agreement/percentage"


def leading_group(groups: Iterable[GroupView]) -> GroupView:
    return min(groups, key=lambda group: (group.heuristic, LEADERS[group.kind]))


class CellOfPair(Protocol):
    """A record of two systems."""

    @property
    def system_1(self) -> str | None: ...

    @property
    def system_2(self) -> str | None: ...


class GroupsView:
    """Groups of raters side by side."""

    def __init__(self, report: ReportRecord, everybody: Iterable[GroupView]) -> None:
        self.report = report
        self.everybody: list[GroupView] = sorted(everybody, key=lambda group: PLACES.index(group.kind))
        # Heuristics stand in the judges' section only, unless nobody else has judged.
        self.groups = [group for group in self.everybody if not group.heuristic] or self.everybody
        self.leading = leading_group(self.everybody)
        self.systems: dict[str, str] = {each["key"]: each["label"] for each in report["study"]["systems"]}
        self.all_arms: dict[str, str] = {each["key"]: each["label"] for each in report["study"]["arms"]}

    @property
    def groups_of_several(self) -> list[GroupView]:
        """Groups of several raters, the leading one first: those with an agreement among themselves."""
        several = [group for group in self.groups if group.raters > 1]
        return sorted(several, key=lambda group: group is not self.leading) or [self.leading]

    @property
    def led(self) -> list[GroupView]:
        """All groups, the leading one first."""
        return sorted(self.groups, key=lambda group: group is not self.leading)

    @property
    def judges_apart(self) -> bool:
        """True where single judges stand by themselves: those that are together, and more than a few, do not stand
        beside people one by one."""
        kinds = [group.kind for group in self.groups]
        return "judges" in kinds or kinds.count("judge") > MOST_BESIDE

    @property
    def groups_judges_pooled(self) -> list[GroupView]:
        """The same without single judges that stand by themselves."""
        apart = self.judges_apart
        return [group for group in self.led if not (apart and group.kind == "judge")] or self.led

    @property
    def plotted_groups(self) -> list[GroupView]:
        """The groups that a plot compares: people, judges (together, or a few of them), simulated raters.

        A jury stands there as one rater, not by its members.
        """
        left_out = {"judge", "jury"} if self.judges_apart else {"jury"}
        told = [group for group in self.groups if not group.within]
        return [group for group in told if group.kind not in left_out] or told

    @property
    def parts(self) -> list[GroupView]:
        """The groups that people, or simulated raters, are of."""
        return [group for group in self.groups if group.within]

    @property
    def others(self) -> list[GroupView]:
        return [group for group in self.groups if group is not self.leading]

    @property
    def judges(self) -> list[JudgeRecord]:
        """Settings of each judge, and the status of its replies."""
        return self.report["judges"]

    @property
    def ties_are_wins(self) -> bool:
        return self.report["parameters"]["ties"] == "win"

    @cached_property
    def raters(self) -> dict[str, str]:
        """Labels of raters, and of juries, each of which is one rater among judges and goes by its group's key."""
        juries = {group.key: group.label for group in self.everybody if group.kind == "judge"}
        return juries | {rater["rater"]: rater["label"] for rater in self.report["raters"]}

    def system(self, key: str | None) -> str:
        """The label of a system; a cell that is of no single one has no label to ask for."""
        assert key is not None
        return self.systems[key]

    def arm(self, key: str | None) -> str:
        assert key is not None
        return self.all_arms[key]

    def title_for(self, group: GroupView, title: str) -> str:
        """A heading, with the group's name where it is not the leading one."""
        if group.key == self.leading.key:
            return title
        # A name stays as it is spelt.
        names = tuple(filter(None, (*self.all_arms.values(), *self.systems.values())))
        is_name = title[1:2].isupper() or title.startswith(names)
        return f"{group.label}: {title if is_name else title[:1].lower() + title[1:]}"


class ReportView(GroupsView):
    """All questions of a report. A question's groups hold their records by the keys of the figures."""

    def __init__(self, report: ReportRecord) -> None:
        heads = {each["key"]: GroupView.of(each, where.of_group(report, each)) for each in report["groups"]}
        super().__init__(report, heads.values())
        records: dict[tuple[str, str], dict[str, FigureRecord]] = {}
        for record in report["records"]:
            records.setdefault((record["question"], record["group"]), {})[record["figure"]] = record
        self._records = {about: GroupRecords(found) for about, found in records.items()}
        # What nobody has answered has nothing to show.
        self.judged = [self._question(each, heads) for each in report["questions"] if each["groups"]]
        shown = {group.key for group in self.groups}
        self.questions: list[QuestionView] = []
        for question in self.judged:
            groups = [each for each in question.groups if each.key in shown]
            if groups:
                self.questions.append(question.of_groups(groups))

    def _question(self, found: Written, heads: Mapping[str, GroupView]) -> QuestionView:
        groups = [
            replace(
                heads[each["group"]],
                judgments=each["judgments"],
                raters=each["raters"],
                items=each["items"],
                records=self._records.get((found["key"], each["group"]), NO_RECORDS),
                where=where.of_question(heads[each["group"]], found["key"], each["judgments"]),
            )
            for each in found["groups"]
        ]
        question = read(QuestionRecord, found)
        # It stands for the question in headings and captions, where more follows.
        prompt = question.prompt.removesuffix(".")
        return QuestionView(**(vars(question) | {"prompt": prompt}), groups=tuple(groups))

    @cached_property
    def figures(self) -> frozenset[str]:
        """The keys of all figures with a record."""
        return frozenset(record["figure"] for record in self.report["records"])

    def records_of(self, figure: str, kind: Any) -> list[Any]:
        """All records of a figure, of this type, in the report's order."""
        found = [each for each in self.report["records"] if each["figure"] == figure]
        return [self._records[each["question"], each["group"]].of(figure, kind) for each in found]

    def asked(self, figure: str) -> list[QuestionView]:
        """The questions with a record of the figure, each with the groups that have one."""
        found = []
        for question in self.questions:
            groups = [each for each in question.groups if figure in each.records]
            if groups:
                found.append(question.of_groups(groups))
        return found

    @cached_property
    def pairs(self) -> list["PairView"]:
        """Every preference between two responses."""
        asked = [question for question in self.judged if question.form == PAIRS]
        return [PairView(self, question, named=len(asked) > 1) for question in asked]

    @property
    def several_questions(self) -> bool:
        return len(self.questions) > 1

    def group_in(self, question: QuestionView, group: GroupView) -> GroupView | None:
        """A group's records of a question; None where it has no answer to it."""
        return next((each for each in question.groups if each.key == group.key), None)

    def lead(self, question: QuestionView) -> GroupView:
        """The leading group's records or, where it was not asked, those of the first that was."""
        return self.group_in(question, self.leading) or question.groups[0]

    def answered(
        self, questions: Iterable[QuestionView], group: GroupView
    ) -> Iterator[tuple[QuestionView, GroupView]]:
        """The questions that the group has answers to, each with its records."""
        for question in questions:
            found = self.group_in(question, group)
            if found is not None:
                yield question, found

    def plotted(self, question: QuestionView) -> Iterator[GroupView]:
        """The records of each plotted group that answered."""
        for group in self.plotted_groups:
            found = self.group_in(question, group)
            if found is not None:
                yield found

    def lead_first(self, question: QuestionView) -> list[GroupView]:
        lead = self.lead(question)
        return [lead, *(each for each in question.groups if each is not lead)]

    def per_pair(self, blocks: Callable[["PairView"], Iterable[Block]]) -> list[Block]:
        """The blocks of every preference, each under its own name where there are several."""
        found = [(pair, list(blocks(pair))) for pair in self.pairs]
        every = [made for _, made in found]
        # What is the same for all of them stands once, at the end.
        shared = [block for block in every[0] if all(block in made for made in every)] if every else []
        own = [
            replace(
                block.under(pair.prompt, pair.key if at else ""),
                folded=block.folded or (at > 0 and len(found) > MOST_OPEN),
            )
            for at, (pair, made) in enumerate(found)
            for block in made
            if block not in shared
        ]
        return [*own, *shared]


class PairView(GroupsView):
    """One preference between two responses; `prompt` is empty where the study asks for it alone."""

    def __init__(self, view: ReportView, question: QuestionView, *, named: bool) -> None:
        super().__init__(view.report, question.groups)
        self.question = question
        self.key = str(question.key)
        self.prompt = str(question.prompt) if named else ""
        # Judges that were asked for the checklist alone stand under the follow-ups; here they would be dashes.
        self.judging = [group for group in self.everybody if group.items] or self.everybody
        self.groups = [group for group in self.judging if not group.heuristic] or self.judging
        cells = self.leading.records[CELLS]["by_cell"] if CELLS in self.leading.records else []
        judged = {cell["arm"] for cell in cells}
        self.arms = [arm for arm in self.all_arms if arm in judged]
        # In the order of the report.
        self.pairs: list[tuple[str, str]] = list(
            dict.fromkeys((cell["system_1"], cell["system_2"]) for cell in cells)
        )

    @property
    def several_arms(self) -> bool:
        return len(self.arms) > 1

    @property
    def sides(self) -> tuple[str, str]:
        """The names of the two canonical responses: their systems, unless there are several pairs of them."""
        if len(self.pairs) != 1:
            return "First", "Second"
        one, two = self.pairs[0]
        return self.system(one), self.system(two)

    @property
    def first_side(self) -> str:
        """The side whose win rates are shown, in the middle of a sentence."""
        return self.sides[0] if len(self.pairs) == 1 else "the system named first"

    @property
    def hints(self) -> tuple[str, str]:
        """The meaning of lying further left or right in a plot of win rates."""
        one, two = self.sides
        return (two, one) if len(self.pairs) == 1 else ("second preferred", "first preferred")

    def has_tallied_majority(self, group: GroupView) -> bool:
        """True if the list of items knows the group's majorities: of everybody but judges, in all of the study, and of
        the first of several preferences."""
        preferences = [each["key"] for each in self.report["questions"] if each["form"] == PAIRS]
        others = {each["kind"] for each in self.report["groups"]} & {"person", SIMULATED}
        is_whole = "view" not in self.report["parameters"]
        return is_whole and self.key == preferences[0] and others == {group.key}

    @property
    def several_opponents(self) -> bool:
        """True where some system was compared with more than one other."""
        opponents: dict[str, set[str]] = {}
        for one, two in self.pairs:
            opponents.setdefault(one, set()).add(two)
            opponents.setdefault(two, set()).add(one)
        return any(len(each) > 1 for each in opponents.values())

    def listed_pair(self, one: str, other: str) -> tuple[str, str]:
        """The two systems in the order in which items have them."""
        return (other, one) if (other, one) in self.pairs else (one, other)

    def pair(self, cell: CellOfPair) -> str:
        return f"{self.system(cell.system_1)} vs {self.system(cell.system_2)}"

    def pair_head(self, group: GroupView, cell: CellOfPair) -> TableCell:
        """The pair as the head of a row, which leads to all that the group judged of it."""
        of = where.of(group, pair=(cell.system_1, cell.system_2))
        return head(self.pair(cell), where=where.named(of))

    def within(self, arm: str | None) -> str:
        """The setting, in the middle of a heading; nothing where there is one only, to be told from none."""
        return f" in “{self.arm(arm)}”" if self.several_arms else ""


def by_size(each: Iterable[AnyPart], n_of: Callable[[AnyPart], int]) -> tuple[list[AnyPart], list[AnyPart]]:
    """Records of categories with enough items, and those of small ones; `n_of` is the number of a record's items."""
    found = list(each)
    return (
        [record for record in found if n_of(record) >= FEW_ITEMS],
        [record for record in found if n_of(record) < FEW_ITEMS],
    )


def tag_of(group: GroupView) -> str:
    return SIMULATED if group.kind == SIMULATED else ""


def group_head(group: GroupView) -> TableCell:
    """The group as the head of a row. Simulated raters are named so already; single ones get the mark."""
    return head(group.label, tag=tag_of(group), where=where.named(group.where))


def group_words(group: GroupView) -> TableCell:
    """The group in a column beside the head of its row."""
    return replace(words(group.label, tag_of(group)), where=where.named(group.where))


def subject(group: GroupView) -> str:
    """The group as a subject in the middle of a sentence."""
    plural = {"person": "people", SIMULATED: "simulated raters", "judges": "the judges"}
    return ("" if group.within else plural.get(group.kind)) or str(group.label)


def joined(names: Sequence[str]) -> str:
    """The names in one sentence; parted by semicolons where one of them has a comma."""
    if len(names) < 2:
        return "".join(names)
    if any("," in name for name in names):
        return f"{'; '.join(names[:-1])}; and {names[-1]}"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def plain_share(share: Estimate) -> TableCell:
    """A share without its interval, for compact tables."""
    return TableCell("\N{EN DASH}" if share.value is None else percent(share.value))


def legend_of(question: QuestionView) -> str:
    """The labels of the points of a scale, and its ideal."""
    named = [f"{number(point.number)}: {point.label}" for point in question.points if point.label]
    parts = [f"{'; '.join(named)}."] if named else []
    if question.ideal is not None:
        parts.append(f"The ideal is {number(question.ideal)}.")
    if question.direction == "lower":
        parts.append("Lower is better.")
    return " ".join(parts)


def number(value: float) -> str:
    return f"{value:g}".replace("-", "\N{MINUS SIGN}")


def anchor_of(question: QuestionView) -> str:
    return f"question-{question.key}"
