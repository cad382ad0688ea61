"""The numbers of two sides that are compared: each side read, and its quantities paired with the other's."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from analytics.figures.document import ViewRecord
from analytics.figures.failures import Failures
from analytics.figures.figure import Figure
from analytics.figures.figure_input import FigureInput, figure_inputs
from analytics.figures.headings import HEADINGS
from analytics.figures.quantities import Quantity
from analytics.figures.registry import FIGURES
from analytics.frames.needs import NeedSource
from analytics.frames.study import StudyFrame, study_frame
from analytics.reports.build import applying, latest_revision, made_needs
from analytics.reports.common import REPLICATES, NothingToReport, study_record, why_nothing
from analytics.reports.comparison.document import NAMES, SideName, SideRecord
from analytics.reports.comparison.matching import GroupPair, arms_in
from analytics.reports.comparison.sides import ComparisonSide
from analytics.reports.judges import judges
from evaluation.protocols import QuestionSpec
from evaluation.selectors import counting_judgments

# A quantity's name, the key of its setting and the keys of its systems.
Key = tuple[str, str | None, tuple[str, ...]]
# A question's key and form.
Asked = tuple[str, str]


@dataclass(frozen=True, eq=False)
class ReadSide:
    """The arrays of one side; `inputs` are those of each question, by its key and form, of each group by key."""

    side: ComparisonSide
    frame: StudyFrame
    record: SideRecord
    questions: dict[Asked, QuestionSpec]
    inputs: dict[Asked, dict[str, FigureInput]]

    @property
    def arms(self) -> list[str]:
        return arms_in(self.frame.study_items)

    @property
    def systems(self) -> tuple[str, ...]:
        return self.frame.study_items.systems


@dataclass(frozen=True, eq=False)
class Paired:
    """One quantity of both sides, and the place where it stands."""

    question: str
    form: str
    group: GroupPair
    figure: str
    key: Key
    a: Quantity
    b: Quantity


def read_side(side: ComparisonSide) -> ReadSide:
    """Raises NothingToReport where it has no judgments that count."""
    study, filters = side.study, side.filters
    if not study.revisions.exists():
        raise NothingToReport(f"{study.slug} has not been launched, so there is nothing to compare yet.")
    revision = latest_revision(study)
    if not counting_judgments(study).filter(filters.judgments(study)).exists():
        raise NothingToReport(f"{study.slug}: {why_nothing(study, filters)}")
    frame = study_frame(study, filters)
    source = NeedSource(study, revision.spec, filters, frame, judges(study, frame, filters))
    questions, inputs = {}, {}
    compared = [key for key, each in FIGURES.items() if type(each).quantities is not Figure.quantities]
    needs = made_needs(source, compared)
    for question, form, given in figure_inputs(source, needs, replicates=REPLICATES, ties="half"):
        questions[question.key, form] = question
        inputs[question.key, form] = {each.group_key: each for each in given}
    record: SideRecord = {
        "study": study_record(study, revision, filters, frame.study_items.systems),
        "view": cast(ViewRecord, filters.canonical()),
        "judgments": sum(group.judgments for group in frame.judges_apart),
        "queries": frame.queries,
    }
    return ReadSide(side, frame, record, questions, inputs)


def has_one_setting(a: ReadSide, b: ReadSide) -> bool:
    """True where each side has one setting: then these are compared, whatever their keys are."""
    return len(a.arms) == len(b.arms) == 1


def paired_quantities(
    a: ReadSide, b: ReadSide, asked: Iterable[Asked], groups: Sequence[GroupPair], failures: Failures
) -> tuple[list[Paired], list[tuple[SideName, Key]]]:
    """The quantities of the same question, raters, figure, setting and systems, in the order of a report; and those
    that one side alone has, as the side and what they are of.

    What neither side has a value of is in neither, and nor is a figure that fails.
    """
    found: list[Paired] = []
    alone: dict[tuple[SideName, Key], None] = {}
    for place in asked:
        for group in groups:
            own, other = a.inputs[place].get(group.a), b.inputs[place].get(group.b)
            if own is None or other is None:
                continue
            for figure in sorted(applying(a.questions[place], place[1]), key=_order):
                if figure.key in failures:
                    continue
                ours: Mapping[Key, Quantity] = {}
                theirs: Mapping[Key, Quantity] = {}
                with failures.leaving_out(figure.key):
                    ours, theirs = (_by_key(a, b, figure, given) for given in (own, other))
                found += [
                    Paired(*place, group, figure.key, key, ours[key], theirs[key])
                    for key in ours
                    if key in theirs
                ]
                for side, mine, others in zip(NAMES, (ours, theirs), (theirs, ours), strict=True):
                    alone |= {(side, key): None for key in mine if key not in others}
    kept = [each for each in found if each.figure not in failures]
    return kept, list(alone)


def _order(figure: Figure) -> tuple[int, int, str]:
    return list(HEADINGS).index(figure.heading), figure.place, figure.key


def _by_key(a: ReadSide, b: ReadSide, figure: Figure, given: FigureInput) -> Mapping[Key, Quantity]:
    one_setting = has_one_setting(a, b)
    return {
        (each.name, None if one_setting else each.arm, each.systems): each
        for each in figure.quantities(given)
        if len(each.sums.query)
    }
