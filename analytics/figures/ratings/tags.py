"""Tags of a codebook, of which several may hold."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import share_plot
from analytics.display.numbers import in_percent
from analytics.display.tables import DASH, Builder, Table, TableCell, columns, head, words
from analytics.figures import where
from analytics.figures.figure_input import AnswerInput, FigureInput, several
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.needs import SystemKinds
from analytics.figures.quantities import Quantity
from analytics.figures.rating_figure import RatingFigure, mean_of
from analytics.figures.rating_records import ArmMean, Ratings, means_of, ratings
from analytics.figures.report_view import ReportView, anchor_of, group_head, tag_of
from analytics.figures.strip import leading_fact
from analytics.statistics.agreement.value_alpha import alpha_of_values
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.matched import mean_sums
from analytics.statistics.core.tidy import Ints
from analytics.statistics.core.values import Values
from analytics.statistics.ratings.choices import any_of, yes_shares_by_group
from analytics.statistics.ratings.scales import MeanValue
from evaluation.facts import Fact
from evaluation.protocols import Kind, Over, QuestionSpec

KEY = "ratings/tags"
ALPHA = "\N{GREEK SMALL LETTER ALPHA}"


@dataclass(frozen=True)
class TagOfSystem:
    """A tag's share, or that of any tag of a group, among a system's."""

    system: str
    mean: Estimate
    standard_deviation: float | None
    n_units: int
    n_queries: int


@dataclass(frozen=True)
class TagShare:
    """One tag of a codebook, with its own alpha."""

    part: str
    label: str
    mean: Estimate
    standard_deviation: float | None
    n_units: int
    n_queries: int
    alpha: Estimate
    by_system: tuple[TagOfSystem, ...]


@dataclass(frozen=True)
class TagGroupShare:
    """A group of tags: the share of judgments with any of them, also by setting and by system where there are
    several."""

    tag_group: str
    tags: tuple[str, ...]
    mean: Estimate
    standard_deviation: float | None
    n_units: int
    n_queries: int
    alpha: Estimate
    by_arm: tuple[ArmMean, ...]
    by_system: tuple[TagOfSystem, ...]


@dataclass(frozen=True)
class TagRatings(Ratings):
    """Ratings, and the tags of a codebook with their groups."""

    by_part: tuple[TagShare, ...]
    by_tag_group: tuple[TagGroupShare, ...]


class TagsFigure(RatingFigure[TagRatings]):
    heading = "tags"
    definition = (
        "Tags of a codebook: share and alpha of each tag and of each group of tags, overall and by system."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and question.kind == Kind.CHECKLIST and question.over == Over.CHOICE

    def compute(self, given: FigureInput) -> TagRatings:
        assert isinstance(given, AnswerInput)
        return TagRatings(
            **vars(ratings(given, self.need(given, SystemKinds))),
            by_part=_by_part(given),
            by_tag_group=_by_tag_group(given),
        )

    def quantities(self, given: FigureInput) -> Iterator[Quantity]:
        """The share of each tag: the mean over all of them says nothing."""
        assert isinstance(given, AnswerInput)
        for code, part in enumerate(given.answers.parts):
            own = given.values.where(given.values.part == code)
            name = f"Share tagged {given.question.label(part) or part}"
            yield Quantity(name, mean_sums(own.value, own.query, unit="judgments", within=given.ends))

    def facts(self, view: ReportView, group: GroupView, question: QuestionView) -> Iterator[Fact]:
        parts = [(each.label, each.mean) for each in self.of(group).by_part]
        if parts:
            yield leading_fact(view, group, "Most frequent tag", parts, in_percent)

    def intro(self, view: ReportView) -> str:
        return "A judgment may have several tags, so shares may add up to more than 100 %."

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for question in view.asked(self.key):
            yield from _question(view, question)

    def methods(self, view: ReportView) -> Iterator[str]:
        yield from super().methods(view)
        if any(record.by_tag_group for record in self.records(view)):
            yield "A judgment counts for a group of tags if it has any of them."


FIGURE = TagsFigure()


def _by_part(given: AnswerInput) -> tuple[TagShare, ...]:
    """Each tag of a codebook: its share, overall and by system, and its own alpha."""
    question, values = given.question, given.values
    if question.over != Over.CHOICE:
        return ()
    parts = given.answers.parts
    shares = means_of(given, values.part, len(parts), "by part")
    found = []
    for code, part in enumerate(parts):
        own = values.where(values.part == code)
        agreed = alpha_of_values(
            own, level="nominal", resample=given.resample(f"alpha {part}"), points=(0.0, 1.0), unit="items"
        )
        n = len(given.items.systems)
        of_system = yes_shares_by_group(own, own.system, n, resample=given.resample(f"by system {part}"))
        by_system = (
            TagOfSystem(name, **vars(of_system[at])) for at, name in several(own.system, given.items.systems)
        )
        found.append(
            TagShare(
                part,
                question.label(part) or part,
                **vars(shares[code]),
                alpha=agreed,
                by_system=tuple(by_system),
            )
        )
    return tuple(found)


def _by_tag_group(given: AnswerInput) -> tuple[TagGroupShare, ...]:
    """Each group of a codebook's tags: the share of judgments with any of them, overall, by setting and by system."""
    question, items = given.question, given.items
    if question.over != Over.CHOICE or not question.groups:
        return ()
    names = list(dict.fromkeys(question.groups[each] for each in question.choices if each in question.groups))
    of_part = [
        names.index(question.groups[part]) if part in question.groups else -1 for part in given.answers.parts
    ]
    values = any_of(given.values, np.array(of_part, dtype=np.int64)[given.values.part], len(names))
    shares = yes_shares_by_group(values, values.part, len(names), resample=given.resample("by group"))
    found = []
    for code, name in enumerate(names):
        own = values.where(values.part == code)
        agreed = alpha_of_values(
            own,
            level="nominal",
            resample=given.resample(f"alpha of group {name}"),
            points=(0.0, 1.0),
            unit="items",
        )
        by_arm = _shares_by(given, own, items.arm[own.item], items.arms, f"group {name} by arm")
        by_system = _shares_by(given, own, own.system, items.systems, f"group {name} by system")
        found.append(
            TagGroupShare(
                name,
                tuple(each for each in question.choices if question.groups.get(each) == name),
                **vars(shares[code]),
                alpha=agreed,
                by_arm=tuple(ArmMean(arm, **vars(share)) for arm, share in by_arm),
                by_system=tuple(TagOfSystem(system, **vars(share)) for system, share in by_system),
            )
        )
    return tuple(found)


def _shares_by(
    given: AnswerInput, values: Values, codes: Ints, names: Sequence[str], purpose: str
) -> Iterator[tuple[str, MeanValue]]:
    """Share of yes for each of several settings or systems."""
    found = yes_shares_by_group(values, codes, len(names), resample=given.resample(purpose))
    return ((name, found[code]) for code, name in several(codes, names))


def _question(view: ReportView, question: QuestionView) -> Iterator[Block]:
    """A row per tag, the most frequent first."""
    lead = view.lead(question)
    tags = sorted(TagsFigure.of(lead).by_part, key=lambda each: -(each.mean.value or 0))
    build = Builder(
        f"Share of judgments with the tag, in percent, and its Krippendorff's {ALPHA} (nominal).",
        columns(["Tag", "Share", "n", ALPHA]),
    )
    for each in tags:
        build.add(
            head(each.label),
            where.answered(build.share(each.mean), each.mean, f"{question.key}.{each.part}", "1"),
            build.n(each.mean, "judgments"),
            build.coefficient(each.alpha),
            of=where.of(lead),
        )
    plotted = [
        (group, {part.part: part for part in TagsFigure.of(group).by_part})
        for group in view.plotted(question)
    ]
    plot = share_plot(
        [
            (
                each.label,
                [(group, found[each.part].mean) for group, found in plotted if each.part in found],
            )
            for each in tags
        ],
        what=f"Share of judgments with each tag: {question.prompt}",
        axis="Share of judgments with the tag",
        caption="Share of judgments with the tag.",
    )
    tag = tag_of(lead)
    yield Block(question.prompt, tables=(build.build(),), plot=plot, tag=tag, anchor=anchor_of(question))
    yield from _tag_groups(view, question)
    systems = list(dict.fromkeys(each.system for part in tags for each in part.by_system))
    if systems:
        yield Block("Tags by system", tables=(_tags_by_system(view, tags, systems),), folded=True, tag=tag)


def _tag_groups(view: ReportView, question: QuestionView) -> Iterator[Block]:
    """Tags counted by their groups, with columns for settings and systems where there are several."""
    found = [(group, TagsFigure.of(group).by_tag_group) for group in question.groups]
    records = [record for _, groups in found for record in groups]
    if not records:
        return
    factors = [
        (factor, key, name)
        for factor, names in (("arm", view.all_arms), ("system", view.systems))
        for key, name in names.items()
        if any(getattr(each, factor) == key for record in records for each in getattr(record, f"by_{factor}"))
    ]
    build = Builder(
        f"Share of judgments with any tag of the group, in percent, and its Krippendorff's {ALPHA} (nominal).",
        columns(
            [
                "Raters",
                "Group",
                "Share",
                "n",
                ALPHA,
                *(name for *_, name in factors),
            ],
            names=2,
        ),
    )
    for group, groups in found:
        for record in groups:
            shares = [mean_of(record, factor, key) for factor, key, _ in factors]
            build.add(
                group_head(group),
                words(record.tag_group),
                build.share(record.mean),
                build.n(record.mean),
                build.coefficient(record.alpha),
                *(build.share(each) if each else TableCell(DASH) for each in shares),
            )
    yield Block("Groups of tags", tables=(build.build(),), anchor=f"groups-{question.key}")


def _tags_by_system(view: ReportView, tags: Sequence[TagShare], systems: Sequence[str]) -> Table:
    build = Builder(
        "Share of judgments with the tag by system, in percent.",
        columns(["Tag", *(view.systems[key] for key in systems)]),
    )
    for each in tags:
        found = {record.system: record.mean for record in each.by_system}
        build.add(
            head(each.label),
            *(build.share(found[key]) if key in found else TableCell(DASH) for key in systems),
        )
    return build.build()
