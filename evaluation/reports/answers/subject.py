"""An answers report seen by what its pages need: names, the leading group, and figures by question and group."""

from collections.abc import Iterable, Iterator

from evaluation.reports.findings import leading_group
from evaluation.reports.numbers import percent
from evaluation.reports.subject import PLACES, Record
from evaluation.reports.tables import Cell

KINDS = {"model": "All by models", "person": "All by people", "prompt": "All by prompt variants"}


class AnswersSubject:
    """The report and the names in it."""

    def __init__(self, report: Record) -> None:
        self.report = report
        self.everybody: list[Record] = sorted(report["groups"], key=lambda group: PLACES.index(group["kind"]))
        # Heuristics stand in the judges' section only, unless nobody else has judged.
        self.groups = [group for group in self.everybody if not group["heuristic"]] or self.everybody
        self.leading = leading_group(report)
        self.systems = {system["key"]: system["label"] for system in report["study"]["systems"]}
        self.arms = {arm["key"]: arm["label"] for arm in report["study"]["arms"]}
        # What nobody has answered has nothing to show.
        self.judged: list[Record] = [question for question in report["questions"] if question["groups"]]
        self.questions = [
            question for question in map(self._without_heuristics, self.judged) if question["groups"]
        ]

    def _without_heuristics(self, question: Record) -> Record:
        shown = {group["key"] for group in self.groups}
        return {**question, "groups": [each for each in question["groups"] if each["group"] in shown]}

    def of_form(self, *forms: str) -> list[Record]:
        return [question for question in self.questions if question["form"] in forms]

    @property
    def voices(self) -> list[Record]:
        """The groups that a plot compares: people, judges (together if there are several), simulated raters."""
        together = any(group["kind"] == "judges" for group in self.groups)
        return [group for group in self.groups if not (together and group["kind"] == "judge")]

    @property
    def panels(self) -> list[Record]:
        """Groups of several raters, the leading one first; it alone where there is none."""
        several = [group for group in self.groups if group["raters"] > 1]
        return sorted(several, key=lambda group: group is not self.leading) or [self.leading]

    @property
    def others(self) -> list[Record]:
        return [group for group in self.groups if group is not self.leading]

    def figures(self, question: Record, group: Record) -> Record | None:
        """None where the group has no answer to the question."""
        return next((each for each in question["groups"] if each["group"] == group["key"]), None)

    def lead(self, question: Record) -> Record:
        """The leading group's figures or, where it was not asked, those of the first that was."""
        found: Record = self.figures(question, self.leading) or question["groups"][0]
        return found

    def who(self, figures: Record) -> Record:
        """The group whose figures these are."""
        return next(group for group in self.everybody if group["key"] == figures["group"])

    def answered(self, questions: Iterable[Record], group: Record) -> Iterator[tuple[Record, Record]]:
        """The questions that the group has answers to, each with its figures."""
        for question in questions:
            figures = self.figures(question, group)
            if figures is not None:
                yield question, figures

    def voiced(self, question: Record) -> Iterator[tuple[Record, Record]]:
        """(group, figures) of each voice that answered."""
        for group in self.voices:
            figures = self.figures(question, group)
            if figures is not None:
                yield group, figures


def heading_for(subject: AnswersSubject, group: Record, what: str) -> str:
    """A heading, with the group's name where it is not the leading one."""
    return what if group is subject.leading else f"{group['label']}: {what[:1].lower()}{what[1:]}"


def plain_share(share: Record) -> Cell:
    """A share without its interval, for compact tables."""
    return Cell("\N{EN DASH}" if share["value"] is None else percent(share["value"]))


def legend_of(question: Record) -> str:
    """What the points of a scale are called, and its ideal."""
    named = [f"{number(point['value'])}: {point['label']}" for point in question["points"] if point["label"]]
    parts = [f"{'; '.join(named)}."] if named else []
    if question["ideal"] is not None:
        parts.append(f"The ideal is {number(question['ideal'])}.")
    if question.get("direction") == "lower":
        parts.append("Lower is better.")
    return " ".join(parts)


def number(value: float) -> str:
    return f"{value:g}".replace("-", "\N{MINUS SIGN}")
